"""The store's one door: `write` for one transaction at a time, `read` for a snapshot.

Rooms above pass a function and get its result; they never hold a connection. A function may be run again, so it has no
effect but on the database.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeVar

from talekeeper.clock import Clock
from talekeeper.db import write_gate
from talekeeper.db.connect import Synchronous, check_sqlite, connect, create, migrate, open_checked
from talekeeper.db.files import draft_of, look, publish_file
from talekeeper.db.transaction import Tx, explain, is_busy, is_damage
from talekeeper.db.write_gate import WriteOpen, ensure_outside_write, gate_for
from talekeeper.errors import InputError, StoreError

T = TypeVar("T")

LOG_CONCERN = 256 << 20  # bytes; four times what is kept of the log after a checkpoint
_LOOK_AT_LOG = 256  # writes between looks at the log
_BACKUP_STEP = 128  # pages
_log = logging.getLogger(__name__)


class Database:
    """One SQLite file. Threads may share it; a forked child must open its own."""

    def __init__(self, path: Path, writer: sqlite3.Connection, clock: Clock, synchronous: Synchronous) -> None:
        self.path = path
        self.clock = clock
        self._writer: sqlite3.Connection | None = writer
        self._synchronous: Synchronous = synchronous
        self._gate = gate_for(path)
        self._pid = os.getpid()
        self._idle: list[sqlite3.Connection] = []
        self._mutex = threading.Lock()
        self._writes = 0
        self._trace: Callable[[str], None] | None = None
        self._note = write_gate.HolderNote(path)

    @classmethod
    def open(cls, path: Path, *, clock: Clock, synchronous: Synchronous = "FULL", new: bool = True) -> Database:
        """Opens the file, brings its schema up to date, or makes it when it is not there and `new` allows.

        Raises `StoreUnusable` with the reason; a damaged, empty or foreign file is never replaced by a fresh one.
        `synchronous` other than FULL is for measurements: a power cut may then lose the last commits.
        """
        check_sqlite()
        ensure_outside_write("opening a database")
        if new and look(path, "the database") is None:
            create(path)
        writer = open_checked(path, synchronous=synchronous)
        try:
            migrate(writer, path)
            writer.execute(f"PRAGMA busy_timeout = {int(write_gate.LOOK * 1000)}")
            return cls(path, writer, clock, synchronous)
        except sqlite3.Error as error:
            writer.close()
            raise explain(error, path) or error from error
        except BaseException:
            writer.close()
            raise

    @property
    def has_written(self) -> bool:
        """Whether this process has committed anything."""
        return self._writes > 0

    def write(self, fn: Callable[[Tx], T], *, name: str) -> T:
        """Runs `fn` in a write transaction and commits it; any exception rolls everything back.

        `name` appears in warnings and in `HeldAcrossCall`. Waits for other processes; raises `Busy` when one write of
        theirs takes longer than 30 s.
        """
        ensure_outside_write(f"the write '{name}'")
        with self._gate:
            result = self._until_free(fn, name)
            self._writes += 1
            if self._writes % _LOOK_AT_LOG == 0 and (concern := self.log_concern()):
                _log.warning("%s", concern)
            return result

    def read(self, fn: Callable[[Tx], T]) -> T:
        """Runs `fn` on one snapshot: what others commit meanwhile is not seen."""
        ensure_outside_write("a read of its own")
        with self._reader() as connection, self._explained():
            tx = Tx(connection)
            try:
                connection.execute("BEGIN")
                return fn(tx)
            finally:
                tx.end()
                connection.rollback()

    def backup(self, target: Path, *, progress: Callable[[int, int], None] | None = None) -> None:
        """Copies the database as it is now to `target`, which must not exist; `progress(done, total)` is in pages."""
        ensure_outside_write("a backup")
        with self._reader() as connection, self._explained():
            _back_up(connection, target, progress)

    def integrity(self) -> list[str]:
        """What SQLite finds wrong with the whole file, a line each; empty when it is sound. Reads the whole file."""
        try:
            with self._reader() as connection:
                faults = [row[0] for row in connection.execute("PRAGMA integrity_check(100)") if row[0] != "ok"]
                strays = connection.execute("PRAGMA foreign_key_check").fetchall()
        except sqlite3.Error as error:
            if is_damage(error):
                return [f"the file is too damaged to be checked ({error})"]
            raise explain(error, self.path) or error from error
        return faults + [f"{table} row {row} refers to nothing in {parent}" for table, row, parent, _ in strays]

    def checkpoint(self) -> bool:
        """Moves the write-ahead log into the file and empties it; False when a reader elsewhere is in the way."""
        ensure_outside_write("a checkpoint")
        with self._gate, self._explained():
            busy, _, _ = self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

    def sizes(self) -> tuple[int, int]:
        """Bytes of the file and of its write-ahead log."""
        log = self.path.with_name(self.path.name + "-wal")
        return self.path.stat().st_size, log.stat().st_size if log.exists() else 0

    def log_concern(self) -> str:
        """What there is to say about the size of the write-ahead log; empty while it is as it should be."""
        _, log = self.sizes()
        if log < LOG_CONCERN:
            return ""
        return (
            f"{self.path}: the write-ahead log has grown to {log >> 20} MB, because some program never stops reading; "
            "close programs that have this home open"
        )

    def trace(self, callback: Callable[[str], None] | None) -> None:
        """Shows `callback` every statement from now on, values filled in; None stops it."""
        self._trace = callback
        with self._mutex:
            for connection in (self._connection(), *self._idle):
                connection.set_trace_callback(callback)

    def close(self) -> None:
        """Empties the log into the file and closes it; a second call does nothing."""
        if self._writer is None or self._pid != os.getpid():
            return
        with self._gate:
            writer, self._writer = self._writer, None
            with self._mutex:
                idle, self._idle = self._idle, []
            for connection in (*idle, writer):
                connection.close()
            self._note.close()

    def _until_free(self, fn: Callable[[Tx], T], name: str) -> T:
        connection = self._connection()
        started = time.monotonic()
        patience = None
        while True:
            try:
                return self._attempt(connection, fn, name)
            except sqlite3.Error as error:
                patience = patience or write_gate.Patience(self._note, started)
                if not is_busy(error) or patience.is_over():
                    raise explain(error, self.path) or error from error
            if patience.is_news():
                _log.warning("the write '%s' is waiting for %s", name, self._note.holder())

    def _attempt(self, connection: sqlite3.Connection, fn: Callable[[Tx], T], name: str) -> T:
        tx = Tx(connection)
        try:
            connection.execute("BEGIN IMMEDIATE")
            started = time.monotonic()
            with WriteOpen(name):
                self._note.write(name)
                result = fn(tx)
            connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise
        finally:
            tx.end()
        held = time.monotonic() - started
        if held >= write_gate.LOOK:
            _log.warning("the write '%s' held the database for %.1f s", name, held)
        return result

    def _connection(self) -> sqlite3.Connection:
        if self._writer is None:
            raise StoreError("the database was used after it had been closed")
        if self._pid != os.getpid():
            raise StoreError("the database was used in a forked process", cure="open it again there")
        return self._writer

    @contextlib.contextmanager
    def _reader(self) -> Generator[sqlite3.Connection, None, None]:
        """An idle connection for reading, or a new one; kept for the next reader afterwards."""
        self._connection()
        with self._mutex:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            with self._explained():
                connection = connect(self.path, synchronous=self._synchronous, wait=write_gate.WAIT, writable=False)
            connection.set_trace_callback(self._trace)
        try:
            yield connection
        finally:
            with self._mutex:
                # One whose rollback was interrupted is worth nothing.
                keep = self._writer is not None and not connection.in_transaction
                if keep:
                    self._idle.append(connection)
            if not keep:
                connection.close()

    @contextlib.contextmanager
    def _explained(self) -> Generator[None, None, None]:
        try:
            yield
        except sqlite3.Error as error:
            raise explain(error, self.path) or error from error


def _back_up(source: sqlite3.Connection, target: Path, progress: Callable[[int, int], None] | None) -> None:
    """Copies to `target`, calling `progress(done, total)` in pages; raises `InputError` when it cannot be written.

    Damage found in the source comes out as SQLite's own error.
    """
    if os.path.exists(target):  # noqa: PTH110 - what cannot be looked at cannot be written either, which tells why
        raise _taken(target)
    try:
        with draft_of(target) as draft:
            _copy(source, draft, progress)
            publish_file(draft, target)
    except FileExistsError as error:
        raise _taken(target) from error
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, sqlite3.Error) and is_damage(error):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(
            f"the backup cannot be written ({reason})",
            where=str(target),
            cure="choose a folder that exists, is writable and has space",
        ) from error


def _taken(target: Path) -> InputError:
    return InputError("there is already a file of this name", where=str(target), cure="choose another name")


def _copy(source: sqlite3.Connection, draft: Path, progress: Callable[[int, int], None] | None) -> None:
    """A read transaction is held meanwhile: without it every commit elsewhere would make SQLite begin again."""

    def report(_: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    copy = sqlite3.connect(draft, isolation_level=None)
    try:
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        try:
            source.backup(copy, pages=_BACKUP_STEP, progress=report, sleep=0)
        finally:
            source.execute("ROLLBACK")
        fault = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
    finally:
        copy.close()
    if fault != "ok":
        raise StoreError(
            f"the copy is damaged ({fault})", cure="ask 'talekeeper doctor' about the database and the disk"
        )
