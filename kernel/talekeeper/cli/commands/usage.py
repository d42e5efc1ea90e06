"""`talekeeper usage`: the tokens that models were sent and gave, and what they cost, by session and slot."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, common
from talekeeper.cli.targets import InSession, last_session_argument, session_of
from talekeeper.text import counted

if TYPE_CHECKING:
    from talekeeper.story import ModelUse


@click.command(cls=InSession, epilog="Example:  talekeeper usage low-house")
@last_session_argument
@common
def command(options: Common, /, name: str | None) -> None:
    """Show which models were used, and for how many tokens.

    Counts the calls of jobs and of finished turns, on every branch, but not of turns that were stopped or failed. The
    endpoint counts the tokens. A cost uses the price that the slot had at the time: price = { prompt = 0.5,
    completion = 1.5, currency = "USD" } in its table of talekeeper.toml, per million tokens. Calls without a price
    count as tokens only.
    """
    with options.open() as home:
        chosen = home.story.sessions.all(options.workspace) if name is None else [session_of(home, options, name)]
        rows = [
            {"session": session.id, **row}
            for session in chosen
            for row in usage_rows(home.story.turn_log.spent(session.address))
        ]
    if options.as_json:
        output.emit({"workspace": options.workspace, "usage": rows})
    else:
        show_usage(rows)


def usage_rows(spent: Iterable[ModelUse]) -> list[dict[str, Any]]:
    """Calls, tokens and cost of a session for each slot, model and asker, and each currency.

    Tokens are None where none were counted, and the cost, in units of the currency, where there is no price as well.
    """
    from talekeeper.models import BILLION  # noqa: PLC0415 - --help asks no model

    groups: dict[tuple[str, str, str, str], list[ModelUse]] = defaultdict(list)
    for use in spent:
        groups[use.plugin, use.slot, use.model, use.currency].append(use)
    return [
        {
            "slot": slot,
            "model": model,
            "plugin": plugin,
            "calls": len(uses),
            "prompt_tokens": _sum([use.prompt for use in uses]),
            "completion_tokens": _sum([use.completion for use in uses]),
            "cost": None if (cost := _sum([use.cost for use in uses])) is None else cost / BILLION,
            "currency": currency,
        }
        for (plugin, slot, model, currency), uses in sorted(groups.items())
    ]


def costs(rows: Iterable[dict[str, Any]]) -> dict[str, float]:
    """What the rows come to in each currency."""
    found: dict[str, float] = defaultdict(float)
    for row in rows:
        if row["cost"] is not None:
            found[row["currency"]] += row["cost"]
    return dict(sorted(found.items()))


def cost_words(found: Mapping[str, float]) -> str:
    """Sums for people: `0.0123 USD, 4.50 EUR`."""
    return ", ".join(f"{_money(cost)} {currency}" for currency, cost in found.items())


def show_usage(rows: Sequence[dict[str, Any]]) -> None:
    """The rows for people, with what they come to."""
    if not rows:
        output.note("no model has been used here")
        return
    named = "session" in rows[0]
    found = costs(rows)
    priced = any(row["currency"] for row in rows)
    numbers = ("calls", "tokens in", "tokens out", *(["cost"] if priced else []))
    headers = (*(["session"] if named else []), "slot", "model", "asked by", *numbers)
    cells = [
        (
            *([row["session"]] if named else []),
            row["slot"],
            row["model"],
            row["plugin"] or "the narrator",
            f"{row['calls']:,}",
            _told(row["prompt_tokens"]),
            _told(row["completion_tokens"]),
            *([_cost(row)] if priced else []),
        )
        for row in rows
    ]
    output.table(headers, cells, right=range(len(headers) - len(numbers), len(headers)))
    calls = counted(sum(row["calls"] for row in rows), "call")
    tokens = [_sum([row[name] for row in rows]) or 0 for name in ("prompt_tokens", "completion_tokens")]
    output.say(f"{calls}, {tokens[0]:,} tokens in, {tokens[1]:,} out{f': {cost_words(found)}' if found else ''}")
    if not priced:
        output.note("no price is configured; set price in the slot's table of talekeeper.toml to see costs")


def _sum(counted: Iterable[int | None]) -> int | None:
    known = [count for count in counted if count is not None]
    return sum(known) if known else None


def _cost(row: Mapping[str, Any]) -> str:
    if not row["currency"]:
        return "no price"
    return "not counted" if row["cost"] is None else f"{_money(row['cost'])} {row['currency']}"


def _money(amount: float) -> str:
    """Two decimals, or as many as show two digits of a small amount."""
    if amount >= 1 or not amount:
        return f"{amount:,.2f}"
    return f"{amount:.{1 - math.floor(math.log10(amount))}f}"


def _told(count: int | None) -> str:
    return "not counted" if count is None else f"{count:,}"
