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
from talekeeper.db import waiting
from talekeeper.db.backup import back_up
from talekeeper.db.connect import Synchronous, check_sqlite, connect, open_checked
from talekeeper.db.connection import Connection
from talekeeper.db.create import create
from talekeeper.db.faults import explain, is_busy, is_damage
from talekeeper.db.gate import gate_for
from talekeeper.db.guard import WriteOpen, ensure_outside_write
from talekeeper.db.migrate import migrate
from talekeeper.db.regular import look
from talekeeper.db.transaction import SqliteTx
from talekeeper.db.tx import Tx
from talekeeper.errors import StoreError

T = TypeVar("T")

LOG_CONCERN = 256 << 20  # bytes; four times what is kept of the log after a checkpoint
_LOOK_AT_LOG = 256  # writes between looks at the log
_log = logging.getLogger(__name__)


class Database:
    """One SQLite file. Threads may share it; a forked child must open its own."""

    def __init__(self, path: Path, writer: Connection, clock: Clock, synchronous: Synchronous) -> None:
        self.path = path
        self.clock = clock
        self._writer: Connection | None = writer
        self._synchronous: Synchronous = synchronous
        self._gate = gate_for(path)
        self._pid = os.getpid()
        self._idle: list[Connection] = []
        self._mutex = threading.Lock()
        self._writes = 0
        self._trace: Callable[[str], None] | None = None
        self._note = waiting.HolderNote(path)

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
            writer.execute(f"PRAGMA busy_timeout = {int(waiting.LOOK * 1000)}")
            return cls(path, writer, clock, synchronous)
        except sqlite3.Error as error:
            writer.close()
            raise explain(error, path) or error from error
        except BaseException:
            writer.close()
            raise

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
        connection = self._take_reader()
        tx = SqliteTx(connection.conn)
        try:
            try:
                connection.conn.execute("BEGIN")
                return fn(tx)
            finally:
                tx.end()
                connection.rollback()
        except sqlite3.Error as error:
            raise explain(error, self.path) or error from error
        finally:
            self._give_back(connection)

    def backup(self, target: Path, *, progress: Callable[[int, int], None] | None = None) -> None:
        """Copies the database as it is now to `target`, which must not exist; `progress(done, total)` is in pages."""
        ensure_outside_write("a backup")
        with self._reader() as connection, self._explained():
            back_up(connection.conn, target, progress)

    def integrity(self) -> list[str]:
        """What SQLite finds wrong with the whole file, a line each; empty when it is sound. Reads all of it."""
        try:
            return self._integrity()
        except sqlite3.Error as error:
            if is_damage(error):
                return [f"the file is too damaged to be checked ({error})"]
            raise explain(error, self.path) or error from error

    def _integrity(self) -> list[str]:
        with self._reader() as connection:
            faults = [row[0] for row in connection.execute("PRAGMA integrity_check(100)") if row[0] != "ok"]
            strays = connection.execute("PRAGMA foreign_key_check").fetchall()
            return [
                *faults,
                *(f"{table} row {row} refers to nothing in {parent}" for table, row, parent, _ in strays),
            ]

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
                connection.conn.set_trace_callback(callback)

    def close(self) -> None:
        """Empties the log into the file and lets go of it; a second call does nothing."""
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
        connection = self._connection().conn
        started = time.monotonic()
        patience = None
        while True:
            try:
                return self._attempt(connection, fn, name)
            except sqlite3.Error as error:
                patience = patience or waiting.Patience(self._note, started)
                if not is_busy(error) or patience.is_over():
                    raise explain(error, self.path) or error from error
            if patience.is_news():
                _log.warning("the write '%s' is waiting for %s", name, self._note.holder())

    def _attempt(self, connection: sqlite3.Connection, fn: Callable[[Tx], T], name: str) -> T:
        tx = SqliteTx(connection)
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
        if held >= waiting.LOOK:
            _log.warning("the write '%s' held the database for %.1f s", name, held)
        return result

    def _connection(self) -> Connection:
        if self._writer is None:
            raise StoreError("the database was used after it had been closed")
        if self._pid != os.getpid():
            raise StoreError("the database was used in a forked process", cure="open it again there")
        return self._writer

    @contextlib.contextmanager
    def _reader(self) -> Generator[Connection, None, None]:
        connection = self._take_reader()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _take_reader(self) -> Connection:
        self._connection()
        with self._mutex:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            with self._explained():
                connection = connect(self.path, synchronous=self._synchronous, wait=waiting.WAIT, writable=False)
            connection.conn.set_trace_callback(self._trace)
        return connection

    def _give_back(self, connection: Connection) -> None:
        with self._mutex:
            # One whose rollback was interrupted is worth nothing.
            keep = self._writer is not None and not connection.conn.in_transaction
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
