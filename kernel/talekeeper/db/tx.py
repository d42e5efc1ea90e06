"""A transaction as the rooms above see it: portable SQL with `?` parameters, rows as tuples, nothing lazy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

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
