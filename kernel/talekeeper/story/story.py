"""The front of the store: its parts, and transactions for several of their calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from talekeeper.clock import Clock
from talekeeper.db import Database, Tx
from talekeeper.ids import Ids
from talekeeper.story.core import Core
from talekeeper.story.jobs import Coverage, Jobs
from talekeeper.story.sessions import Sessions, Workspaces
from talekeeper.story.turn_log import TurnLog
from talekeeper.story.upkeep import is_due

if TYPE_CHECKING:
    from talekeeper.search import Index
    from talekeeper.story.indexing.index import StoryIndex
    from talekeeper.story.indexing.vectors import Vectors
    from talekeeper.story.messages.messages import Messages
    from talekeeper.story.messages.tree import Tree
    from talekeeper.story.records.records import Records

T = TypeVar("T")


class Story:
    """Everything kept about workspaces, in one database; threads may share it.

    Every method of its parts takes part in the caller's transaction when `tx` is given, and opens its own otherwise.
    """

    def __init__(self, db: Database, index: Index | Callable[[], Index], clock: Clock, ids: Ids) -> None:
        self._core = core = Core(db, index if callable(index) else lambda: index, clock, ids)
        self._db = db
        self.workspaces = Workspaces(core, self._maintain)
        self.sessions = Sessions(core, self._maintain)
        self.jobs = Jobs(core)
        self.coverage = Coverage(core)
        self.turn_log = TurnLog(core)

    # Parts that make passages load the search's room and the tokeniser, which a listing of sessions does not need.

    @cached_property
    def messages(self) -> Messages:
        """Adding, reading and changing messages."""
        from talekeeper.story.messages.messages import Messages  # noqa: PLC0415 - see above

        return Messages(self._core)

    @cached_property
    def tree(self) -> Tree:
        """Moving about among the branches of a session."""
        from talekeeper.story.messages.tree import Tree  # noqa: PLC0415 - see above

        return Tree(self._core)

    @cached_property
    def records(self) -> Records:
        """The records of plugins."""
        from talekeeper.story.records.records import Records  # noqa: PLC0415 - see above

        return Records(self._core)

    @cached_property
    def index(self) -> StoryIndex:
        """What each workspace declares for the index, and the maintenance of the index."""
        from talekeeper.story.indexing.index import StoryIndex  # noqa: PLC0415 - see above

        return StoryIndex(self._core)

    @cached_property
    def vectors(self) -> Vectors:
        """Passages that wait for a vector, and the vectors made of them."""
        from talekeeper.story.indexing.vectors import Vectors  # noqa: PLC0415 - see above

        return Vectors(self._core)

    def write(self, fn: Callable[[Tx], T], *, name: str) -> T:
        """One transaction for several calls, each given its `tx`."""
        return self._db.write(fn, name=name)

    def read(self, fn: Callable[[Tx], T]) -> T:
        """One snapshot for several calls, each given its `tx`."""
        return self._db.read(fn)

    def settle(self, *, searched: bool = True) -> None:
        """Before closing: maintains the index if it is due, and moves forgotten words out of the write-ahead log too.

        A process that only read leaves the index as it is; one that has `searched` looks for what an older version's
        tokeniser wrote.
        """
        if self._db.has_written or self._db.read(is_due) or (searched and self.index.is_stale()):
            self.index.maintain()
        self._db.checkpoint()

    def _maintain(self) -> None:
        self.index.maintain()
