"""Events: what happened and when, in `<home>/traces.sqlite`, apart from the store. No caller waits for them.

`Trace` has a bounded queue, and a thread that writes small batches. sqlite3 is used directly: the store's room is above
this one, and what it guarantees (full synchronisation, migrations, references) is not wanted here. A power cut may take
the last moments; a file of another version is set aside and never migrated.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any, cast

from talekeeper.clock import Clock, iso
from talekeeper.errors import StoreUnusable

__all__ = ["DROPPED", "Event", "Trace", "count_events", "forget_events", "read_events"]

KEPT = 200_000
"""Events a file holds: some 60 MB without bodies, months of playing."""

_WAITING = 4096
_BATCH = 256
_LONGEST_FACT = 500

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
# No index: reading through all that is kept takes some 20 ms, and is done on demand.
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


class Trace:
    """The sink of one process; others may write the same file. Its thread starts with the first event.

    `capture` says whether bodies (prompts, answers) are kept at all. `mask` is applied to all text that is written, to
    take keys out. `kept` is the most events in the file, of which the oldest go; `waiting` the most in the queue.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        capture: bool = False,
        mask: Callable[[str], str] = str,
        kept: int = KEPT,
        waiting: int = _WAITING,
    ) -> None:
        self.path = path
        self.capture = capture
        self._clock = clock
        self._mask = mask
        self._kept = kept
        # An Event is set when everything before it has been dealt with; None ends the thread.
        self._queue: queue.Queue[Row | threading.Event | None] = queue.Queue(waiting)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.dropped = 0
        """Events of this process that were not written."""
        self._reported = 0
        """So many of them are told of in the file."""
        self.fault = ""
        """Why the last batch could not be written; empty when it could."""

    def event(
        self,
        kind: str,
        *,
        workspace: str = "",
        session: str = "",
        turn: int | None = None,
        body: object = None,
        **facts: object,
    ) -> None:
        """Reports that something happened; returns at once and raises nothing.

        `facts` are small: numbers, ids, reasons; a text is cut at 500 characters. What people and models wrote goes
        into `body`, which is left out unless capture is on.
        """
        document = self._mask(_json({name: _short(value) for name, value in facts.items()}))
        kept = self._mask(_json(body)) if self.capture and body is not None else None
        row: Row = (iso(self._clock.now()), kind, _storable(workspace), _storable(session), turn, document, kept)
        with self._lock:
            if not self._closed:
                self._start()
                with contextlib.suppress(queue.Full):
                    self._queue.put_nowait(row)
                    return
            self.dropped += 1

    def flush(self, timeout: float = 10.0) -> bool:
        """Waits until all that was reported so far is written or dropped; False when that takes longer."""
        mark = threading.Event()
        with self._lock:
            if self._thread is None:
                return True
            if self._closed:
                return False
        try:
            self._queue.put(mark, timeout=timeout)
        except queue.Full:
            return False
        return mark.wait(timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Writes what waits and ends the thread; events reported later are dropped. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
        if thread is not None:
            self._queue.put(None)
            thread.join(timeout)

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="traces", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        connection: sqlite3.Connection | None = None
        mark: threading.Event | None = None
        going_on = True
        while going_on:
            rows, mark, going_on = self._collect()
            connection = self._write(connection, rows)
            if mark:
                mark.set()
        if connection:
            connection.close()

    def _collect(self) -> tuple[list[Row], threading.Event | None, bool]:
        """The rows that wait, at most a batch; a mark or the end comes after the rows before it."""
        rows: list[Row] = []
        item = self._queue.get()
        while isinstance(item, tuple):
            rows.append(item)
            if len(rows) == _BATCH or self._queue.empty():
                return rows, None, True
            item = self._queue.get()
        return rows, item, item is not None

    def _write(self, connection: sqlite3.Connection | None, rows: list[Row]) -> sqlite3.Connection | None:
        """Writes the rows or counts them as dropped; the connection, None when the next batch should open a new one."""
        with self._lock:
            dropped = self.dropped
        added = rows
        if unreported := dropped - self._reported:
            told = json.dumps({"count": unreported})
            added = [(iso(self._clock.now()), DROPPED, "", "", None, told, None), *rows]
        try:
            connection = connection or open_events(self.path)
            if added:
                write_events(connection, added, self._kept)
        except FAULTS as error:
            if connection:
                connection.close()
            self.fault = str(error)
            with self._lock:
                self.dropped += len(rows)
            return None
        self.fault = ""
        self._reported = dropped
        return connection


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
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(_INSERT, rows)
        connection.execute("DELETE FROM event WHERE id <= (SELECT MAX(id) FROM event) - ?", (kept,))


def read_events(
    path: Path, *, workspace: str | None = None, session: str | None = None, kind: str = "", limit: int = 1000
) -> list[Event]:
    """The newest events, oldest first; of one workspace or session, of kinds that begin with `kind` (as `turn.`).

    Empty when there is no file. Raises `StoreUnusable` when it cannot be read.
    """
    if not path.exists():
        return []
    with _using(path, "read", _reader) as connection:
        rows = connection.execute(_SELECT, (workspace, session, kind, limit)).fetchall()
        return [_event(row) for row in reversed(rows)]


def count_events(path: Path) -> tuple[int, int]:
    """How many events are kept, and how many are known to be missing; raises `StoreUnusable` when it cannot be read."""
    if not path.exists():
        return 0, 0
    with _using(path, "read", _reader) as connection:
        kept, dropped = connection.execute(_COUNT, (DROPPED,)).fetchone()
    return kept, dropped


def forget_events(path: Path, workspace: str, session: str) -> None:
    """Deletes a session's events for good, from the write-ahead log too; raises `StoreUnusable` when it cannot.

    What still waits in a `Trace` is not in the file yet: flush it first.
    """
    if not path.exists():
        return
    with _using(path, "changed", open_events) as connection:
        connection.execute("DELETE FROM event WHERE workspace = ? AND session = ?", (workspace, session))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _reader(path: Path) -> sqlite3.Connection:
    _look(path)
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)


