"""Our own JSON Lines: `{id, session, speaker, text, time?, turn?, role?, caption?}`, several sessions a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from talekeeper.exchange.source import Entry, JsonRow, Notes, Source, role_of
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
    for row in source.rows():
        for key in row.values.keys() - _KEYS:
            notes.take(f"key {key!r} is not read", row.line.number)
        session = row.text_or_none("session")
        places[session] += 1
        draft = _draft(row, player, f"#{places[session]}")
        if draft.text.strip():
            yield Entry(row.line.number, row.line.end, draft, session)
        else:
            notes.take("blank text", row.line.number)


def _draft(row: JsonRow, player: str | None, place: str) -> Draft:
    text = row.text_or_none("text")
    if text is None:
        row.fail("the message has no `text`", "each line is {id, session, speaker, text, …}")
    speaker = row.text_or_none("speaker") or ""
    return Draft(
        role=role_of(speaker, player, _role(row)),
        text=text,
        speaker=speaker,
        ref=row.scalar("id") or place,
        turn=_turn(row),
        time=row.scalar("time"),
        caption=row.text_or_none("caption") or "",
    )


def _role(row: JsonRow) -> Role | None:
    value = row.text_or_none("role")
    if value is None:
        return None
    role = _ROLES.get(value)
    if role is None:
        row.fail(f"unknown `role` {value!r}", "one of player, narrator, system, tool")
    return role


def _turn(row: JsonRow) -> int | None:
    value = row.values.get("turn")
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST_TURN:
        row.fail(f"`turn` must be a whole number from 0 on, not {value!r}")
    return value
