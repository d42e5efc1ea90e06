"""What every module of story works with, passed in once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from talekeeper.clock import Clock, iso
from talekeeper.db import Database, Tx
from talekeeper.ids import Ids

if TYPE_CHECKING:
    from talekeeper.search import Index

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Core:
    """The database, the index that follows it, the time and the maker of keys."""

    db: Database
    open_index: Callable[[], Index]
    clock: Clock
    ids: Ids

    @property
    def index(self) -> Index:
        """Loaded at its first use: reading rows needs no index."""
        return self.open_index()

    def now(self) -> str:
        """The time in the form that is stored."""
        return iso(self.clock.now())

    def write(self, fn: Callable[[Tx], T], tx: Tx | None, name: str) -> T:
        """Runs `fn` in the caller's write transaction, or in one of its own."""
        return self.db.write(fn, name=name) if tx is None else fn(tx)

    def read(self, fn: Callable[[Tx], T], tx: Tx | None) -> T:
        """Runs `fn` in the caller's transaction, or on a snapshot of its own."""
        return self.db.read(fn) if tx is None else fn(tx)
