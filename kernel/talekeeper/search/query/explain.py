"""Why each passage was found: rows of number tables to `Ranked`, with the keys and digests of those few passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress

from talekeeper.db import Tx
from talekeeper.search.passage import Placing, Ranked, TermScore
from talekeeper.search.query.candidates import Candidates, OrderKey, Place
from talekeeper.search.storage.codec import decoding
from talekeeper.search.storage.partition import PartState, SourceName


class _Listed:
    """Candidates as plain lists, which Python reads faster than arrays one value at a time."""

    def __init__(self, found: Candidates, wording: int) -> None:
        telling = found.terms[: len(found.terms) - len(found.statistics.everyday)]
        own: list[list[float]] = found.own.tolist()
        self.found = found
        self.wording = wording
        self.score: list[float] = found.score.tolist()
        self.matched = [tuple(compress(telling, held)) for held in own]
        self.lent = [tuple(compress(telling, held)) for held in found.near.tolist()] if found.near.any() else None
        self._telling = telling

    def coverage(self, row: int) -> float:
        """The share of the wording's weight that the passage itself matches."""
        idf = self.found.statistics.idf
        return sum(idf[term] for term in self.matched[row]) / sum(idf[term] for term in self._telling)


class Hits:
    """All candidates of a query; a passage may be in several, once for each wording.

    `groups` has for each kind a list for each wording.
    """

    def __init__(self, names: Names, groups: Iterable[Sequence[Candidates]]) -> None:
        self._names = names
        self._states = names.states
        self._rows: dict[Place, list[tuple[_Listed, int]]] = {}
        self._wordings = 0
        for lists in groups:
            self._wordings = len(lists)
            for wording, found in enumerate(lists):
                listed = _Listed(found, wording)
                for row, place in enumerate(found.places):
                    self._rows.setdefault(place, []).append((listed, row))

    def score(self, place: Place) -> float:
        """By the wording that suits it best."""
        return max(listed.score[row] for listed, row in self._rows[place])

    def coverage(self, place: Place) -> float:
        """Of the wording it covers best."""
        return max(listed.coverage(row) for listed, row in self._rows[place])

    def among_equals(self, place: Place) -> tuple[int, int]:
        """What decides between equal scores: later turn, then deeper in the story."""
        columns = self._states[place[0]].columns
        return -columns.turn.item(place[1]), -columns.depth.item(place[1])

    def ranked(self, place: Place, also: Sequence[Place], *, explain: bool) -> Ranked:
        """The passage as it is handed out; `also` are its equals, of the same partition."""
        number, position = place
        columns, rows, known = self._states[number].columns, self._rows[place], self._names.known
        listed, row = rows[0]
        matched, near = listed.matched[row], listed.lent[row] if listed.lent else ()
        if len(rows) > 1:
            listed, row = max(rows, key=lambda held: held[0].score[held[1]])
            matched = _union(one.matched[i] for one, i in rows)
            near = _union(one.lent[i] for one, i in rows if one.lent)
        return Ranked(
            self._states[number].row.id,
            columns.doc.item(position),
            *self._names.sources[number][columns.source.item(position)],
            known[place][0],
            columns.turn.item(position),
            listed.score[row],
            matched,
            tuple([term for term in near if term not in matched]) if near else (),
            tuple([(known[other][0], columns.turn.item(other[1])) for other in also]) if also else (),
            _explain(listed.found, row) if explain else (),
            listed.found.closeness.get(place),
            self._placing(place, listed) if explain else None,
        )

    def _placing(self, place: Place, listed: _Listed) -> Placing:
        ranks = {one.wording: row + 1 for one, row in self._rows[place]}
        return Placing(
            self._states[place[0]].columns.length.item(place[1]),
            listed.found.statistics.average,
            tuple(map(ranks.get, range(self._wordings))),
        )


def _explain(found: Candidates, row: int) -> tuple[TermScore, ...]:
    """The contributions add up to the score, what it was multiplied by included."""
    statistics, divisor, factor = found.statistics, found.norm.item(row), found.factor.item(row)
    table: list[TermScore] = []
    for term, own, near in zip(found.terms, found.own[row].tolist(), found.near[row].tolist(), strict=True):
        if own or near:
            idf = statistics.idf[term]
            gain = factor * idf * (own + near) * (statistics.k1 + 1) / (own + near + divisor)
            table.append(TermScore(term, own, near, statistics.df[term], idf, gain))
    return tuple(table)


def _union(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """All terms, each once."""
    return tuple(dict.fromkeys(chain.from_iterable(groups)))


Name = tuple[str, int]
"""Key and digest."""
_NAMES = "SELECT doc, key, digest FROM doc WHERE part = ? AND doc IN (SELECT value FROM json_each(?))"


class Names:
    """Reads each passage's name once a query; `known` are those read.

    `sources` has the sources of each partition by number.
    """

    def __init__(self, tx: Tx, states: Sequence[PartState]) -> None:
        self._tx = tx
        self.states = states
        self.known: dict[Place, Name] = {}
        self.sources = [{number: name for name, number in state.sources.items()} for state in states]

    @decoding
    def of(self, places: Sequence[Place]) -> Mapping[Place, Name]:
        """The names of these places, each given once, and of those asked for earlier."""
        for number, state in enumerate(self.states):
            unknown = [place for place in places if place[0] == number and place not in self.known]
            if unknown:
                self._read(state, unknown)
        return self.known

    def order_keys(self, places: Sequence[Place]) -> Mapping[Place, OrderKey]:
        """What decides last between equals: names, which no rebuild changes as it does numbers and positions."""
        names = self.of(places)
        return {place: (*self.source(place)[1:], names[place][0]) for place in places}

    def source(self, place: Place) -> SourceName:
        """Kind, plugin and namespace."""
        number, position = place
        return self.sources[number][self.states[number].columns.source.item(position)]

    def _read(self, state: PartState, places: Sequence[Place]) -> None:
        place_of = {state.columns.doc.item(place[1]): place for place in places}
        rows = self._tx.rows(_NAMES, (state.row.id, str(list(place_of))))
        for doc, key, digest in rows:
            self.known[place_of[doc]] = key, digest
        if len(rows) < len(places):
            raise LookupError("a passage has no name")
