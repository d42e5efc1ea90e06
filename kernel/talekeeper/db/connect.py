"""Opens a database file, makes a new one, and brings its schema to the version of this code.

A file that must not be used is refused with a reason. The migrations are the files `migrations/NNNN_name.sql`, applied
in order; `PRAGMA user_version` holds the last number.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from talekeeper.db.files import PRIVATE, draft_of, examine_file, look, publish_file
from talekeeper.db.transaction import explain, is_misfit, undecodable
from talekeeper.errors import StoreUnusable

Synchronous = Literal["FULL", "NORMAL", "OFF"]

APPLICATION_ID = 0x54616C65  # "Tale", in the file's header: tells our databases from other programs'
OLDEST_SQLITE = (3, 38, 0)
_HEADER = 100
_MAGIC = b"SQLite format 3\0"
_WAL_KEPT = 64 * 1024 * 1024  # bytes; a longer write-ahead log is cut back to this after a checkpoint
_STATEMENTS = 256
_PRAGMAS = (
    "foreign_keys = ON",
    "recursive_triggers = ON",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "temp_store = MEMORY",
)
_BESIDE = ("-wal", "-shm", "-journal")
_RESTORE = "restore a backup, or move the file away to start afresh"


def check_sqlite() -> None:
    """Refuses an SQLite that is too old for the SQL used here."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE[:2]))
        raise StoreUnusable(
            f"this Python has SQLite {sqlite3.sqlite_version}, and {wanted} or newer is needed",
            cure="install a newer Python or SQLite",
        )


def check_file(path: Path) -> None:
    """Refuses what is not a whole database of ours and of this user, by its header and size alone.

    Looking before SQLite does, because SQLite takes an empty file for a new database.
    """
    where = str(path)
    # In place of the database, or of what SQLite keeps beside it, may lie a pipe, a folder or a device.
    look(path, "the database", cure=_RESTORE)
    for suffix in _BESIDE:
        look(path.with_name(path.name + suffix), "this part of the database", cure=_RESTORE)
    try:
        state = path.stat()
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError as error:
        raise StoreUnusable(
            f"the database cannot be read ({error.strerror})", where=where, cure="check the file and its permissions"
        ) from error
    if hasattr(os, "geteuid") and state.st_uid != os.geteuid():
        raise StoreUnusable(
            "the database belongs to another user", where=where, cure="run as its owner, or choose another home"
        )
    if not header.startswith(_MAGIC) or len(header) < _HEADER:
        fault = "the database is empty" if not header else "the database is damaged or not a database at all"
        raise StoreUnusable(fault, where=where, cure=_RESTORE)
    # In this order: a checkpoint that another process ends meanwhile has made the file as long as its header says.
    if not _has_log(path) and path.stat().st_size < _promised_size(header):
        raise StoreUnusable("the database is cut short", where=where, cure=_RESTORE)
    # Asked here because SQLite would open a read-only file without a word and fail at the first write.
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        raise StoreUnusable("the database cannot be written", where=where, cure="make the file and its folder writable")
    if os.name == "posix" and stat.S_IMODE(state.st_mode) != PRIVATE:
        path.chmod(PRIVATE)


def connect(
    path: Path, *, synchronous: Synchronous = "FULL", wait: float = 30.0, writable: bool = True
) -> sqlite3.Connection:
    """A connection to a file that exists; `wait` is in seconds, for a lock held by another connection."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=wait,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENTS,
    )
    try:
        of_writer = (f"synchronous = {synchronous}", "secure_delete = ON", f"journal_size_limit = {_WAL_KEPT}")
        for pragma in (*_PRAGMAS, *(of_writer if writable else ("query_only = ON",))):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        # The mode stays in the file, but a copy made by other means may have lost it.
        if writable and connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            connection.execute("PRAGMA journal_mode = WAL")
    except BaseException:
        connection.close()
        raise
    return connection


def open_checked(path: Path, *, synchronous: Synchronous = "FULL") -> sqlite3.Connection:
    """A writable connection to a file that passed every check but its version's."""
    check_file(path)
    try:
        connection = connect(path, synchronous=synchronous)
    except sqlite3.Error as error:
        raise explain(error, path) or error from error
    except UnicodeDecodeError as error:  # SQLite quoted a broken schema in its complaint
        raise explain(undecodable(), path) or error from error
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    if owner != APPLICATION_ID:
        connection.close()
        raise StoreUnusable("the database belongs to another program", where=str(path), cure="choose another home")
    return connection


def _has_log(path: Path) -> bool:
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _promised_size(header: bytes) -> int:
    """Bytes by the header's own account: page size (1 means 65,536) times pages (sqlite.org/fileformat2, 1.3)."""
    page = int.from_bytes(header[16:18], "big")
    return (65_536 if page == 1 else page) * int.from_bytes(header[28:32], "big")


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


def migrate(connection: sqlite3.Connection, path: Path, steps: tuple[Migration, ...] | None = None) -> int:
    """Applies what is missing, in one transaction, and gives the version reached; any number may do so at once.

    The version is read again once the write lock is held: whoever waited for another's migration finds it done.
    """
    known = migrations() if steps is None else steps
    newest = known[-1].number if known else 0
    if _version(connection, newest, path) == newest:
        return newest
    with connection:  # commits, or rolls back
        connection.execute("BEGIN IMMEDIATE")
        version = _version(connection, newest, path)
        try:
            for step in known:
                if step.number > version:
                    for statement in _statements(step.sql):
                        connection.execute(statement)
        except sqlite3.OperationalError as error:
            if is_misfit(error):
                raise _misfit(version, path, str(error)) from error
            raise
        connection.execute(f"PRAGMA user_version = {newest}")
    return newest


def _statements(script: str) -> Iterator[str]:
    """One by one, each of which ends its line: the standard library's `executescript` would commit before the first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    yield statement


def _version(connection: sqlite3.Connection, newest: int, path: Path) -> int:
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
        cure=_RESTORE,
    )


def create(path: Path) -> None:
    """Makes the database at `path`, unless another process has by then.

    It is made under a draft name: no process ever sees an empty file that a crash could leave behind.
    """
    if _has_log(path):  # of a database that is lost
        raise StoreUnusable(
            "the database is missing, but its write-ahead log is still there", where=str(path), cure=_RESTORE
        )
    try:
        with draft_of(path) as draft:
            _build(draft)
            with contextlib.suppress(FileExistsError):
                publish_file(draft, path)
    except OSError as error:
        raise StoreUnusable(
            f"no database can be made here ({error.strerror})",
            where=str(path),
            cure="check that the folder exists, is writable and has space",
        ) from error
    except sqlite3.Error as error:
        raise explain(error, path) or error from error


def _build(draft: Path) -> None:
    connection = connect(draft, synchronous="OFF")  # no process sees the draft before it is synced and published
    try:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        migrate(connection, draft)
        # Closing would move the log into the file too, and say nothing when that fails.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.close()
    check_file(draft)
    faults = examine_file(draft)
    if faults:
        raise StoreUnusable(f"what the disk kept of a new database is damaged ({faults[0]})", cure="check the disk")
