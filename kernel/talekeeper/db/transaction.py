"""A transaction as the rooms above see it: portable SQL with `?` parameters, rows as tuples, nothing lazy."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, Protocol

from talekeeper.db.sqlite_errors import undecodable
from talekeeper.errors import ParameterError, StoreError

Row = tuple[Any, ...]


class Tx(Protocol):
    """Given to the function passed to `Database.read` or `Database.write`, and valid only inside it."""

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """All rows, fetched."""
        ...

    def one(self, sql: str, params: Sequence[Any] = ()) -> Row | None:
        """The first row, or None."""
        ...

    def run(self, sql: str, params: Sequence[Any] = ()) -> int:
        """Executes a change and gives the number of rows it touched."""
        ...

    def run_many(self, sql: str, params: Iterable[Sequence[Any]]) -> None:
        """Executes a change once for each parameter row."""
        ...


_QUOTED = 60  # characters of a text at fault that a sentence shows


class SqliteTx:
    """Gives rows as tuples and nothing lazy; refuses to work once its transaction has ended."""

    __slots__ = ("_execute", "_executemany")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self._executemany = connection.executemany

    def rows(self, sql: str, params: Sequence[object] = ()) -> list[Row]:
        """All rows, fetched."""
        try:
            return self._execute(sql, params).fetchall()
        except UnicodeError as error:
            raise _of_text(error) from error

    def one(self, sql: str, params: Sequence[object] = ()) -> Row | None:
        """The first row, or None."""
        try:
            row: Row | None = self._execute(sql, params).fetchone()
        except UnicodeError as error:
            raise _of_text(error) from error
        return row

    def run(self, sql: str, params: Sequence[object] = ()) -> int:
        """Executes a change and gives the number of rows it touched."""
        try:
            return self._execute(sql, params).rowcount
        except UnicodeError as error:
            raise _of_text(error) from error

    def run_many(self, sql: str, params: Iterable[Sequence[object]]) -> None:
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
    """SQLite takes and gives UTF-8: the file has been damaged, or a name was asked for that nothing can have."""
    if isinstance(error, UnicodeEncodeError):
        half = f"U+{ord(error.object[error.start]):04X}, at character {error.start + 1}"
        return ParameterError(
            repr(error.object[:_QUOTED]), f"holds half a surrogate pair, {half}", cure="write it as UTF-8"
        )
    return undecodable()
