"""The index: written by story in its own transactions, read by whoever holds a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from talekeeper.db import Database, Row, Tx
from talekeeper.search.passage import Kind, LeftOut, Passage, Query, Ranking
from talekeeper.search.query.explain import Names
from talekeeper.search.query.params import STANDARD, RankingParams
from talekeeper.search.query.postings import PostingCache, fetch
from talekeeper.search.query.ranking import FetchedQuery, Wording, all_terms, answer, backoff_characters
from talekeeper.search.query.scope import Scope, left_out, scope_key, scope_of
from talekeeper.search.storage import inspection, maintenance, segments, writing
from talekeeper.search.storage.inspection import Difference
from talekeeper.search.storage.maintenance import Passages
from talekeeper.search.storage.partition import PartCache, PartState
from talekeeper.search.vector import stored
from talekeeper.search.vector.matrix import NO_VECTORS, Matrix, MatrixCache
from talekeeper.search.vector.scores import compared
from talekeeper.search.vector.stored import unit

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
        params: RankingParams = STANDARD,
    ) -> None:
        self._parts = PartCache(part_budget)
        self._postings = PostingCache(posting_budget)
        self._matrices = MatrixCache(vector_budget)
        self._params = params

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
        segments.abandon(tx, part)
        writing.drop_part(tx, part)

    def search(self, tx: Tx, query: Query) -> Ranking:
        """Ranks the passages in scope; the words of other scopes have no influence."""
        states, scopes = self._in_scope(tx, query)
        searched = sum(sum(scope.counts) for scope in scopes)
        rescores = query.neighbours and any(scope.counts[Kind.MESSAGE] for scope in scopes)
        wordings = _wordings(query, self._params, everyday=rescores)
        if not (searched and wordings and query.depth > 0):
            return Ranking((), searched, left_out=_left_out(query, states, scopes))
        terms = all_terms(wordings)
        postings = fetch(tx, self._postings, states, terms)
        matrices = self._matrices_of(tx, query, states)
        asked = FetchedQuery(query, wordings, terms, states, scopes, postings, self._params, matrices)
        if characters := backoff_characters(asked):
            terms = list(dict.fromkeys([*terms, *characters]))
            asked = replace(asked, terms=terms, postings=fetch(tx, self._postings, states, terms))
        found = answer(asked, Names(tx, states))
        looked_at = compared(states, scopes, matrices) if matrices else 0
        return Ranking(found, searched, looked_at, _left_out(query, states, scopes))

    def holding(self, tx: Tx, query: Query) -> dict[str, int]:
        """How many of the passages in scope hold each term of the query's texts."""
        states, scopes = self._in_scope(tx, query)
        wordings = _wordings(query, self._params)
        terms = all_terms(wordings)
        postings = fetch(tx, self._postings, states, terms)
        asked = FetchedQuery(query, wordings, terms, states, scopes, postings, self._params)
        found = [field.postings.df() for kind in Kind for field in asked.fields(kind)]
        return {term: sum(held[term] for held in found) for term in terms}

    def _in_scope(self, tx: Tx, query: Query) -> tuple[list[PartState], list[Scope]]:
        """Of each partition of the query that exists, its state and what the query may see of it."""
        held = self._parts.load(tx, [scope.part for scope in query.parts])
        present = [(held[scope.part], scope) for scope in query.parts if scope.part in held]
        scopes = [scope_of(state, scope_key(query, scope)) for state, scope in present]
        return [state for state, _ in present], scopes

    def _matrices_of(self, tx: Tx, query: Query, states: Sequence[PartState]) -> tuple[Matrix, ...]:
        """The vectors of each partition that are as long as the question's; none at all where meaning is not asked."""
        if query.meaning is None:
            return ()
        meaning = query.meaning
        lengths = {len(vector) for vector in meaning.vectors.values()}
        held = [self._matrices.load(tx, state.row.id, meaning.space, meaning.elsewhere) for state in states]
        return tuple(matrix if matrix.rows.shape[1] in lengths else NO_VECTORS for matrix in held)

    # Vectors

    def space(self, tx: Tx, fingerprint: str) -> int | None:
        """The number of a space of vectors, None while nothing was written in it."""
        return stored.find_space(tx, fingerprint)

    def put_vectors(
        self, tx: Tx, part: int, fingerprint: str, found: Mapping[int, Sequence[float] | None]
    ) -> list[int]:
        """Keeps vectors by passage number, where the passage still is; gives these. Replaces those of other spaces.

        An empty one says that the passage has no text, None that its vector is kept elsewhere.
        """
        return stored.put(tx, stored.make_space(tx, fingerprint), part, found)

    def without_vectors(self, tx: Tx, part: int, fingerprint: str, after: int, limit: int) -> list[Row]:
        """The next passages that have no vector of the space: rows of number, plugin, namespace, key and revision."""
        return stored.missing(tx, stored.find_space(tx, fingerprint), part, after, limit)

    def has_vectors(self, tx: Tx, fingerprint: str, places: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        """Those of the places, partition and passage, that have been dealt with."""
        return stored.kept(tx, stored.find_space(tx, fingerprint), places)

    def count_vectors(self, tx: Tx, part: int, fingerprint: str) -> tuple[int, int]:
        """Passages of a partition, and those of them that have been dealt with."""
        return stored.counts(tx, stored.find_space(tx, fingerprint), part)

    # Keeping it in order

    def maintain(self, db: Database, *, part: int | None = None) -> None:
        """Flushes, merges, and wipes out what was forgotten, in short transactions of its own; between turns.

        Does what is due in all partitions, or in one. Cheap when nothing is.
        """
        maintenance.maintain(db, part)

    def purge(self, db: Database, part: int) -> None:
        """Rewrites segments until none holds a word of a removed passage."""
        maintenance.purge(db, part)

    def unpurged(self, tx: Tx, part: int) -> int:
        """How many removed passages still have their words in a segment; 0 after `purge`."""
        return maintenance.unpurged(tx, part)

    def unpurged_parts(self, tx: Tx) -> list[tuple[str, str, str]]:
        """Scopes (workspace, session, preset) with forgotten words still in a segment; empty after `maintain`."""
        return maintenance.unpurged_parts(tx)

    def stale(self, tx: Tx) -> list[int]:
        """Partitions with terms of another tokeniser than this code's, or made by half; `rebuild` them."""
        return maintenance.stale(tx)

    def rebuild(self, db: Database, part: int, passages: Passages) -> None:
        """Makes a partition anew from what `passages` gives, batch by batch, while searches and writes go on.

        Killed at any moment, it leaves every passage findable once, by its old terms or its new. A partition that
        cannot be read is renewed.
        """
        maintenance.rebuild(db, part, passages)

    def renew(self, db: Database, part: int, passages: Passages) -> None:
        """As `rebuild`, for a partition that is wrong: nothing it holds is read or kept.

        Searches find what is there again already; killed before the end, it leaves the partition `stale`.
        """
        maintenance.renew(db, part, passages)

    def check(self, tx: Tx, part: int, expected: Iterable[Passage]) -> list[Difference]:
        """What the partition has otherwise than `expected`, which lists all its passages; empty when all is right."""
        return inspection.check(tx, part, expected)


def _left_out(query: Query, states: Sequence[PartState], scopes: Sequence[Scope]) -> LeftOut | None:
    """Summed over the partitions; None where no explanation was asked."""
    if not query.explain:
        return None
    keys = {part.part: scope_key(query, part) for part in query.parts}
    found = [left_out(state, keys[state.row.id], scope) for state, scope in zip(states, scopes, strict=True)]
    return LeftOut(
        sum(one.lineage for one in found), sum(one.turns for one in found), sum(one.running for one in found)
    )


def _wordings(query: Query, params: RankingParams, *, everyday: bool = False) -> list[Wording]:
    """One of each text, without texts that have no terms or the same as another."""
    texts = {terms: text for text in reversed(query.texts) if (terms := params.query_terms(text))}
    meant: Mapping[str, Sequence[float]] = query.meaning.vectors if query.meaning else {}
    return [
        Wording(
            terms,
            params.everyday_terms(text) if everyday else (),
            params.paired_characters(text, terms) if query.backs_off else {},
            unit(meant[text]) if text in meant else None,
        )
        for terms, text in reversed(texts.items())
    ]
