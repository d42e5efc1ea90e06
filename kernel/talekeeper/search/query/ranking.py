"""One query from caches to `Ranking`: what it needs is read, every wording ranks every kind, the lists become one.

Fusing, merging and folding lists work on anything hashable; they know nothing of passages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from talekeeper.db import Tx
from talekeeper.search.passage import Kind, LeftOut, Query, Ranked, Ranking
from talekeeper.search.query.bm25 import Statistics
from talekeeper.search.query.candidates import Candidates, Field, Place, find_candidates, order, take_statistics
from talekeeper.search.query.explain import Hits, Names
from talekeeper.search.query.neighbours import rescore
from talekeeper.search.query.params import RANK_DAMPING, STANDARD, RankingParams
from talekeeper.search.query.postings import PostingCache, Postings, fetch, narrow
from talekeeper.search.query.scope import Scope, left_out, scope_of
from talekeeper.search.storage.columns import Singles
from talekeeper.search.storage.partition import PartCache, PartState

if TYPE_CHECKING:  # a search by words alone loads nothing of search by meaning
    from talekeeper.search.vector.stored import Matrix, MatrixCache

_KINDS = tuple(Kind)
_WIDENINGS = (1, 4, 16)
"""Lists are made this many times as long, one after the other, while identical texts leave too few."""
_BY_MEANING = 100
"""Shortest list of a query by meaning: with a shorter one, what meaning raises would be missing from it."""


class Wording(NamedTuple):
    """What one text of a query looks for; `everyday` words count in the second stage only.

    `paired` are the characters to ask for where no pair of theirs is in scope. `vector` is what it means, where that
    is known.
    """

    terms: tuple[str, ...]
    everyday: tuple[str, ...]
    paired: Paired
    vector: Singles | None


@dataclass(frozen=True, slots=True)
class FetchedQuery:
    """A query with all that was read for it; states, scopes and postings stand in the order of its partitions."""

    query: Query
    wordings: Sequence[Wording]
    terms: Sequence[str]
    """Those that the postings are of, each once."""
    states: Sequence[PartState]
    scopes: Sequence[Scope]
    postings: Sequence[Postings]
    params: RankingParams
    names: Names
    matrices: Sequence[Matrix] = ()
    """The vectors of each partition, where meaning is asked."""

    def fields(self, kind: Kind) -> list[Field]:
        """What each partition has of a kind; numbered as the partitions."""
        return [
            Field(number, state, scope, kind, narrow(held, scope, kind))
            for number, (state, scope, held) in enumerate(zip(self.states, self.scopes, self.postings, strict=True))
        ]


def _answer(asked: FetchedQuery) -> tuple[Ranked, ...]:
    """At most `query.depth` hits, best first."""
    fields = {kind: asked.fields(kind) for kind in _KINDS if any(scope.counts[kind] for scope in asked.scopes)}
    hits: tuple[Ranked, ...] = ()
    for times in _WIDENINGS:
        width = max(asked.query.depth, _shortest(asked)) * times
        lists = {kind: _lists(asked, kind, held, width) for kind, held in fields.items()}
        hits = _one_list(asked, lists)
        if len(hits) >= asked.query.depth or all(len(found) < width for group in lists.values() for found in group):
            break
    return hits


def _shortest(asked: FetchedQuery) -> int:
    """How long lists are however few are asked for, so that neither a score nor an order depends on that."""
    if asked.matrices:
        return _BY_MEANING
    return asked.params.best if asked.query.neighbours else 1


def _all_terms(wordings: Sequence[Wording]) -> list[str]:
    """Each term once."""
    first = [term for wording in wordings for term in wording.terms]
    return list(dict.fromkeys([*first, *(term for wording in wordings for term in wording.everyday)]))


def _backoff_characters(asked: FetchedQuery) -> tuple[str, ...]:
    """The characters to ask for besides, by what the passages of each kind in scope hold."""
    paired = [wording.paired for wording in asked.wordings if wording.paired]
    if not paired:
        return ()
    kinds = [kind for kind in _KINDS if any(scope.counts[kind] for scope in asked.scopes)]
    held = [take_statistics(asked.fields(kind), kind, asked.terms, asked.params).df for kind in kinds]
    return tuple(dict.fromkeys(character for df in held for one in paired for character in unheld_characters(one, df)))


def _lists(asked: FetchedQuery, kind: Kind, fields: Sequence[Field], width: int) -> list[Candidates]:
    """The best of a kind for each wording."""
    rescores, keys_of = kind is Kind.MESSAGE and asked.query.neighbours, asked.names.order_keys
    every = take_statistics(fields, kind, asked.terms, asked.params)
    lists: list[Candidates] = []
    for wording in asked.wordings:
        terms, statistics = _with_backoff(wording, every, asked.params)
        found = order(find_candidates(fields, terms, statistics, width), fields, width, keys_of)
        if rescores and len(found):
            found = found.widened(wording.everyday, asked.params.everyday)
            found = order(rescore(found, fields, asked.params), fields, width, keys_of)
        lists.append(_by_meaning_too(asked, found, fields, wording, width))
    return lists


def _with_backoff(
    wording: Wording, statistics: Statistics, params: RankingParams
) -> tuple[tuple[str, ...], Statistics]:
    """A wording's terms, with characters of pairs that no passage holds; statistics in which these weigh less."""
    if not wording.paired:
        return wording.terms, statistics
    besides = selective(unheld_characters(wording.paired, statistics.df), statistics, params.backoff_share)
    return (*wording.terms, *besides), statistics.lighter(besides, params.backoff)


