"""`talekeeper usage`: the tokens that models were sent and gave, by session and slot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import click

from talekeeper.cli import screen
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.cli.pick import session_of
from talekeeper.story import ModelUse


@click.command(epilog="Example:  talekeeper usage low-house")
@click.argument("name", metavar="[SESSION]", required=False)
@common
@pass_common
def command(options: Common, /, name: str | None) -> None:
    """Say what models were used for, and how many tokens that took.

    Counts every answered call of a turn or job, on whatever branch; tokens are as the endpoint counted them.
    """
    with options.open() as home:
        chosen = home.story.sessions(options.workspace) if name is None else [session_of(home, options, name)]
        rows = [
            {"session": session.id, **row}
            for session in chosen
            for row in usage_rows(home.story.turn_log.spent(session.address))
        ]
    if options.as_json:
        screen.emit({"workspace": options.workspace, "usage": rows})
    else:
        show_usage(rows)


def usage_rows(spent: Iterable[ModelUse]) -> list[dict[str, Any]]:
    """Calls and tokens of a session for each slot, model and asker; tokens are None where none were counted."""
    groups: dict[tuple[str, str, str], list[ModelUse]] = defaultdict(list)
    for use in spent:
        groups[use.plugin, use.slot, use.model].append(use)
    return [
        {
            "slot": slot,
            "model": model,
            "plugin": plugin,
            "calls": len(uses),
            "prompt_tokens": _sum([use.prompt for use in uses]),
            "completion_tokens": _sum([use.completion for use in uses]),
        }
        for (plugin, slot, model), uses in sorted(groups.items())
    ]


def show_usage(rows: Sequence[dict[str, Any]]) -> None:
    """The rows for people, with what they come to."""
    if not rows:
        screen.note("no model has been asked here")
        return
    named = "session" in rows[0]
    headers = (*(["session"] if named else []), "slot", "model", "asked by", "calls", "tokens in", "tokens out")
    cells = [
        (
            *([row["session"]] if named else []),
            row["slot"],
            row["model"],
            row["plugin"] or "the narrator",
            f"{row['calls']:,}",
            _told(row["prompt_tokens"]),
            _told(row["completion_tokens"]),
        )
        for row in rows
    ]
    screen.table(headers, cells, right=range(len(headers) - 3, len(headers)))
    calls = screen.counted(sum(row["calls"] for row in rows), "call")
    tokens = [_sum([row[name] for row in rows]) or 0 for name in ("prompt_tokens", "completion_tokens")]
    screen.say(f"{calls}, {tokens[0]:,} tokens in, {tokens[1]:,} out")


def _sum(counted: Iterable[int | None]) -> int | None:
    known = [count for count in counted if count is not None]
    return sum(known) if known else None


def _told(count: int | None) -> str:
    return "not counted" if count is None else f"{count:,}"
