"""Conversations written to files: an archive of all there is, or one lineage for SillyTavern or for people.

An archive is read in one snapshot, a page at a time. The other two leave out deleted messages and what they cannot
hold: branches beyond the takes of a message, and records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from talekeeper.db import Row, Tx
from talekeeper.exchange.archive import (
    ARCHIVE_KEY,
    OF_BOTH,
    OF_SESSION,
    OF_WORKSPACE,
    SESSION,
    VERSION,
    Chain,
    Table,
)
from talekeeper.story import Coordinate, Message, Session, Story

_PAGE = 500


def write_archive(
    story: Story,
    write: Callable[[str], object],
    workspace: str,
    sessions: Sequence[Session],
    *,
    written: str,
    progress: Callable[[int], None],
) -> None:
    """Gives `write` the lines with their ends; `progress` is told how many of the sessions' messages are written.

    `sessions` may be none, and then only what belongs to the workspace and its presets is written.
    """
    chain = Chain()

    def put(line: dict[str, Any]) -> None:
        write(_json({**line, "hash": chain.add(line)}) + "\n")

    def dump(tx: Tx) -> None:
        messages = 0
        put({ARCHIVE_KEY: "archive", "version": VERSION, "workspace": workspace, "written": written})
        whole = [("", table) for table in (*OF_WORKSPACE, *OF_BOTH)]
        each = [(session.id, table) for session in sessions for table in (SESSION, *OF_SESSION, *OF_BOTH)]
        for session, table in whole + each:
            for row in _rows(tx, table, workspace, session):
                put({"table": table.name, "row": dict(zip(table.columns, row, strict=True))})
                if table.name == "message":
                    messages += 1
                    progress(messages)
        put({"end": {"sessions": len(sessions), "lines": chain.lines}})

    story.read(dump)


def _rows(tx: Tx, table: Table, workspace: str, session: str) -> Iterator[Row]:
    """The rows of a workspace or session by their key, a page at a time."""
    where, params = "workspace = ?", [workspace]
    if table.session:
        where, params = f"{where} AND {table.session} = ?", [*params, session]
    select = f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {where}"  # noqa: S608 - names of our own
    if not table.key:
        yield from tx.rows(select, params)
        return
    order, marks = ", ".join(table.key), ", ".join("?" * len(table.key))
    places = [list(table.columns).index(column) for column in table.key]
    page = tx.rows(f"{select} ORDER BY {order} LIMIT {_PAGE}", params)
    while page:
        yield from page
        after = [page[-1][place] for place in places]
        page = tx.rows(f"{select} AND ({order}) > ({marks}) ORDER BY {order} LIMIT {_PAGE}", [*params, *after])


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
