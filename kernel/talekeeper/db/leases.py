"""Leases that the operating system gives back when their holder dies.

A lease is an exclusive SQLite lock on a file of its own under the home's `leases` folder. Nothing else may open such a
file: on POSIX, closing any other handle on it in the same process would drop the lock. Whoever takes a lease gets a
higher fence than everybody before; the transaction that ends the work checks it, so a holder that was stopped, lost its
lock and woke up again cannot commit.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from talekeeper.clock import iso
from talekeeper.db.database import Database
from talekeeper.db.files import look, open_private
from talekeeper.db.transaction import Tx, is_busy
from talekeeper.db.write_gate import ensure_outside_write
from talekeeper.errors import Busy, Conflict, StoreUnusable


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease as taken; its fence tells it from every other taking of the same name."""

    workspace: str
    name: str
    fence: int

    def check(self, tx: Tx) -> None:
        """Raises `Conflict` when another holder has taken the lease since."""
        row = tx.one("SELECT fence FROM lease WHERE workspace = ? AND name = ?", (self.workspace, self.name))
        if row is None or row[0] != self.fence:
            raise Conflict(f"the lease '{self.name}' has been taken over", cure="begin again", lease=self.name)


class Leases:
    """Takes leases; their files lie in `folder`, their fences in the database."""

    def __init__(self, folder: Path, db: Database) -> None:
        self._folder = folder
        self._db = db

    @contextmanager
    def hold(self, workspace: str, name: str, *, holder: str = "", wait: float = 0.0) -> Generator[Lease, None, None]:
        """Holds the lease for the block; raises `Busy` with `data["holder"]` when it is not free in `wait` seconds.

        `holder` says who this is, for others to read; the process's number by default.
        """
        ensure_outside_write(f"taking the lease '{name}'")
        handle = self._lock(workspace, name, wait)
        try:
            yield self._take(workspace, name, holder or f"process {os.getpid()}")
        finally:
            handle.close()

    def held(self, workspace: str, name: str) -> bool:
        """Whether the lease is held at this moment."""
        if not self._path(workspace, name).exists():
            return False
        try:
            self._lock(workspace, name, 0.0).close()
        except Busy:
            return True
        return False

    def holder(self, workspace: str, name: str) -> str:
        """Who took the lease last, whether or not it is still held."""
        row = self._db.read(
            lambda tx: tx.one("SELECT holder FROM lease WHERE workspace = ? AND name = ?", (workspace, name))
        )
        return "" if row is None else str(row[0])

    def _lock(self, workspace: str, name: str, wait: float) -> sqlite3.Connection:
        path = self._path(workspace, name)
        _make(path)
        try:
            handle = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise _unusable(path, error) from error
        try:
            handle.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            handle.close()
            if not is_busy(error):
                raise _unusable(path, error) from error
            holder = self.holder(workspace, name)
            who = f"by {holder}" if holder else "elsewhere"
            raise Busy(f"'{name}' is held {who}", cure="try again when it has finished", holder=holder) from error
        return handle

    def _take(self, workspace: str, name: str, holder: str) -> Lease:
        taken = iso(self._db.clock.now())

        def take(tx: Tx) -> int:
            tx.run(
                "INSERT INTO lease(workspace, name, fence, holder, taken) VALUES (?, ?, 1, ?, ?) "
                "ON CONFLICT(workspace, name) DO UPDATE "
                "SET fence = lease.fence + 1, holder = excluded.holder, taken = excluded.taken",
                (workspace, name, holder, taken),
            )
            row = tx.one("SELECT fence FROM lease WHERE workspace = ? AND name = ?", (workspace, name))
            return 0 if row is None else int(row[0])

        return Lease(workspace, name, self._db.write(take, name="take a lease"))

    def _path(self, workspace: str, name: str) -> Path:
        # A digest, because names hold slashes and file systems fold case.
        digest = hashlib.sha256(f"{workspace}\0{name}".encode()).hexdigest()
        return self._folder / f"{digest[:32]}.lease"


def _make(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnusable(
            f"the folder of the leases cannot be made ({error.strerror})",
            where=str(path.parent),
            cure="move away what is there, and see that the home can be written and has space",
        ) from error
    if look(path, "the lease file") is None:
        os.close(open_private(path, "the lease file"))


def _unusable(path: Path, error: sqlite3.Error) -> StoreUnusable:
    return StoreUnusable(
        f"the lease file cannot be locked ({error})",
        where=str(path),
        cure="close every program that uses this home and delete the file; it is made again",
    )