def _look(path: Path) -> None:
    """Refuses a pipe, a folder or a device in the place of the file or of one beside it: opening it may never end."""
    for each in (path, *(path.with_name(path.name + beside) for beside in _BESIDE)):
        try:
            is_regular = S_ISREG(each.stat().st_mode)  # one look: another process may take a journal away between two
        except OSError:
            continue  # opening it says what is wrong
        if not is_regular:
            raise StoreUnusable("this is not a regular file, and the traces go there", where=str(each), cure=_CURE)


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    # SQLite does not wait while it turns a file to WAL, so of processes that open a new one at once all but one are
    # refused.
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            layout = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if layout not in (0, _LAYOUT):
                what = "the traces are of another version of Talekeeper"
                raise StoreUnusable(what, where=str(path), cure=_CURE)
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


def _event(row: tuple[int, str, str, str, str, int | None, str, str | None]) -> Event:
    number, at, kind, workspace, session, turn, facts, body = row
    kept = None if body is None else json.loads(body)
    return Event(number, at, kind, workspace, session, turn, json.loads(facts), kept)


@contextmanager
def _using(path: Path, done: str, opener: Callable[[Path], sqlite3.Connection]) -> Generator[sqlite3.Connection]:
    try:
        with contextlib.closing(opener(path)) as connection:
            yield connection
    except StoreUnusable:
        raise
    except FAULTS as error:
        raise StoreUnusable(f"the traces cannot be {done} ({error})", where=str(path), cure=_CURE) from error


def _short(value: object) -> object:
    return value if not isinstance(value, str) or len(value) <= _LONGEST_FACT else value[:_LONGEST_FACT] + "…"


def _json(value: object) -> str:
    """Any value as JSON: what has no JSON is there by the name of its type. ASCII, so that any string can be stored."""
    try:
        return json.dumps(value, default=_plain)
    except (ValueError, RecursionError, TypeError):
        return json.dumps({"unwritable": type(value).__name__})


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): item for key, item in cast("Mapping[object, Any]", value).items()}
    return type(value).__name__


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
