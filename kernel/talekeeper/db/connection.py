"""What this room uses of an sqlite-utils `Database`, with the types spelled out."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Protocol


class Connection(Protocol):
    """One connection; sqlite-utils is imported only where one is made, because it brings numpy with it."""

    @property
    def conn(self) -> sqlite3.Connection:
        """The connection of the standard library underneath."""
        ...

    def execute(self, sql: str, parameters: Sequence[object] | None = None) -> sqlite3.Cursor:
        """Executes one statement."""
        ...

    def executescript(self, sql: str) -> sqlite3.Cursor:
        """Executes many; inside a transaction they are part of it, where the standard library would commit first."""
        ...

    def rollback(self) -> None:
        """Rolls back; does nothing outside a transaction."""
        ...

    def close(self) -> None:
        """Closes."""
        ...
