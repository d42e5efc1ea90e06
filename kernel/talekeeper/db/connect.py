"""Opens connections to an existing database file and refuses, with a reason, one that must not be used."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from typing import Literal, cast

from talekeeper.db.connection import Connection
from talekeeper.db.faults import explain, undecodable
from talekeeper.db.regular import PRIVATE, look
from talekeeper.errors import StoreUnusable

Synchronous = Literal["FULL", "NORMAL", "OFF"]

APPLICATION_ID = 0x54616C65  # "Tale", in the file's header: tells our databases from other programs'
OLDEST_SQLITE = (3, 38, 0)
_HEADER = 100
_MAGIC = b"SQLite format 3\0"
_WAL_KEPT = 64 * 1024 * 1024  # bytes; a longer write-ahead log is cut back to this after a checkpoint
_STATEMENTS = 256
_BESIDE = ("-wal", "-shm", "-journal")
_RESTORE = "restore a backup, or move the file away to begin anew"


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
    _check_kinds(path)
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


def _check_kinds(path: Path) -> None:
    """Refuses a pipe, a folder or a device in place of the database or of what SQLite keeps beside it."""
    look(path, "the database", cure=_RESTORE)
    for suffix in _BESIDE:
        look(path.with_name(path.name + suffix), "this part of the database", cure=_RESTORE)


def check_absent(path: Path) -> None:
    """Refuses to make a new database where the log of a lost one still lies."""
    if _has_log(path):
        raise StoreUnusable(
            "the database is missing, but its write-ahead log is still there", where=str(path), cure=_RESTORE
        )


def connect(path: Path, *, synchronous: Synchronous = "FULL", wait: float = 30.0, writable: bool = True) -> Connection:
    """A connection to a file that exists; `wait` is in seconds, for a lock held by another connection."""
    from sqlite_utils import Database as SqliteUtils  # noqa: PLC0415 -- brings numpy; only who opens a database pays

    raw = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=wait,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENTS,
    )
    try:
        connection = cast("Connection", SqliteUtils(raw, execute_plugins=False))
        for pragma in _pragmas(synchronous, writable=writable):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        # The mode stays in the file, but a copy made by other means may have lost it.
        if writable and connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            connection.execute("PRAGMA journal_mode = WAL")
    except BaseException:
        raw.close()
        raise
    return connection


def open_checked(path: Path, *, synchronous: Synchronous = "FULL") -> Connection:
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


def _pragmas(synchronous: Synchronous, *, writable: bool) -> list[str]:
    shared = ["foreign_keys = ON", "trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY"]
    if not writable:
        return [*shared, "query_only = ON"]
    return [
        *shared,
        f"synchronous = {synchronous}",
        "secure_delete = ON",
        f"journal_size_limit = {_WAL_KEPT}",
    ]


def _has_log(path: Path) -> bool:
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _promised_size(header: bytes) -> int:
    """Bytes by the header's own account: page size (1 stands for 65,536) times pages (sqlite.org/fileformat2, 1.3)."""
    page = int.from_bytes(header[16:18], "big")
    return (65_536 if page == 1 else page) * int.from_bytes(header[28:32], "big")
