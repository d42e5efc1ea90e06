"""What a search reads: states, postings and vectors of its partitions, from caches or the snapshot it is asked in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from talekeeper.db import Tx
from talekeeper.search.passage import Kind, LeftOut, Query, Ranking
from talekeeper.search.query.explain import Names
from talekeeper.search.query.params import STANDARD, RankingParams
from talekeeper.search.query.postings import PostingCache, fetch
from talekeeper.search.query.ranking import FetchedQuery, Wording, all_terms, answer, backoff_characters
from talekeeper.search.query.scope import Scope, left_out, scope_key, scope_of
from talekeeper.search.storage.partition import PartCache, PartState
from talekeeper.search.vector.matrix import NO_VECTORS, Matrix, MatrixCache
from talekeeper.search.vector.scores import compared
from talekeeper.search.vector.stored import unit


class Searcher:
    """The caches of an `Index`; the three budgets are bytes."""

    def __init__(self, parts: int, postings: int, vectors: int) -> None:
        self._parts = PartCache(parts)
        self._postings = PostingCache(postings)
        self._matrices = MatrixCache(vectors)

    def search(self, tx: Tx, query: Query, params: RankingParams | None) -> Ranking:
        """Ranks the passages in scope; the words of other scopes have no influence."""
        params = params or STANDARD
        states, scopes = self._in_scope(tx, query)
        searched = sum(sum(scope.counts) for scope in scopes)
        rescores = query.neighbours and any(scope.counts[Kind.MESSAGE] for scope in scopes)
        wordings = _wordings(query, params, everyday=rescores)
        if not (searched and wordings and query.depth > 0):
            return Ranking((), searched, left_out=_left_out(query, states, scopes))
        terms = all_terms(wordings)
        postings = fetch(tx, self._postings, states, terms)
        matrices = self._matrices_of(tx, query, states)
        asked = FetchedQuery(query, wordings, terms, states, scopes, postings, params, matrices)
        if characters := backoff_characters(asked):
            terms = list(dict.fromkeys([*terms, *characters]))
            asked = replace(asked, terms=terms, postings=fetch(tx, self._postings, states, terms))
        found = answer(asked, Names(tx, states))
        looked_at = compared(states, scopes, matrices) if matrices else 0
        return Ranking(found, searched, looked_at, _left_out(query, states, scopes))

    def holding(self, tx: Tx, query: Query, params: RankingParams | None) -> dict[str, int]:
        """How many of the passages in scope hold each term of the query's texts."""
        params = params or STANDARD
        states, scopes = self._in_scope(tx, query)
        wordings = _wordings(query, params)
        terms = all_terms(wordings)
        postings = fetch(tx, self._postings, states, terms)
        asked = FetchedQuery(query, wordings, terms, states, scopes, postings, params)
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
