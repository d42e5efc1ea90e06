"""The file of events: one table, written in batches, read newest first.

sqlite3 is used directly. The store's room is above this one, and what it guarantees (full synchronisation, migrations,
references) is not wanted here: a trace may lose its last moments in a power cut, and is set aside, never migrated.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from talekeeper.errors import StoreUnusable

DROPPED = "trace.dropped"
"""The kind of the event that says how many others (`count`) are missing before it."""

PRIVATE = 0o600
_LAYOUT = 1
_BESIDE = ("-wal", "-shm", "-journal")
_CURE = "move it away"
_BUSY_SECONDS = 2.0
_AGAIN_SECONDS = 0.005
_PRIMARY = 0xFF  # the bits of an extended result code that hold the primary one
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS event(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    turn INTEGER,
    facts TEXT NOT NULL,
    body TEXT
) STRICT;
PRAGMA user_version = {_LAYOUT};
COMMIT;
"""
_INSERT = "INSERT INTO event(at, kind, workspace, session, turn, facts, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
# No index: reading through all that is kept takes some 20 ms, and is done when somebody asks.
_SELECT = """
SELECT id, at, kind, workspace, session, turn, facts, body FROM event
WHERE (?1 IS NULL OR workspace = ?1) AND (?2 IS NULL OR session = ?2) AND substr(kind, 1, length(?3)) = ?3
ORDER BY id DESC LIMIT ?4
"""
_COUNT = "SELECT count(*), coalesce(sum(facts ->> 'count') FILTER (WHERE kind = ?), 0) FROM event"
# What the file holds is private, and what was deleted is gone.
_PRAGMAS = ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON", "trusted_schema = OFF")

FAULTS = (OSError, sqlite3.Error, ValueError, StoreUnusable)
"""What a damaged file, or what lies in its place, can raise: SQLite's complaint may quote bytes that are no text."""

Row = tuple[str, str, str, str, int | None, str, str | None]
"""at, kind, workspace, session, turn, facts as JSON, body as JSON."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event as it was written; `body` is None unless capture was on."""

    id: int
    at: str
    kind: str
    workspace: str
    session: str
    turn: int | None
    facts: Mapping[str, Any]
    body: Any = None


def open_events(path: Path) -> sqlite3.Connection:
    """Opens the file for writing, made with mode 0600 when it is not there.

    Raises one of `FAULTS` and leaves alone what it does not know.
    """
    _look(path)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, PRIVATE))
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        _set_up(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def write_events(connection: sqlite3.Connection, rows: Sequence[Row], kept: int) -> None:
    """Adds the rows in one transaction and takes away all but about the newest `kept`."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(_INSERT, rows)
        connection.execute("DELETE FROM event WHERE id <= (SELECT MAX(id) FROM event) - ?", (kept,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def read_events(
    path: Path, *, workspace: str | None = None, session: str | None = None, kind: str = "", limit: int = 1000
) -> list[Event]:
    """The newest events, oldest first; of one workspace or session, of kinds that begin with `kind` (as `turn.`).

    Empty when there is no file. Raises `StoreUnusable` when it cannot be read.
    """
    if not path.exists():
        return []
    with _explained(path, "read"), contextlib.closing(_reader(path)) as connection:
        rows = connection.execute(_SELECT, (workspace, session, kind, limit)).fetchall()
        return [_event(row) for row in reversed(rows)]


def count_events(path: Path) -> tuple[int, int]:
    """How many events are kept, and how many are known to be missing; raises `StoreUnusable` when it cannot be read."""
    if not path.exists():
        return 0, 0
    with _explained(path, "read"), contextlib.closing(_reader(path)) as connection:
        kept, dropped = connection.execute(_COUNT, (DROPPED,)).fetchone()
    return kept, dropped


def forget_events(path: Path, workspace: str, session: str) -> None:
    """Deletes a session's events for good, from the write-ahead log too; raises `StoreUnusable` when it cannot.

    What still waits in a `Trace` is not in the file yet: flush it first.
    """
    if not path.exists():
        return
    with _explained(path, "changed"), contextlib.closing(open_events(path)) as connection:
        connection.execute("DELETE FROM event WHERE workspace = ? AND session = ?", (workspace, session))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _reader(path: Path) -> sqlite3.Connection:
    _look(path)
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)


def _look(path: Path) -> None:
    """Refuses a pipe, a folder or a device in the place of the file or of one beside it: opening it may never end."""
    for each in (path, *(path.with_name(path.name + beside) for beside in _BESIDE)):
        if each.exists() and not each.is_file():
            raise StoreUnusable("this is not a regular file, and the traces go there", where=str(each), cure=_CURE)


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    # SQLite waits for nobody while it turns a file to WAL, so of processes that open a new one at once all but one are
    # refused.
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            layout = _layout(connection, path)
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            if layout == 0:
                connection.executescript(_SCHEMA)
        except sqlite3.OperationalError as fault:
            if fault.sqlite_errorcode & _PRIMARY != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_AGAIN_SECONDS)
        else:
            return


def _layout(connection: sqlite3.Connection, path: Path) -> int:
    layout = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if layout not in (0, _LAYOUT):
        raise StoreUnusable("the traces are of another version of Talekeeper", where=str(path), cure=_CURE)
    return layout


def _event(row: tuple[int, str, str, str, str, int | None, str, str | None]) -> Event:
    number, at, kind, workspace, session, turn, facts, body = row
    kept = None if body is None else json.loads(body)
    return Event(number, at, kind, workspace, session, turn, json.loads(facts), kept)


@contextmanager
def _explained(path: Path, done: str) -> Generator[None]:
    try:
        yield
    except StoreUnusable:
        raise
    except FAULTS as error:
        raise StoreUnusable(f"the traces cannot be {done} ({error})", where=str(path), cure=_CURE) from error
