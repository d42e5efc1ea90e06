"""The front of the store: its parts, and transactions for several of their calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from talekeeper.clock import Clock
from talekeeper.db import Database, Tx
from talekeeper.ids import Ids
from talekeeper.story.core import Core
from talekeeper.story.coverage import Coverage
from talekeeper.story.indexing import StoryIndex
from talekeeper.story.jobs import Jobs
from talekeeper.story.messages import Messages
from talekeeper.story.records import Records
from talekeeper.story.sessions import Sessions, Workspaces
from talekeeper.story.tree import Tree
from talekeeper.story.turn_log import TurnLog
from talekeeper.story.vectors import Vectors

if TYPE_CHECKING:
    from talekeeper.search import Index

T = TypeVar("T")


class Story:
    """Everything kept about workspaces, in one database; threads may share it.

    Every method of its parts takes part in the caller's transaction when `tx` is given, and opens its own otherwise.
    """

    def __init__(self, db: Database, index: Index | Callable[[], Index], clock: Clock, ids: Ids) -> None:
        core = Core(db, index if callable(index) else lambda: index, clock, ids)
        self._db = db
        self.index = StoryIndex(core)
        self.workspaces = Workspaces(core, self.index)
        self.sessions = Sessions(core, self.index)
        self.messages = Messages(core)
        self.tree = Tree(core)
        self.records = Records(core)
        self.jobs = Jobs(core)
        self.coverage = Coverage(core)
        self.turn_log = TurnLog(core)
        self.vectors = Vectors(core)

    def write(self, fn: Callable[[Tx], T], *, name: str) -> T:
        """One transaction for several calls, each given its `tx`."""
        return self._db.write(fn, name=name)

    def read(self, fn: Callable[[Tx], T]) -> T:
        """One snapshot for several calls, each given its `tx`."""
        return self._db.read(fn)

    def settle(self) -> None:
        """Before closing: maintains the index, and moves forgotten words out of the write-ahead log too."""
        self.index.maintain()
        self._db.checkpoint()
