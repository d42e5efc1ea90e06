"""A transaction as the rooms above see it, and what SQLite's errors in one mean: what is wrong and what to do.

SQL is portable, with `?` parameters; rows are tuples, and nothing is lazy.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from talekeeper.errors import Busy, Conflict, ParameterError, StoreError, StoreUnusable

Row = tuple[Any, ...]


_QUOTED = 60  # characters of a text at fault that a sentence shows


class Tx:
    """Given to the function passed to `Database.read` or `Database.write`; refuses to work once that has ended."""

    __slots__ = ("_execute", "_executemany")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self._executemany = connection.executemany

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """All rows, fetched."""
        try:
            return self._execute(sql, params).fetchall()
        except UnicodeError as error:
            raise _of_text(error) from error

    def one(self, sql: str, params: Sequence[Any] = ()) -> Row | None:
        """The first row, or None."""
        try:
            row: Row | None = self._execute(sql, params).fetchone()
        except UnicodeError as error:
            raise _of_text(error) from error
        return row

    def run(self, sql: str, params: Sequence[Any] = ()) -> int:
        """Executes a change and gives the number of rows it touched."""
        try:
            return self._execute(sql, params).rowcount
        except UnicodeError as error:
            raise _of_text(error) from error

    def run_many(self, sql: str, params: Iterable[Sequence[Any]]) -> None:
        """Executes a change once for each parameter row."""
        try:
            self._executemany(sql, params)
        except UnicodeError as error:
            raise _of_text(error) from error

    def end(self) -> None:
        """Called by the database when the transaction is over."""
        self._execute = self._executemany = _ended


def _ended(*_: object) -> NoReturn:
    raise StoreError("a transaction was used after it had ended")


def _of_text(error: UnicodeError) -> Exception:
    """SQLite takes and gives UTF-8: the file has been damaged, or the caller named something that cannot exist."""
    if isinstance(error, UnicodeEncodeError):
        half = f"U+{ord(error.object[error.start]):04X}, at character {error.start + 1}"
        return ParameterError(
            repr(error.object[:_QUOTED]), f"holds half a surrogate pair, {half}", cure="write it as UTF-8"
        )
    return undecodable()


_PRIMARY = 0xFF  # extended result codes keep the primary code in their low byte
_UNDECODABLE = "Could not decode"
_OF_DAMAGE = ("no such table", "unsupported file format")  # what SQLite reports under its code for everything else
_RESTORE = "restore a backup, or ask 'talekeeper doctor' what can still be read"

_UNUSABLE: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_PERM: ("the database may not be accessed", "check the permissions of the file and its folder"),
    sqlite3.SQLITE_READONLY: ("the database cannot be written", "make the file and its folder writable"),
    sqlite3.SQLITE_IOERR: ("the disk reported an error while the database was used", "check the disk, then try again"),
    sqlite3.SQLITE_CORRUPT: ("the database is damaged", _RESTORE),
    sqlite3.SQLITE_NOTADB: ("the database is damaged or not a database at all", _RESTORE),
    sqlite3.SQLITE_FULL: ("the disk is full", "free some space and try again; what was saved before is safe"),
    sqlite3.SQLITE_CANTOPEN: ("the database cannot be opened", "check that its folder exists and is writable"),
}


def is_busy(error: sqlite3.Error) -> bool:
    """Whether the same transaction may succeed when it is run again."""
    return _code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is at fault."""
    return _code(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_misfit(error: sqlite3.Error) -> bool:
    """Whether a statement did not suit the tables that are there."""
    return _code(error) == sqlite3.SQLITE_ERROR


def explain(error: sqlite3.Error, path: Path) -> StoreError | None:
    """The error to raise instead, or None when it is a fault of ours and its traceback is wanted."""
    code = _code(error)
    if code in _UNUSABLE:
        what, cure = _UNUSABLE[code]
        return StoreUnusable(what, where=str(path), cure=cure)
    if code == sqlite3.SQLITE_ERROR and str(error).startswith(_OF_DAMAGE):
        return StoreUnusable(f"the database is damaged ({error})", where=str(path), cure=_RESTORE)
    if code == sqlite3.SQLITE_CONSTRAINT:
        return Conflict(f"the store refused a row that is already there or refers to nothing ({error})")
    if is_busy(error):
        return Busy(
            "another program has been writing the database for too long", where=str(path), cure="try again in a moment"
        )
    return None


def undecodable() -> sqlite3.DatabaseError:
    """For a text that is not UTF-8 or not JSON: only such is stored where it is read, so the file has changed since."""
    return sqlite3.DatabaseError(f"{_UNDECODABLE} what is stored")


def _code(error: sqlite3.Error) -> int:
    extended: int = getattr(error, "sqlite_errorcode", 0)
    if extended == sqlite3.SQLITE_IOERR_SHMSIZE:  # no room for the 32 KB beside the file that readers share
        return sqlite3.SQLITE_FULL
    code = extended & _PRIMARY
    # Python finds most such texts itself, and gives no code.
    return sqlite3.SQLITE_CORRUPT if not code and str(error).startswith(_UNDECODABLE) else code
