"""One lineage of a session written for others: SillyTavern's `.jsonl`, or Markdown for people.

Deleted messages are left out. What the format cannot hold (branches beyond the takes of a message, records) is left out
too; `archive` writes everything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from talekeeper.story import Coordinate, Message, Session

Siblings = Mapping[Coordinate, Sequence[Message]]
"""Coordinate of a message → every take at its place, itself included, in the order they were written."""


def render_sillytavern(session: Session, messages: Sequence[Message], siblings: Siblings) -> Iterator[str]:
    """Lines without their ends. Hidden and system messages are `is_system`: SillyTavern shows no model those."""
    yield _json(
        {
            "user_name": next((m.speaker for m in messages if m.role == "player" and m.speaker), "User"),
            "character_name": next((m.speaker for m in messages if m.role == "narrator" and m.speaker), "Narrator"),
            "create_date": session.created,
            "chat_metadata": {},
        }
    )
    for message in messages:
        if not message.deleted:
            yield _json(_chat_line(message, siblings.get(message.coordinate, ())))


def _chat_line(message: Message, takes: Sequence[Message]) -> dict[str, object]:
    line: dict[str, object] = {
        "name": message.speaker or ("User" if message.role == "player" else "Narrator"),
        "is_user": message.role == "player",
        "is_system": message.hidden or message.role not in ("player", "narrator"),
        "send_date": message.time or message.created,
        "mes": message.text,
        "extra": {},
    }
    kept = [take for take in takes if not take.deleted]
    if len(kept) > 1:
        line["swipes"] = [take.text for take in kept]
        line["swipe_id"] = next(number for number, take in enumerate(kept) if take.id == message.id)
    return line


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def render_markdown(session: Session, messages: Iterable[Message]) -> Iterator[str]:
    """Lines without their ends: a heading a turn, each message after its speaker's name. Hidden ones are left out."""
    yield f"# {_one_line(session.title or session.id)}"
    turn = None
    for message in messages:
        if message.deleted or message.hidden:
            continue
        if message.turn != turn:
            turn = message.turn
            yield f"\n## Turn {turn}" + (f" · {_one_line(message.time)}" if message.time else "")
        yield ""
        speaker = f"**{_one_line(message.speaker)}:** " if message.speaker else ""
        yield speaker + message.text


def _one_line(text: str) -> str:
    return " ".join(text.split())


def siblings_of(messages: Iterable[Message], forks: Mapping[int, Coordinate]) -> Siblings:
    """Groups every message of a session by the place before it; `forks` gives where each branch grows from."""
    places: dict[Coordinate, list[Message]] = {}
    for message in sorted(messages, key=lambda one: one.seq):
        at = message.coordinate
        fork = forks[at.branch]
        before = fork if at.depth - 1 == fork.depth else Coordinate(at.branch, at.depth - 1)
        places.setdefault(before, []).append(message)
    return {message.coordinate: group for group in places.values() for message in group}
