"""`talekeeper why` and `recall`: what a turn recalled or would recall, every candidate with its scores, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, common
from talekeeper.cli.present import place
from talekeeper.cli.targets import MOST, InSession, last_session_argument, open_session, session_option
from talekeeper.errors import TalekeeperError
from talekeeper.manifest import Namespace
from talekeeper.story import Address, Decision, scope_of
from talekeeper.text import counted, terminal_line

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.turn import Narrator

_EXCERPT = 80


def explain_turn(
    home: Home, address: Address, turn: int | None, decision: str = "", *, every: bool = False
) -> tuple[int, list[dict[str, Any]]]:
    """A turn, the newest for None, and its decisions as `--json` prints them."""
    from talekeeper.turn import turn_decisions  # noqa: PLC0415 - --help needs no turn

    if turn is None:
        newest = home.story.tree.newest_turn(address)
        turn = newest[-1].turn if newest else 0
    found = turn_decisions(home.story, address, turn, decision=decision, every=every)
    return turn, [_decision_json(home, address, one) for one in found]


def _decision_json(home: Home, address: Address, decision: Decision) -> dict[str, Any]:
    """Each candidate has the text that stands under its id now."""
    document = with_texts(home, address, decision.plugin, decision.document)
    return {
        "id": decision.id,
        "turn": decision.turn,
        "place": place(decision.coordinate),
        "plugin": decision.plugin,
        "segment": decision.segment,
        "created": decision.created,
        **document,
    }


def with_texts(
    home: Home, address: Address, plugin: str, document: Mapping[str, Any], prompt: str = ""
) -> dict[str, Any]:
    """The document of a decision, its candidates with their texts: the record's, else what the prompt shows for it.

    It keeps none itself, for what is forgotten must not be remembered there.
    """
    found = dict(json.loads(json.dumps(document, default=dict)))
    shown = [json.loads(line) for line in prompt.splitlines() if line.startswith("{")]
    told = {(one.get("source", ""), one.get("id", "")): _short(str(one["text"])) for one in shown}
    for candidate in found.get("considered", ()):
        named = candidate.get("source", ""), candidate.get("id", "")
        text = _text(home, address, plugin, candidate) or told.get(named, "")
        if text:
            candidate["text"] = text
    return found


def _text(home: Home, address: Address, plugin: str, candidate: Mapping[str, Any]) -> str:
    source = str(candidate.get("source", ""))
    try:
        namespace = home.host.namespace(source if "/" in source else f"{plugin}/{source}")
        scope = scope_of(namespace, home.story.sessions.get(address))
        record = home.story.records.get(namespace, scope, str(candidate.get("id", "")))
    except TalekeeperError:
        return ""
    return "" if record is None else excerpt(namespace, record.value)


def excerpt(namespace: Namespace, value: Mapping[str, Any]) -> str:
    """The beginning of what a record says: of what is searched, else of its longest text."""
    searched = namespace.search.text if namespace.search else ()
    texts = [str(value[name]) for name in searched if value.get(name)]
    return _short(
        texts[0] if texts else max((one for one in value.values() if isinstance(one, str)), key=len, default="")
    )


def _short(text: str) -> str:
    said = terminal_line(text)
    return said if len(said) <= _EXCERPT else f"{said[: _EXCERPT - 1]}…"


def show_decided(told: Mapping[str, Any]) -> None:
    """One decision, as `explain_turn` and `recalled` give it, for people."""
    named = f"{told['plugin']}/{told['segment']}" if told["plugin"] else str(told["segment"])
    marks = [f"turn {told['turn']}"] if "turn" in told else []
    marks += [str(told[name]) for name in ("place", "id") if told.get(name)]
    output.say()
    output.say(f"{named}  {' · '.join(marks)}".rstrip(), bold=True)
    for line in _of_history(told) if not told["plugin"] else _of_segment(told):
        output.say(f"  {line}")
    rows = [_row(one) for one in told.get("considered", ())]
    if rows:
        output.table(("", "record", "scores", "why", "text"), rows, indent=2)
    if told.get("more"):
        output.say(f"  and {counted(int(told['more']), 'candidate')} more")


def _of_history(told: Mapping[str, Any]) -> list[str]:
    messages = counted(int(told.get("messages", 0)), "message")
    tokens = f"some {told.get('tokens', 0):,} of {told.get('budget', 0):,} tokens"
    lines = [f"from turn {told.get('history_from', 0)} on: {messages}, {tokens}"]
    segments = ", ".join(told.get("segments", ()))
    lines += [f"segments asked: {segments}"] if segments else []
    return lines + [f"left out: {fault}" for fault in told.get("faults", ())]


def _of_segment(told: Mapping[str, Any]) -> list[str]:
    lines = [f"{name}: {_plain(value)}" for name, value in dict[str, Any](told.get("query") or {}).items()]
    if told.get("fault"):
        lines.append(f"nothing was shown: {told['fault']}")
    elif "lines" in told:
        room = f"{told.get('characters', 0):,} of {told.get('budget', 0):,} characters"
        lines.append(f"{told.get('shown', 0)} of {counted(int(told['lines']), 'line')} shown, {room}")
    cut = ", ".join(told.get("cut", ()))
    return lines + ([f"cut to fit: {cut}"] if cut else [])


def _row(one: Mapping[str, Any]) -> Sequence[str]:
    scores = " ".join(f"{name} {score:.3g}" for name, score in dict[str, float](one.get("scores") or {}).items())
    why = [str(one.get("because", "")), str(one.get("reason", ""))]
    why += [f"repeats {one['repeats']}"] if one.get("repeats") else []
    named = f"{one.get('source', '')} {one.get('id', '')}".strip()
    return ("used" if one.get("used") else "", named, scores, "; ".join(filter(None, why)), str(one.get("text", "")))


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(one) for one in cast("list[object]", value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@click.command(cls=InSession, epilog="Example:  talekeeper why salt-lantern 2")
@last_session_argument
@click.argument("turn", metavar="[TURN]", required=False, type=click.IntRange(0, MOST))
@click.argument("decision", metavar="[ID]", required=False)
@click.option("--all", "every", is_flag=True, help="Include other takes and branches.")
@common
def why(options: Common, /, name: str | None, turn: int | None, decision: str | None, *, every: bool) -> None:
    """Explain what a turn's prompt contained.

    Without TURN, explains the newest turn; without SESSION, that of the session used last.

    For each part of the prompt, shows the query, every candidate with its scores, and why it was used or left out. The
    texts shown are the current ones.
    """
    with open_session(options, name) as (home, session):
        turn, told = explain_turn(home, session.address, turn, decision or "", every=every)
    if options.as_json:
        output.emit({"session": session.id, "turn": turn, "decisions": told})
        return
    for one in told:
        show_decided(one)


@click.command(epilog='Example:  talekeeper recall "I ask Mira about the brass key."')
@click.argument("text", nargs=-1, required=True, metavar="TEXT…")
@session_option
@common
def recall(options: Common, /, text: tuple[str, ...], session: str | None) -> None:
    """Show what a turn with this text would recall.

    Runs the same code as a turn, but writes nothing and sends nothing to a model.
    """
    with open_session(options, session) as (home, found):
        told = recalled(home, home.narrator(), found.address, " ".join(text))
    if options.as_json:
        output.emit(told)
    else:
        show_recalled(told)


def recalled(home: Home, narrator: Narrator, address: Address, text: str) -> dict[str, Any]:
    """A dry run of a turn as `--json` prints it; `text` of a part is what the prompt would hold."""
    dry = narrator.recall(address, text)
    decided = [
        {
            "plugin": one.plugin,
            "segment": one.segment,
            **with_texts(home, address, one.plugin, one.document, one.text),
            "text": one.text,
        }
        for one in dry.decided
    ]
    return {"session": address.session, "turn": dry.turn, "history_from": dry.history_from, "decisions": decided}


def show_recalled(told: dict[str, Any]) -> None:
    """The same for people."""
    output.say(f"turn {told['turn']} of {told['session']} would show", dim=True)
    for one in told["decisions"]:
        show_decided(one)
        for line in str(one["text"]).splitlines():
            output.say(f"  {line}", dim=True)
