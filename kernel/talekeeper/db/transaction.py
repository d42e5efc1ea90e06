"""`Tx` on SQLite: one open transaction of one connection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from talekeeper.db.connection import Connection
from talekeeper.db.faults import undecodable
from talekeeper.db.tx import Row
from talekeeper.errors import StoreError


class SqliteTx:
    """Gives rows as tuples and nothing lazy; refuses to work once its transaction has ended."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection: Connection | None = connection

    def rows(self, sql: str, params: Sequence[object] = ()) -> list[Row]:
        """All rows, fetched."""
        try:
            return self._open().execute(sql, params).fetchall()
        except UnicodeDecodeError as error:
            raise undecodable() from error

    def one(self, sql: str, params: Sequence[object] = ()) -> Row | None:
        """The first row, or None."""
        try:
            row: Row | None = self._open().execute(sql, params).fetchone()
        except UnicodeDecodeError as error:
            raise undecodable() from error
        return row

    def run(self, sql: str, params: Sequence[object] = ()) -> int:
        """Executes a change and gives the number of rows it touched."""
        return self._open().execute(sql, params).rowcount

    def run_many(self, sql: str, params: Iterable[Sequence[object]]) -> None:
        """Executes a change once for each parameter row."""
        self._open().conn.executemany(sql, params)

    def end(self) -> None:
        """Called by the database when the transaction is over."""
        self._connection = None

    def _open(self) -> Connection:
        if self._connection is None:
            raise StoreError("a transaction was used after it had ended")
        return self._connection
