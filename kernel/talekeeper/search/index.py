"""The index: written by story in its own transactions, read by whoever holds a snapshot."""

from __future__ import annotations

from collections.abc import Sequence

from talekeeper.db import Tx
from talekeeper.search import writing
from talekeeper.search.answer import Answer
from talekeeper.search.fetching import PostingCache, fetch
from talekeeper.search.memory import PartCache
from talekeeper.search.passage import Kind, Passage, Query, Ranking
from talekeeper.search.scope import make_scope, wanted
from talekeeper.text import query_terms

_MEGABYTE = 1 << 20


class Index:
    """Keeps nothing but caches, so any number of them, in any number of processes, may serve one database.

    `part_budget` and `posting_budget` are bytes. Threads may share one.
    """

    def __init__(self, *, part_budget: int = 96 * _MEGABYTE, posting_budget: int = 64 * _MEGABYTE) -> None:
        self._parts = PartCache(part_budget)
        self._postings = PostingCache(posting_budget)

    def part_for(self, tx: Tx, workspace: str, session: str, preset: str) -> int:
        """The partition of a scope, made if need be; '' where a scope has no such part."""
        part = writing.find_part(tx, workspace, session, preset)
        return writing.make_part(tx, workspace, session, preset) if part is None else part

    def find_part(self, tx: Tx, workspace: str, session: str, preset: str) -> int | None:
        """The partition of a scope, None while it has none."""
        return writing.find_part(tx, workspace, session, preset)

    def add(self, tx: Tx, part: int, passage: Passage) -> int:
        """Adds a passage, found by every search from here on in this transaction and after its commit.

        Gives its number in the partition. Raises `NotFound` for a partition that does not exist.
        """
        return writing.add(tx, part, passage)

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
    ) -> int:
        """Removes all versions of a key, or one of them; gives how many were there."""
        return writing.remove(tx, part, kind, plugin, namespace, key, revision)

    def drop_part(self, tx: Tx, part: int) -> None:
        """Removes a partition with all it holds."""
        writing.drop_part(tx, part)

    def search(self, tx: Tx, query: Query) -> Ranking:
        """Ranks the passages in scope; the words of other scopes have no influence."""
        states = self._parts.load(tx, [scope.part for scope in query.parts])
        present = [scope for scope in query.parts if scope.part in states]
        loaded = [states[scope.part] for scope in present]
        scopes = [states[scope.part].scope(wanted(query, scope), make_scope) for scope in present]
        searched = sum(sum(scope.counts.values()) for scope in scopes)
        wordings = _wordings(query)
        if not (searched and wordings and query.depth > 0):
            return Ranking((), searched)
        terms = list(dict.fromkeys(term for wording in wordings for term in wording))
        chunks = fetch(tx, self._postings, loaded, terms)
        return Ranking(Answer(tx, query, wordings, loaded, scopes, chunks).hits(), searched)


def _wordings(query: Query) -> Sequence[tuple[str, ...]]:
    """The terms of each text, without texts that have none or the same as another."""
    return list(dict.fromkeys(terms for text in query.texts if (terms := query_terms(text))))
