"""Brings a database's schema to the version of this code.

The migrations are the files `migrations/NNNN_name.sql`, applied in order; `PRAGMA user_version` holds the last number.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from talekeeper.db.connection import Connection
from talekeeper.db.faults import is_misfit
from talekeeper.errors import StoreUnusable


@dataclass(frozen=True, slots=True)
class Migration:
    """One step; `number` is the version a database has after it."""

    number: int
    name: str
    sql: str


@lru_cache
def migrations() -> tuple[Migration, ...]:
    """All steps this code knows, in order."""
    folder = Path(__file__).with_name("migrations")  # importlib.resources takes 4 ms to import
    steps = [
        Migration(int(file.name[:4]), file.name[5:-4], file.read_text("utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".sql")
    ]
    return tuple(sorted(steps, key=lambda step: step.number))


def migrate(connection: Connection, path: Path, steps: tuple[Migration, ...] | None = None) -> int:
    """Applies what is missing, in one transaction, and gives the version reached; any number may do so at once.

    The version is read again once the write lock is held: whoever waited for another's migration finds it done.
    """
    known = migrations() if steps is None else steps
    newest = known[-1].number if known else 0
    if _version(connection, newest, path) == newest:
        return newest
    with _immediate(connection):
        version = _version(connection, newest, path)
        try:
            for step in known:
                if step.number > version:
                    connection.executescript(step.sql)
        except sqlite3.OperationalError as error:
            if is_misfit(error):
                raise _misfit(version, path, str(error)) from error
            raise
        connection.execute(f"PRAGMA user_version = {newest}")
    return newest


def _version(connection: Connection, newest: int, path: Path) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version < 0:
        raise _misfit(version, path, "versions begin at 0")
    if version > newest:
        raise StoreUnusable(
            f"the database has version {version}, and this Talekeeper knows versions up to {newest}",
            where=str(path),
            cure="update Talekeeper",
        )
    return int(version)


def _misfit(version: int, path: Path, reason: str) -> StoreUnusable:
    return StoreUnusable(
        f"the database is damaged: it says it has version {version}, and its tables are not of that version ({reason})",
        where=str(path),
        cure="restore a backup, or move the file away to begin anew",
    )


@contextmanager
def _immediate(connection: Connection) -> Generator[None, None, None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise
