"""The index: written by story in its own transactions, read by whoever holds a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from talekeeper.db import Database, Row, Tx
from talekeeper.search.passage import Kind, Passage, Query, Ranking
from talekeeper.search.storage import writing

if TYPE_CHECKING:
    from talekeeper.search.query.params import RankingParams
    from talekeeper.search.query.ranking import Searcher
    from talekeeper.search.storage.inspection import Difference
    from talekeeper.search.storage.maintenance import Passages

_MEGABYTE = 1 << 20


class Index:
    """Keeps nothing but caches, so any number of them, in any number of processes, may serve one database.

    The three budgets are bytes. Threads may share one.
    """

    def __init__(
        self,
        *,
        part_budget: int = 96 * _MEGABYTE,
        posting_budget: int = 48 * _MEGABYTE,
        vector_budget: int = 256 * _MEGABYTE,
        params: RankingParams | None = None,
    ) -> None:
        self._budgets = part_budget, posting_budget, vector_budget
        self._params = params

    find_part = staticmethod(writing.find_part)
    add = staticmethod(writing.add)

    def part_for(self, tx: Tx, workspace: str, session: str, preset: str) -> int:
        """The partition of a scope, made if need be; '' where a scope has no such part."""
        part = writing.find_part(tx, workspace, session, preset)
        return writing.make_part(tx, workspace, session, preset) if part is None else part

    def remove(
        self,
        tx: Tx,
        part: int,
        *,
        kind: Kind,
        plugin: str,
        namespace: str,
        key: str,
        revision: int | None = None,
        forget: bool = False,
    ) -> int:
        """Removes all versions of a key, or one of them; gives how many were there.

        With `forget`, the next `maintain` wipes the words of all removed passages of the partition off the disk.
        """
        if forget:
            writing.demand_purge(tx, part)
        return writing.remove(tx, part, kind, plugin, namespace, key, revision)

    def drop_part(self, tx: Tx, part: int) -> None:
        """Removes a partition with all it holds."""
        from talekeeper.search.storage import segments  # noqa: PLC0415 - brings numpy

        segments.abandon(tx, part)
        writing.drop_part(tx, part)

    def search(self, tx: Tx, query: Query) -> Ranking:
        """Ranks the passages in scope; the words of other scopes have no influence."""
        return self._searcher.search(tx, query, self._params)

    def holding(self, tx: Tx, query: Query) -> dict[str, int]:
        """How many of the passages in scope hold each term of the query's texts."""
        return self._searcher.holding(tx, query, self._params)

    @cached_property
    def _searcher(self) -> Searcher:
        from talekeeper.search.query.ranking import Searcher  # noqa: PLC0415 - brings numpy, which a write needs not

        return Searcher(*self._budgets)

    # Vectors

    def space(self, tx: Tx, fingerprint: str) -> int | None:
        """The number of a space of vectors, None while nothing was written in it."""
        from talekeeper.search.vector import stored  # noqa: PLC0415 - brings numpy

        return stored.find_space(tx, fingerprint)

    def put_vectors(
        self, tx: Tx, part: int, fingerprint: str, found: Mapping[int, Sequence[float] | None]
    ) -> list[int]:
        """Keeps vectors by passage number, where the passage still is; gives these. Replaces those of other spaces.

        An empty one says that the passage has no text, None that its vector is kept elsewhere.
        """
        from talekeeper.search.vector import stored  # noqa: PLC0415 - brings numpy

        return stored.put(tx, stored.make_space(tx, fingerprint), part, found)

    def without_vectors(self, tx: Tx, part: int, fingerprint: str, after: int, limit: int) -> list[Row]:
        """The next passages that have no vector of the space: rows of number, plugin, namespace, key and revision."""
        from talekeeper.search.vector import stored  # noqa: PLC0415 - brings numpy

        return stored.missing(tx, stored.find_space(tx, fingerprint), part, after, limit)

    def has_vectors(self, tx: Tx, fingerprint: str, places: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        """Those of the places, partition and passage, that have been dealt with."""
        from talekeeper.search.vector import stored  # noqa: PLC0415 - brings numpy

        return stored.kept(tx, stored.find_space(tx, fingerprint), places)

    def count_vectors(self, tx: Tx, part: int, fingerprint: str) -> tuple[int, int]:
        """Passages of a partition, and those of them that have been dealt with."""
        from talekeeper.search.vector import stored  # noqa: PLC0415 - brings numpy

        return stored.counts(tx, stored.find_space(tx, fingerprint), part)

    # Keeping it in order

    def maintain(self, db: Database, *, part: int | None = None) -> None:
        """Flushes, merges, and wipes out what was forgotten, in short transactions of its own; between turns.

        Does what is due in all partitions, or in one. Cheap when nothing is.
        """
        from talekeeper.search.storage import maintenance  # noqa: PLC0415 - brings numpy

        maintenance.maintain(db, part)

    def purge(self, db: Database, part: int) -> None:
        """Rewrites segments until none holds a word of a removed passage."""
        from talekeeper.search.storage import maintenance  # noqa: PLC0415 - brings numpy

        maintenance.purge(db, part)

    def unpurged(self, tx: Tx, part: int) -> int:
        """How many removed passages still have their words in a segment; 0 after `purge`."""
        from talekeeper.search.storage import maintenance  # noqa: PLC0415 - brings numpy

        return maintenance.unpurged(tx, part)

    def unpurged_parts(self, tx: Tx) -> list[tuple[str, str, str]]:
        """Scopes (workspace, session, preset) with forgotten words still in a segment; empty after `maintain`."""
        from talekeeper.search.storage import maintenance  # noqa: PLC0415 - brings numpy

        return maintenance.unpurged_parts(tx)

    def stale(self, tx: Tx) -> list[int]:
        """Partitions with terms of another tokeniser than this code's, or made by half; `rebuild` them."""
        return writing.stale(tx)

    def rebuild(self, db: Database, part: int, passages: Passages) -> None:
        """Rebuilds a partition from what `passages` gives, batch by batch, while searches and writes go on.

        Killed at any moment, it leaves every passage findable once, by its old terms or its new. A partition that
        cannot be read is renewed.
        """
        from talekeeper.search.storage import maintenance  # noqa: PLC0415 - brings numpy

        maintenance.rebuild(db, part, passages)

    def renew(self, db: Database, part: int, passages: Passages) -> None:
        """As `rebuild`, for a partition that is wrong: nothing it holds is read or kept.

        Searches find what is there again already; killed before the end, it leaves the partition `stale`.
        """
        from talekeeper.search.storage import maintenance  # noqa: PLC0415 - brings numpy

        maintenance.renew(db, part, passages)

    def check(self, tx: Tx, part: int, expected: Iterable[Passage]) -> list[Difference]:
        """What the partition has otherwise than `expected`, which lists all its passages; empty when all is right."""
        from talekeeper.search.storage import inspection  # noqa: PLC0415 - brings numpy

        return inspection.check(tx, part, expected)
