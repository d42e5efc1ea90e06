"""Our own JSON Lines: `{id, session, speaker, text, time?, turn?, role?, caption?}`, several sessions a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from talekeeper.exchange.source import Entry, Line, Notes, Source, role_of
from talekeeper.story import Draft, Role

_KEYS = frozenset({"id", "session", "speaker", "text", "time", "turn", "role", "caption"})
# Words other tools use for the same roles.
_ROLES: dict[str, Role] = {
    "player": "player",
    "user": "player",
    "narrator": "narrator",
    "assistant": "narrator",
    "system": "system",
    "tool": "tool",
}
_LARGEST_TURN = 2**31 - 1


def read_jsonl(source: Source, notes: Notes, player: str | None = None) -> Iterator[Entry]:
    """Entries in file order. A line without `id` is known by its place in its session (`#1`, `#2`, …)."""
    places: Counter[str | None] = Counter()
    for line in source.lines():
        if not line.text.strip():
            continue
        row = source.json_object(line)
        for key in row.keys() - _KEYS:
            notes.take(f"key {key!r} is not read", line.number)
        session = _text(source, row, "session", line)
        places[session] += 1
        draft = _draft(source, row, line, player, f"#{places[session]}")
        if draft.text.strip():
            yield Entry(line.number, line.end, draft, session)
        else:
            notes.take("blank text", line.number)


def _draft(source: Source, row: dict[str, Any], line: Line, player: str | None, place: str) -> Draft:
    text = _text(source, row, "text", line)
    if text is None:
        source.fail(line.number, "the message has no `text`", "each line is {id, session, speaker, text, …}")
    speaker = _text(source, row, "speaker", line) or ""
    return Draft(
        role=role_of(speaker, player, _role(source, row, line)),
        text=text,
        speaker=speaker,
        ref=_scalar(source, row, "id", line) or place,
        turn=_turn(source, row, line),
        time=_scalar(source, row, "time", line),
        caption=_text(source, row, "caption", line) or "",
    )


def _text(source: Source, row: dict[str, Any], key: str, line: Line) -> str | None:
    value = row.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        source.fail(line.number, f"`{key}` must be text, not {type(value).__name__}")
    return source.check(value, key, line.number)


def _scalar(source: Source, row: dict[str, Any], key: str, line: Line) -> str | None:
    """Ids and times are sometimes numbers; they are kept as they would be written."""
    value = row.get(key)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return _text(source, row, key, line) or None


def _role(source: Source, row: dict[str, Any], line: Line) -> Role | None:
    value = _text(source, row, "role", line)
    if value is None:
        return None
    role = _ROLES.get(value)
    if role is None:
        source.fail(line.number, f"unknown `role` {value!r}", "one of player, narrator, system, tool")
    return role


def _turn(source: Source, row: dict[str, Any], line: Line) -> int | None:
    value = row.get("turn")
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST_TURN:
        source.fail(line.number, f"`turn` must be a whole number from 0 on, not {value!r}")
    return value