def _by_meaning_too(
    asked: FetchedQuery, found: Candidates, fields: Sequence[Field], wording: Wording, width: int
) -> Candidates:
    """The list as it is where the wording has no vector or passages have none."""
    if wording.vector is None:
        return found
    from talekeeper.search.vector.hybrid import blend  # noqa: PLC0415 - see above
    from talekeeper.search.vector.scores import meaning_scores  # noqa: PLC0415 - see above

    listed = [found.position[found.field == field.number] for field in fields]
    measured = meaning_scores(fields, asked.matrices, wording.vector, listed, width, asked.params)
    return found if measured is None else blend(found, fields, measured, width, asked.params, asked.names.order_keys)


def _one_list(asked: FetchedQuery, lists: Mapping[Kind, Sequence[Candidates]]) -> tuple[Ranked, ...]:
    names = asked.names
    hits = Hits(names, lists.values())
    merged = merge([_fused(asked, hits, group) for group in lists.values()], lambda place: -hits.coverage(place))
    named = names.of(merged)
    folded: Mapping[Place, Sequence[Place]] = {}  # as usual, where no two texts are the same
    if asked.params.fold and len({named[place][1] for place in merged}) < len(merged):
        folded = fold(merged, lambda place: (place[0], names.source(place), named[place][1]))
    best = list(folded or merged)[: asked.query.depth]
    return tuple([hits.ranked(place, folded.get(place, ()), explain=asked.query.explain) for place in best])


def _fused(asked: FetchedQuery, hits: Hits, lists: Sequence[Candidates]) -> list[Place]:
    """What the wordings found, as one list; of equals, the better scored, then the usual order of ties."""
    places = [found.places for found in lists]
    if len(places) == 1:
        return places[0]
    keys = asked.names.order_keys(list(dict.fromkeys(place for found in places for place in found)))
    return fuse(
        places, lambda place: (-hits.score(place), *hits.among_equals(place), keys[place]), asked.params.damping
    )


H = TypeVar("H", bound=Hashable)


def fuse(lists: Sequence[Sequence[H]], tie: Callable[[H], Any], damping: int = RANK_DAMPING) -> list[H]:
    """Lists of answers to one question in several wordings, by 1 / (damping + rank); the lower `tie` goes first."""
    if len(lists) == 1:
        return list(lists[0])
    gained: dict[H, float] = defaultdict(float)
    for ranked in lists:
        for rank, hit in enumerate(ranked, start=1):
            gained[hit] += 1 / (damping + rank)
    return sorted(sorted(gained, key=tie), key=gained.__getitem__, reverse=True)


def merge(lists: Sequence[Sequence[H]], tie: Callable[[H], Any]) -> list[H]:
    """Lists that have nothing in common, by rank: all firsts, then all seconds; the lower `tie` goes first."""
    if len(lists) == 1:
        return list(lists[0])
    merged: list[H] = []
    for rank in range(max(map(len, lists), default=0)):
        merged.extend(sorted((ranked[rank] for ranked in lists if rank < len(ranked)), key=tie))
    return merged


def fold(ranked: Iterable[H], same: Callable[[H], Hashable]) -> dict[H, list[H]]:
    """Each first of its equals, in order, with those that came after it."""
    first: dict[Hashable, H] = {}
    folded: dict[H, list[H]] = {}
    for hit in ranked:
        kept = first.setdefault(same(hit), hit)
        if kept is hit:
            folded[hit] = []
        else:
            folded[kept].append(hit)
    return folded


# A pair of characters that is not in scope tells of no passage, though one of its characters may: 狗 where 遛狗 is
# asked and 我有一条狗 was said. A character of which no asked pair is in scope is asked for by itself, at a fifth of
# its idf, where at most a quarter of the passages hold it (Katz's back-off from a bigram never seen to its parts, IEEE
# Transactions on ASSP 35, 1987). Worth .14 in R@10 where people say much in one character (dulemon), .01 in other
# Chinese; one set loses .003 in MRR.
Paired = Mapping[str, Sequence[str]]
"""Character → the pairs asked for that hold it."""


def unheld_characters(paired: Paired, df: Mapping[str, int]) -> list[str]:
    """The characters of which no pair is in any passage; `df` is that of the pairs."""
    return [character for character, pairs in paired.items() if not any(df[pair] for pair in pairs)]


def selective(characters: Sequence[str], statistics: Statistics, share: float) -> tuple[str, ...]:
    """Those that some passage holds, and no more of them than `share` of all, or one."""
    most = max(1, share * statistics.total)
    return tuple(character for character in characters if 0 < statistics.df[character] <= most)


