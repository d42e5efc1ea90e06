"""Writes an archive: the rows of a workspace, read in one snapshot, a page at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
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
from talekeeper.story import Session, Story

_PAGE = 500

Write = Callable[[str], object]


def write_archive(
    story: Story,
    write: Write,
    workspace: str,
    sessions: Sequence[Session],
    *,
    written: str,
    progress: Callable[[int], None],
) -> None:
    """Gives `write` the lines with their ends; `progress` is told how many of the sessions' messages are written.

    `sessions` may be none, and then only what belongs to the workspace and its presets is written.
    """
    story.read(lambda tx: _Dump(tx, write, workspace, progress).run(sessions, written))


class _Dump:
    def __init__(self, tx: Tx, write: Write, workspace: str, progress: Callable[[int], None]) -> None:
        self._tx = tx
        self._write = write
        self._workspace = workspace
        self._progress = progress
        self._chain = Chain()
        self._messages = 0

    def run(self, sessions: Sequence[Session], written: str) -> None:
        self._line({ARCHIVE_KEY: "archive", "version": VERSION, "workspace": self._workspace, "written": written})
        for table in (*OF_WORKSPACE, *OF_BOTH):
            self._rows(table, "")
        for session in sessions:
            for table in (SESSION, *OF_SESSION, *OF_BOTH):
                self._rows(table, session.id)
        self._line({"end": {"sessions": len(sessions), "lines": self._chain.lines}})

    def _line(self, line: dict[str, Any]) -> None:
        self._write(json.dumps({**line, "hash": self._chain.add(line)}, ensure_ascii=False) + "\n")

    def _rows(self, table: Table, session: str) -> None:
        for row in self._pages(table, session):
            self._line({"table": table.name, "row": dict(zip(table.columns, row, strict=True))})
            if table.name == "message":
                self._messages += 1
                self._progress(self._messages)

    def _pages(self, table: Table, session: str) -> Iterator[Row]:
        where, params = "workspace = ?", [self._workspace]
        if table.session:
            where, params = f"{where} AND {table.session} = ?", [*params, session]
        select = f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {where}"  # noqa: S608 - names of our own
        if not table.key:
            yield from self._tx.rows(select, params)
            return
        order = ", ".join(table.key)
        places = [table.columns.index(column) for column in table.key]
        page = self._tx.rows(f"{select} ORDER BY {order} LIMIT {_PAGE}", params)
        while page:
            yield from page
            after = [page[-1][place] for place in places]
            marks = ", ".join("?" * len(after))
            page = self._tx.rows(
                f"{select} AND ({order}) > ({marks}) ORDER BY {order} LIMIT {_PAGE}", [*params, *after]
            )
