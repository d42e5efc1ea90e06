"""One query from postings to `Ranking`: every wording ranks every kind, then the lists become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from talekeeper.db import Tx
from talekeeper.search.bm25 import K1, Chunk, Statistics, norm
from talekeeper.search.fusion import fold, fuse, merge
from talekeeper.search.names import Names
from talekeeper.search.neighbours import rescore
from talekeeper.search.passage import Kind, Query, Ranked, TermScore
from talekeeper.search.scope import Scope
from talekeeper.search.shortlist import Field, Place, Shortlist, narrow, order, shortlist, take_statistics
from talekeeper.search.state import PartState

_WIDENINGS = (1, 4, 16)
"""Lists are made this many times as long as asked, one after the other, while identical texts leave too few."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A passage in the list of one wording."""

    found: Shortlist
    row: int
    coverage: float

    @property
    def score(self) -> float:
        return float(self.found.score[self.row])


class Answer:
    """A query with all that was read for it. Fields are numbered as the partitions; there is one list a kind."""

    def __init__(
        self,
        tx: Tx,
        query: Query,
        wordings: Sequence[tuple[str, ...]],
        states: Sequence[PartState],
        scopes: Sequence[Scope],
        chunks: Sequence[Mapping[str, Sequence[Chunk]]],
    ) -> None:
        self._query = query
        self._wordings = wordings
        self._states = states
        self._names = Names(tx, states)
        self._fields: dict[Kind, list[Field]] = {}
        self._statistics: dict[Kind, Statistics] = {}
        terms = list(dict.fromkeys(term for wording in wordings for term in wording))
        for kind in Kind:
            if any(scope.counts[kind] for scope in scopes):
                fields = [
                    Field(state, scope, kind, narrow(held, scope, kind))
                    for state, scope, held in zip(states, scopes, chunks, strict=True)
                ]
                self._fields[kind] = fields
                self._statistics[kind] = take_statistics(fields, kind, terms)

    def hits(self) -> tuple[Ranked, ...]:
        """At most `query.depth`, best first."""
        hits: tuple[Ranked, ...] = ()
        for times in _WIDENINGS:
            width = self._query.depth * times
            hits, is_all = self._hits(width)
            if is_all or len(hits) >= self._query.depth:
                break
        return hits

    def _hits(self, width: int) -> tuple[tuple[Ranked, ...], bool]:
        """With lists of `width`, and whether nothing was cut from them."""
        lists = {kind: [self._list(kind, wording, width) for wording in self._wordings] for kind in self._fields}
        rows = _rows_by_place(lists)
        ranked = {kind: self._fused(found, rows) for kind, found in lists.items()}
        merged = merge(list(ranked.values()), lambda place: -max(row.coverage for row in rows[place]))
        kinds = {place: kind for kind, places in ranked.items() for place in places}
        digests = self._names.digests(merged)
        folded = fold(merged, lambda place: (kinds[place], self._source(place), digests[place]))
        best = list(folded)[: self._query.depth]
        keys = self._names.keys([*best, *(other for place in best for other in folded[place])])
        hits = tuple(self._ranked(place, kinds[place], rows[place], folded[place], keys) for place in best)
        return hits, all(len(found) < width for group in lists.values() for found in group)

    def _list(self, kind: Kind, wording: tuple[str, ...], width: int) -> Shortlist:
        fields, statistics = self._fields[kind], self._statistics[kind]
        found = order(shortlist(fields, wording, statistics, width), fields, width, self._names.keys)
        if kind is Kind.MESSAGE and self._query.neighbours and len(found):
            found = order(rescore(found, fields), fields, width, self._names.keys)
        return found

    def _fused(self, lists: Sequence[Shortlist], rows: Mapping[Place, Sequence[_Row]]) -> list[Place]:
        places = [found.places() for found in lists]
        if len(places) == 1:
            return places[0]
        keys = self._names.keys(list({place: None for found in places for place in found}))

        def tie(place: Place) -> tuple[float, int, int, str]:
            columns, position = self._states[place[0]].columns, place[1]
            score = max(row.score for row in rows[place])
            return -score, -int(columns.turn[position]), -int(columns.depth[position]), keys[place]

        return fuse(places, tie)

    def _source(self, place: Place) -> tuple[str, str]:
        state = self._states[place[0]]
        number = int(state.columns.source[place[1]])
        return next((plugin, name) for (_, plugin, name), held in state.sources.items() if held == number)

    def _ranked(
        self,
        place: Place,
        kind: Kind,
        rows: Sequence[_Row],
        also: Sequence[Place],
        keys: Mapping[Place, str],
    ) -> Ranked:
        state, position = self._states[place[0]], place[1]
        plugin, namespace = self._source(place)
        best = max(rows, key=lambda row: row.score)
        matched = tuple(dict.fromkeys(term for row in rows for term in _terms_in(row.found.own[row.row].tolist(), row)))
        near = dict.fromkeys(term for row in rows for term in _terms_in(row.found.near[row.row].tolist(), row))
        return Ranked(
            part=state.row.id,
            doc=int(state.columns.doc[position]),
            kind=kind,
            plugin=plugin,
            namespace=namespace,
            key=keys[place],
            turn=int(state.columns.turn[position]),
            score=best.score,
            matched=matched,
            near=tuple(term for term in near if term not in matched),
            also=tuple((keys[other], int(self._states[other[0]].columns.turn[other[1]])) for other in also),
            explanation=self._explain(kind, place, best) if self._query.explain else (),
        )

    def _explain(self, kind: Kind, place: Place, row: _Row) -> tuple[TermScore, ...]:
        """The contributions add up to the score, the weight of the source included."""
        found, statistics = row.found, self._statistics[kind]
        field = self._fields[kind][place[0]]
        length = field.state.columns.length[place[1] : place[1] + 1]
        divisor = float(norm(length, statistics.average)[0])
        weight = 1.0 if field.scope.weights is None else float(field.scope.weights[place[1]])
        table: list[TermScore] = []
        for term, own, near in zip(found.terms, found.own[row.row].tolist(), found.near[row.row].tolist(), strict=True):
            if own or near:
                idf = statistics.idf[term]
                gain = weight * idf * (own + near) * (K1 + 1) / (own + near + divisor)
                table.append(TermScore(term, own, near, statistics.df[term], idf, gain))
        return tuple(table)


def _rows_by_place(lists: Mapping[Kind, Sequence[Shortlist]]) -> Mapping[Place, list[_Row]]:
    rows: dict[Place, list[_Row]] = {}
    for found in (one for group in lists.values() for one in group):
        weights = [found.statistics.idf[term] for term in found.terms]
        shares = ((found.own > 0) @ weights / sum(weights)).tolist()
        for row, place in enumerate(found.places()):
            rows.setdefault(place, []).append(_Row(found, row, shares[row]))
    return rows


def _terms_in(frequencies: Sequence[float], row: _Row) -> list[str]:
    return [term for term, tf in zip(row.found.terms, frequencies, strict=True) if tf]
