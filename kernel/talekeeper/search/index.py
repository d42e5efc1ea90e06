"""The index: written by story in its own transactions, read by whoever holds a snapshot."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from talekeeper.db import Tx
from talekeeper.search.passage import Query, Ranking
from talekeeper.search.storage import writing

if TYPE_CHECKING:
    from talekeeper.search.query.params import RankingParams
    from talekeeper.search.query.ranking import Searcher

_MEGABYTE = 1 << 20


class Index:
    """Keeps nothing but caches, so any number of them, in any number of processes, may serve one database.

    The three budgets are bytes. Threads may share one. What keeps an index in order, and what handles its vectors,
    needs no cache and stands beside it: `maintain_index`, `put_vectors` and others.
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
    part_for = staticmethod(writing.part_for)
    drop_part = staticmethod(writing.drop_part)
    add = staticmethod(writing.add)
    remove = staticmethod(writing.remove)

    def search(self, tx: Tx, query: Query) -> Ranking:
        """Ranks the passages in scope; the words of other scopes have no influence."""
        return self._searcher.search(tx, query)

    def holding(self, tx: Tx, query: Query) -> dict[str, int]:
        """How many of the passages in scope hold each term of the query's texts."""
        return self._searcher.holding(tx, query)

    @cached_property
    def _searcher(self) -> Searcher:
        from talekeeper.search.query.ranking import Searcher  # noqa: PLC0415 - brings numpy, which a write needs not

        return Searcher(*self._budgets, self._params)
