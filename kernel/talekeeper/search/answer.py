"""One query from postings to `Ranking`: every wording ranks every kind, then the lists become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from talekeeper.search.arrays import Singles
from talekeeper.search.blending import blend
from talekeeper.search.bm25 import Statistics
from talekeeper.search.fusion import fold, fuse, merge
from talekeeper.search.hits import Hits
from talekeeper.search.matrix import Matrix
from talekeeper.search.meaning import standings
from talekeeper.search.names import Name, Names
from talekeeper.search.narrowing import narrow
from talekeeper.search.neighbours import rescore
from talekeeper.search.passage import Kind, Query, Ranked
from talekeeper.search.postings import Postings
from talekeeper.search.scope import Scope
from talekeeper.search.shortlist import Field, KeyOf, Place, Shortlist, order, shortlist, take_statistics
from talekeeper.search.state import PartState
from talekeeper.search.tuning import STANDARD, Tuning
from talekeeper.search.unsaid import Paired, selective, unsaid

_KINDS = tuple(Kind)
_WIDENINGS = (1, 4, 16)
"""Lists are made this many times as long, one after the other, while identical texts leave too few."""
_BY_MEANING = 100
"""Shortest list of a query by meaning: with a shorter one, what meaning raises would be missing from it."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What one text of a query looks for; `everyday` words count in the second stage only.

    `paired` are the characters to ask for where no pair of theirs is in scope. `vector` is what it means, where that
    is known.
    """

    terms: tuple[str, ...]
    everyday: tuple[str, ...] = ()
    paired: Paired = dataclass_field(default_factory=dict[str, tuple[str, ...]])
    vector: Singles | None = None


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
    tuning: Tuning = STANDARD
    matrices: Sequence[Matrix] = ()
    """The vectors of each partition, where meaning is asked."""

    def fields(self, kind: Kind) -> list[Field]:
        """What each partition has of a kind; numbered as the partitions."""
        return [
            Field(state, scope, kind, narrow(held, scope, kind))
            for state, scope, held in zip(self.states, self.scopes, self.postings, strict=True)
        ]


def answer(asked: FetchedQuery, names: Names) -> tuple[Ranked, ...]:
    """At most `query.depth` hits, best first."""
    fields = {kind: asked.fields(kind) for kind in _KINDS if any(scope.counts[kind] for scope in asked.scopes)}
    hits: tuple[Ranked, ...] = ()
    shortest = _shortest(asked)
    key_of = _order_of_equals(asked, names)
    for times in _WIDENINGS:
        width = max(asked.query.depth, shortest) * times
        lists = {kind: _lists(asked, kind, held, width, key_of) for kind, held in fields.items()}
        hits = _one_list(asked, lists, names)
        if len(hits) >= asked.query.depth or all(len(found) < width for group in lists.values() for found in group):
            break
    return hits


def _shortest(asked: FetchedQuery) -> int:
    """How long lists are however few are asked for, so that neither a score nor an order depends on that."""
    if asked.matrices:
        return _BY_MEANING
    return asked.tuning.best if asked.query.neighbours else 1


def all_terms(wordings: Sequence[Wording]) -> list[str]:
    """Each term once."""
    first = [term for wording in wordings for term in wording.terms]
    return list(dict.fromkeys([*first, *(term for wording in wordings for term in wording.everyday)]))


def unsaid_characters(asked: FetchedQuery) -> tuple[str, ...]:
    """The characters to ask for besides, by what the passages of each kind in scope hold."""
    paired = [wording.paired for wording in asked.wordings if wording.paired]
    if not paired:
        return ()
    kinds = [kind for kind in _KINDS if any(scope.counts[kind] for scope in asked.scopes)]
    held = [take_statistics(asked.fields(kind), kind, asked.terms, asked.tuning).df for kind in kinds]
    return tuple(dict.fromkeys(character for df in held for one in paired for character in unsaid(one, df)))


def _lists(asked: FetchedQuery, kind: Kind, fields: Sequence[Field], width: int, key_of: KeyOf) -> list[Shortlist]:
    """The best of a kind for each wording."""
    rescores = kind is Kind.MESSAGE and asked.query.neighbours
    every = take_statistics(fields, kind, asked.terms, asked.tuning)
    lists: list[Shortlist] = []
    for wording in asked.wordings:
        terms, statistics = _with_unsaid(wording, every, asked.tuning)
        found = order(shortlist(fields, terms, statistics, width), fields, width, key_of)
        if rescores and len(found):
            found = found.widened(wording.everyday, asked.tuning.everyday)
            found = order(rescore(found, fields, asked.tuning), fields, width, key_of)
        lists.append(_by_meaning_too(asked, found, fields, wording, width, key_of))
    return lists


def _with_unsaid(wording: Wording, statistics: Statistics, tuning: Tuning) -> tuple[tuple[str, ...], Statistics]:
    """A wording's terms with characters of pairs nobody has said, and statistics in which these weigh less."""
    if not wording.paired:
        return wording.terms, statistics
    besides = selective(unsaid(wording.paired, statistics.df), statistics, tuning.unsaid_share)
    return (*wording.terms, *besides), statistics.lighter(besides, tuning.unsaid)