class Searcher:
    """The caches of an `Index`; the three budgets are bytes."""

    def __init__(self, parts: int, postings: int, vectors: int, params: RankingParams | None) -> None:
        self._parts = PartCache(parts)
        self._postings = PostingCache(postings)
        self._params = params or STANDARD
        self._vector_budget = vectors

    @cached_property
    def _matrices(self) -> MatrixCache:
        from talekeeper.search.vector.stored import MatrixCache  # noqa: PLC0415 - see above

        return MatrixCache(self._vector_budget)

    def search(self, tx: Tx, query: Query) -> Ranking:
        """Ranks the passages in scope; the words of other scopes have no influence."""
        states, scopes = self._in_scope(tx, query)
        searched = sum(sum(scope.counts) for scope in scopes)
        rescores = query.neighbours and any(scope.counts[Kind.MESSAGE] for scope in scopes)
        wordings = _wordings(query, self._params, everyday=rescores)
        if not (searched and wordings and query.depth > 0):
            return Ranking((), searched, left_out=_left_out(query, states, scopes))
        terms = _all_terms(wordings)
        postings = fetch(tx, self._postings, states, terms)
        matrices = self._matrices_of(tx, query, states)
        asked = FetchedQuery(
            query, wordings, terms, states, scopes, postings, self._params, Names(tx, states), matrices
        )
        if characters := _backoff_characters(asked):
            terms = list(dict.fromkeys([*terms, *characters]))
            asked = replace(asked, terms=terms, postings=fetch(tx, self._postings, states, terms))
        return Ranking(_answer(asked), searched, _compared(states, scopes, matrices), _left_out(query, states, scopes))

    def holding(self, tx: Tx, query: Query) -> dict[str, int]:
        """How many of the passages in scope hold each term of the query's texts."""
        states, scopes = self._in_scope(tx, query)
        wordings = _wordings(query, self._params)
        terms = _all_terms(wordings)
        postings = fetch(tx, self._postings, states, terms)
        found = [
            narrow(held, scope, kind).df() for kind in _KINDS for held, scope in zip(postings, scopes, strict=True)
        ]
        return {term: sum(held[term] for held in found) for term in terms}

    def _in_scope(self, tx: Tx, query: Query) -> tuple[list[PartState], list[Scope]]:
        """Of each partition of the query that exists, its state and what the query may see of it."""
        held = self._parts.load(tx, [scope.part for scope in query.parts])
        present = [(held[scope.part], scope) for scope in query.parts if scope.part in held]
        scopes = [scope_of(state, query, scope) for state, scope in present]
        return [state for state, _ in present], scopes

    def _matrices_of(self, tx: Tx, query: Query, states: Sequence[PartState]) -> tuple[Matrix, ...]:
        """The vectors of each partition that are as long as the question's; none at all where meaning is not asked."""
        if query.meaning is None:
            return ()
        from talekeeper.search.vector.stored import NO_VECTORS  # noqa: PLC0415 - see above

        meaning = query.meaning
        lengths = {len(vector) for vector in meaning.vectors.values()}
        held = [self._matrices.load(tx, state.row.id, meaning.space, meaning.elsewhere) for state in states]
        return tuple(matrix if matrix.rows.shape[1] in lengths else NO_VECTORS for matrix in held)


def _compared(states: Sequence[PartState], scopes: Sequence[Scope], matrices: Sequence[Matrix]) -> int:
    """How many passages in scope have a vector to compare; 0 where meaning is not asked."""
    if not matrices:
        return 0
    from talekeeper.search.vector.scores import compared  # noqa: PLC0415 - see above

    return compared(states, scopes, matrices)


def _left_out(query: Query, states: Sequence[PartState], scopes: Sequence[Scope]) -> LeftOut | None:
    """Summed over the partitions; None where no explanation was asked."""
    if not query.explain:
        return None
    parts = {part.part: part for part in query.parts}
    found = [left_out(state, query, parts[state.row.id], scope) for state, scope in zip(states, scopes, strict=True)]
    return LeftOut(
        sum(one.lineage for one in found), sum(one.turns for one in found), sum(one.running for one in found)
    )


def _wordings(query: Query, params: RankingParams, *, everyday: bool = False) -> list[Wording]:
    """One of each text, without texts that have no terms or the same as another."""
    texts = {terms: text for text in reversed(query.texts) if (terms := params.query_terms(text))}
    meant = _unit_vectors(query)
    return [
        Wording(
            terms,
            params.everyday_terms(text) if everyday else (),
            params.paired_characters(text, terms) if query.backs_off else {},
            meant.get(text),
        )
        for terms, text in reversed(texts.items())
    ]


def _unit_vectors(query: Query) -> dict[str, Singles]:
    """By text, what the texts of the query mean, each vector of length 1."""
    if query.meaning is None:
        return {}
    from talekeeper.search.vector.stored import unit  # noqa: PLC0415 - see above

    return {text: unit(vector) for text, vector in query.meaning.vectors.items()}
