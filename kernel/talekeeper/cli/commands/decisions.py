"""How recalls were decided, as commands show it: what was asked with, every candidate with its scores, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from talekeeper.cli import output
from talekeeper.cli.present import place
from talekeeper.errors import TalekeeperError
from talekeeper.manifest import Namespace
from talekeeper.story import Address, Decision, scope_of

if TYPE_CHECKING:
    from talekeeper.home import Home

_EXCERPT = 80


def decision_json(home: Home, address: Address, decision: Decision) -> dict[str, Any]:
    """A decision record as `--json` prints it, each candidate with the text that stands under its id now."""
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
        scope = scope_of(namespace, home.story.session(address))
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
    said = output.line(text)
    return said if len(said) <= _EXCERPT else f"{said[: _EXCERPT - 1]}…"


def show_decided(told: Mapping[str, Any]) -> None:
    """One decision, as `decision_json` gives it, for people."""
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
        output.say(f"  and {output.counted(int(told['more']), 'candidate')} more")


def _of_history(told: Mapping[str, Any]) -> list[str]:
    messages = output.counted(int(told.get("messages", 0)), "message")
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
        lines.append(f"{told.get('shown', 0)} of {output.counted(int(told['lines']), 'line')} shown, {room}")
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