def _by_meaning_too(
    asked: FetchedQuery, found: Shortlist, fields: Sequence[Field], wording: Wording, width: int, key_of: KeyOf
) -> Shortlist:
    """The list as it is where the wording has no vector or passages have none."""
    if wording.vector is None:
        return found
    listed = [found.position[found.field == number] for number in range(len(fields))]
    measured = standings(fields, asked.matrices, wording.vector, listed, width, asked.tuning)
    return found if measured is None else blend(found, fields, measured, width, asked.tuning, key_of)


def _order_of_equals(asked: FetchedQuery, names: Names) -> KeyOf:
    """Plugin, namespace and key: the order of passages that all else leaves equal, whatever their numbers are."""
    sources = [{number: source for source, number in state.sources.items()} for state in asked.states]

    def order_of(places: Sequence[Place]) -> Mapping[Place, tuple[str, str, str]]:
        known = names.of(places)
        order: dict[Place, tuple[str, str, str]] = {}
        for number, position in places:
            _, plugin, namespace = sources[number][asked.states[number].columns.source.item(position)]
            order[number, position] = plugin, namespace, known[number, position][0]
        return order

    return order_of


def _one_list(asked: FetchedQuery, lists: Mapping[Kind, Sequence[Shortlist]], names: Names) -> tuple[Ranked, ...]:
    hits = Hits(asked.states, lists.values())
    key_of = _order_of_equals(asked, names)
    ranked = [_fused(asked.tuning, hits, group, key_of) for group in lists.values()]
    merged = merge(ranked, lambda place: -hits.coverage(place))
    named = names.of(merged)
    folded = _folded(hits, merged, named) if asked.tuning.fold else {}
    best = list(folded or merged)[: asked.query.depth]
    explain = asked.query.explain
    return tuple([hits.ranked(place, named, folded.get(place, ()), explain=explain) for place in best])


def _folded(hits: Hits, merged: Sequence[Place], names: Mapping[Place, Name]) -> dict[Place, list[Place]]:
    """Each first of its equals with the others; nothing where no two texts are the same, as is usual."""
    if len({names[place][1] for place in merged}) == len(merged):
        return {}
    return fold(merged, lambda place: (place[0], hits.source(place), names[place][1]))


def _fused(tuning: Tuning, hits: Hits, lists: Sequence[Shortlist], key_of: KeyOf) -> list[Place]:
    """What the wordings found, as one list; of equals, the better scored, then the usual order of ties."""
    places = [found.places for found in lists]
    if len(places) == 1:
        return places[0]
    keys = key_of(list(dict.fromkeys(place for found in places for place in found)))
    return fuse(places, lambda place: (-hits.score(place), *hits.among_equals(place), keys[place]), tuning.damping)
