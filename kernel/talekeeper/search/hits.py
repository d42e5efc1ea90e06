"""Tells of each found passage why it was found: from rows of number tables to `Ranked`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress

import numpy as np

from talekeeper.search.arrays import Doubles
from talekeeper.search.passage import Ranked, TermScore
from talekeeper.search.shortlist import Place, Shortlist
from talekeeper.search.state import PartState


class _Listed:
    """A shortlist as plain lists, which Python reads faster than arrays one value at a time."""

    def __init__(self, found: Shortlist) -> None:
        self.terms = found.terms
        self.telling = found.terms[: len(found.terms) - len(found.statistics.everyday)]
        self.statistics = found.statistics
        self.score: list[float] = found.score.tolist()
        self.norm = found.norm
        self.factor = found.factor
        self.own = found.own
        self.near = found.near
        self.matched = _held(found.own, self.telling)
        self.lent = _held(found.near, self.telling) if found.near.any() else [()] * len(found)
        self.closeness = found.closeness

    def coverage(self, row: int) -> float:
        """The share of the wording's weight that the passage itself matches."""
        weights = [self.statistics.idf[term] for term in self.telling]
        return sum(compress(weights, self.own[row].tolist())) / sum(weights)


def _held(values: Doubles, terms: Sequence[str]) -> list[tuple[str, ...]]:
    """The terms with a value, for each row. Thousands of rows hold the same few sets, which are made once."""
    bits = np.packbits(values[:, : len(terms)] != 0, axis=1)
    width, packed = bits.shape[1], bits.tobytes()
    known: dict[bytes, tuple[str, ...]] = {}
    found: list[tuple[str, ...]] = []
    for row in range(len(values)):
        held = packed[row * width : (row + 1) * width]
        if held not in known:
            known[held] = tuple(compress(terms, values[row].tolist()))
        found.append(known[held])
    return found


class Hits:
    """All passages of a query's shortlists; a passage may be in several, once for each wording."""

    def __init__(self, states: Sequence[PartState], lists: Sequence[Shortlist]) -> None:
        self._states = states
        self._rows: dict[Place, list[tuple[_Listed, int]]] = {}
        self._names = [{number: name for name, number in state.sources.items()} for state in states]
        for found in lists:
            listed = _Listed(found)
            for row, place in enumerate(found.places):
                self._rows.setdefault(place, []).append((listed, row))

    def score(self, place: Place) -> float:
        """By the wording that suits it best."""
        return max(listed.score[row] for listed, row in self._rows[place])

    def coverage(self, place: Place) -> float:
        """Of the wording it covers best."""
        return max(listed.coverage(row) for listed, row in self._rows[place])

    def standing(self, place: Place) -> tuple[int, int]:
        """What decides between equal scores: later turn, then deeper in the story."""
        columns = self._states[place[0]].columns
        return -int(columns.turn[place[1]]), -int(columns.depth[place[1]])

    def source(self, place: Place) -> int:
        """The number of its source in its partition."""
        return int(self._states[place[0]].columns.source[place[1]])

    def ranked(self, place: Place, keys: Mapping[Place, str], also: Sequence[Place], *, explain: bool) -> Ranked:
        """The passage as it is handed out; `also` are its equals."""
        state, rows = self._states[place[0]], self._rows[place]
        kind, plugin, namespace = self._names[place[0]][self.source(place)]
        listed, row = max(rows, key=lambda held: held[0].score[held[1]]) if len(rows) > 1 else rows[0]
        matched, near = listed.matched[row], listed.lent[row]
        if len(rows) > 1:
            matched = _union(one.matched[i] for one, i in rows)
            near = _union(one.lent[i] for one, i in rows)
        return Ranked(
            part=state.row.id,
            doc=int(state.columns.doc[place[1]]),
            kind=kind,
            plugin=plugin,
            namespace=namespace,
            key=keys[place],
            turn=self._turn(place),
            score=listed.score[row],
            matched=matched,
            near=tuple(term for term in near if term not in matched) if near else (),
            also=tuple((keys[other], self._turn(other)) for other in also) if also else (),
            explanation=self._explain(listed, row) if explain else (),
            closeness=listed.closeness.get(place),
        )

    def _turn(self, place: Place) -> int:
        return int(self._states[place[0]].columns.turn[place[1]])

    def _explain(self, listed: _Listed, row: int) -> tuple[TermScore, ...]:
        """The contributions add up to the score, what it was multiplied by included."""
        statistics, divisor, factor = listed.statistics, float(listed.norm[row]), float(listed.factor[row])
        table: list[TermScore] = []
        for term, own, near in zip(listed.terms, listed.own[row].tolist(), listed.near[row].tolist(), strict=True):
            if own or near:
                idf = statistics.idf[term]
                gain = factor * idf * (own + near) * (statistics.k1 + 1) / (own + near + divisor)
                table.append(TermScore(term, own, near, statistics.df[term], idf, gain))
        return tuple(table)


def _union(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """All terms, each once."""
    return tuple(dict.fromkeys(chain.from_iterable(groups)))
