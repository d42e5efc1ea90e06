"""How near the passages in scope are to a query by meaning: cosines, and by how much each stands out among them.

Cosines of one encoder are not those of another, nor are they alike from query to query, so the z-score counts: the
distance from the mean of the scope in standard deviations. Passages without a vector have none. A message has two: by
itself, and together with its neighbours (`Surroundings`), since in a conversation the answer stands beside the
question. The second is worked out closely only where it is high, or where words have found the message.

Neighbours' vectors are added to the message's own with falling shares, and the cosine with the sum counts. Before that
the sum itself is not needed: up to its length its cosine is a weighted mean of cosines.

What is near everything, small talk and thanks, is near the query as well and says nothing about it (a hub). So a part
of what a message has in common with those most like it elsewhere in the scope is taken off, after the correction by
which Conneau et al., Word Translation Without Parallel Data (2018), do the same for words (CSLS):

    corrected = cosine - 0.25 · mean cosine with the 5 most alike of a sample, itself and its neighbours left out
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from talekeeper.search.message_features import lent_part
from talekeeper.search.passage import Kind
from talekeeper.search.query.candidates import Field
from talekeeper.search.query.params import RankingParams
from talekeeper.search.query.scope import Scope, label_of
from talekeeper.search.storage.columns import Bools, Column, Positions, Singles
from talekeeper.search.storage.partition import PartState
from talekeeper.search.vector.stored import Matrix

_FEWEST = 3
"""Of fewer passages none can stand out."""
_FLAT = 1e-3
"""Where cosines differ less than what half precision does to them, all passages mean the same."""
_TIMES = 2
"""So many times the passages asked for are looked at closely."""
_SAMPLE = 128
"""Messages that say what is usual here; of 64 the spread is too rough, 256 say the same."""
_SPARSE = 4
"""Where less than this part of a partition is asked, its rows are picked out first."""


@dataclass(frozen=True, slots=True)
class MeaningScores:
    """Passages of one field that stand out or were listed, in order of position.

    `z_score` is how far each stands out, a message together with its neighbours; `lacks` how far a message by itself is
    below the mean, 0 where it is not.
    """

    position: Positions
    cosine: Singles
    z_score: Singles
    lacks: Singles

    def of(self, position: Positions) -> tuple[Singles, Singles, Singles]:
        """Cosines, z-scores and what these positions lack; NaN and twice 0 for those without a vector."""
        if not len(self.position):
            nothing = np.zeros(len(position), np.float32)
            return np.full(len(position), np.nan, np.float32), nothing, nothing
        at = np.minimum(np.searchsorted(self.position, position), len(self.position) - 1)
        there = self.position[at] == position
        return (
            np.where(there, self.cosine[at], np.nan),
            np.where(there, self.z_score[at], 0),
            np.where(there, self.lacks[at], 0),
        )


@dataclass(frozen=True, slots=True)
class _Scale:
    """Turns cosines into standard scores (z)."""

    mean: float
    spread: float

    @classmethod
    def of(cls, parts: Sequence[Singles]) -> _Scale:
        every = np.concatenate(parts)
        return cls(float(every.mean()), float(every.std()))

    def z_scores(self, values: Singles) -> Singles:
        return ((values - self.mean) / self.spread).astype(np.float32)


class _FieldCosines(NamedTuple):
    """A field's passages in reading order, `has` where there is a vector, and its `row` there.

    `meant` is the cosine, of messages with the neighbours' shares in it: roughly what they mean together.
    """

    position: Positions
    has: Bools
    row: Positions
    cosine: Singles
    meant: Singles
    around: Surroundings | None


def meaning_scores(
    fields: Sequence[Field],
    matrices: Sequence[Matrix],
    vector: Singles,
    listed: Sequence[Positions],
    width: int,
    params: RankingParams,
) -> list[MeaningScores] | None:
    """Of each field the `width` passages that stand out most, and more, and those `listed`.

    Measured over all fields together; None where too few have vectors to compare, or all mean the same.
    """
    found = [_cosines_of(field, matrix, vector, params) for field, matrix in zip(fields, matrices, strict=True)]
    total = sum(int(np.count_nonzero(held.has)) for held in found)
    if total < _FEWEST:
        return None
    looked = [_looked_at(held, positions, width) for held, positions in zip(found, listed, strict=True)]
    step = -(-total // _SAMPLE)
    closely = [_closely(held, at, vector, step) for held, at in zip(found, looked, strict=True)]
    own, together = _Scale.of([held.cosine[held.has] for held in found]), _Scale.of([usual for _, usual in closely])
    if not (own.spread > _FLAT and together.spread > _FLAT):
        return None
    return [
        _standing(held, at, together.z_scores(values), own)
        for held, at, (values, _) in zip(found, looked, closely, strict=True)
    ]


def compared(states: Sequence[PartState], scopes: Sequence[Scope], matrices: Sequence[Matrix]) -> int:
    """How many passages in scope have a vector."""
    return sum(
        int(np.count_nonzero(_rows(state, matrix, np.flatnonzero(scope.labels))[0]))
        for state, scope, matrix in zip(states, scopes, matrices, strict=True)
    )


def _looked_at(held: _FieldCosines, listed: Positions, width: int) -> Positions:
    """Where in reading order the passages are whose standing is measured closely."""
    there = np.flatnonzero(held.has)
    most = width * _TIMES
    if most >= len(there):
        return there
    high = there[held.meant[there] >= np.partition(held.meant[there], -most)[-most]]
    return np.union1d(high, there[np.isin(held.position[there], listed)])


def _closely(held: _FieldCosines, looked: Positions, vector: Singles, step: int) -> tuple[Singles, Singles]:
    """What these mean, and what is usual: of messages one in `step`, of records all."""
    there = np.flatnonzero(held.has)
    if held.around is None or not len(there):
        return held.meant[looked], held.meant[there]
    return held.around.cosines(looked, there[::step], vector)


def _standing(held: _FieldCosines, looked: Positions, z_score: Singles, own: _Scale) -> MeaningScores:
    order = np.argsort(held.position[looked], kind="stable")
    at = looked[order]
    cosine = held.cosine[at]
    lacks = np.zeros_like(cosine) if held.around is None else np.maximum(-own.z_scores(cosine), 0)
    return MeaningScores(held.position[at], cosine, z_score[order], lacks)


def _cosines_of(field: Field, matrix: Matrix, vector: Singles, params: RankingParams) -> _FieldCosines:
    scope, is_message = field.scope, field.kind is Kind.MESSAGE
    position = scope.along if is_message else np.flatnonzero(scope.labels == label_of(field.kind))
    has, rows = _rows(field.state, matrix, position)
    cosine = np.zeros(len(position), np.float32)
    row: Positions = np.zeros(len(position), np.intp)
    if len(rows):
        picked = len(rows) * _SPARSE < len(matrix.docs)
        cosine[has] = matrix.part(rows).cosines(vector) if picked else matrix.cosines(vector)[rows]
        row[has] = rows
    if not is_message:
        return _FieldCosines(position, has, row, cosine, cosine, None)
    around = Surroundings.of(field.state.columns.flags[position], matrix, has, row, params)
    return _FieldCosines(position, has, row, cosine, around.rough_cosines(cosine), around)


def _rows(state: PartState, matrix: Matrix, position: Positions) -> tuple[Bools, Positions]:
    """Which passages have a vector, and the rows of those that have."""
    every = state.columns.doc
    if np.array_equal(every, matrix.docs):
        return np.ones(len(position), np.bool_), position
    docs = every[position]
    if not len(matrix.docs):
        return np.zeros(len(docs), np.bool_), np.empty(0, np.intp)
    at = np.minimum(np.searchsorted(matrix.docs, docs), len(matrix.docs) - 1)
    has = matrix.docs[at] == docs
    return has, at[has]


_LEAST = np.float32(1e-6)
"""In place of a smaller divisor, which is that of nothing."""
_MOST_KIN = 3
"""No more than this part of a sample is most alike: of a few messages all would be."""
_AT_ONCE = 256
"""Messages whose neighbours' vectors are read at a time: a few megabytes."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Messages of one field in reading order: which have a vector, in which row, and what neighbours count.

    `common` is the part taken off of what a message has in common with the `kin` most like it.
    """

    before: tuple[float, ...]
    after: tuple[float, ...]
    matrix: Matrix
    has: Bools
    row: Positions
    common: float
    kin: int

    @classmethod
    def of(cls, flags: Column, matrix: Matrix, has: Bools, row: Positions, params: RankingParams) -> Surroundings:
        """Where one voice speaks throughout, neighbours count as much less as their words do."""
        part = lent_part(flags, np.arange(len(flags)), params.monologue)
        before = tuple(part * share for share in params.meaning_before)
        after = tuple(part * share for share in params.meaning_after)
        return cls(before, after, matrix, has, row, params.meaning_common, params.meaning_kin)

    def rough_cosines(self, cosine: Singles) -> Singles:
        """The mean of each message's cosine and its neighbours', weighed by their shares."""
        there = self.has.astype(np.float32)
        mean = self._shared(cosine * there) / np.maximum(self._shared(there), _LEAST)
        return mean.astype(np.float32)

    def cosines(self, places: Positions, sample: Positions, vector: Singles) -> tuple[Singles, Singles]:
        """The corrected cosines of the messages at `places`, and of a sample of them all."""
        asked, usual = self._together(places), self._together(sample)
        of_asked: Singles = asked @ vector - self._in_common(asked, places, usual, sample)
        of_usual: Singles = usual @ vector - self._in_common(usual, sample, usual, sample)
        return of_asked, of_usual

    def _shared(self, values: Singles) -> Singles:
        padded = np.concatenate([np.zeros(len(self.before)), values, np.zeros(len(self.after))]).astype(np.float32)
        found: Singles = np.correlate(padded, self._shares, "valid")
        return found

    def _together(self, places: Positions) -> Singles:
        """The direction of each message's vector with its neighbours' added."""
        found: Singles = np.empty((len(places), self.matrix.rows.shape[1]), np.float32)
        for start in range(0, len(places), _AT_ONCE):
            some = places[start : start + _AT_ONCE]
            found[start : start + _AT_ONCE] = self._sums(some)
        found /= np.maximum(np.sqrt(np.square(found).sum(axis=1, keepdims=True)), _LEAST)
        return found

    def _sums(self, places: Positions) -> Singles:
        """The sums of their vectors, as long as they come."""
        away = np.arange(-len(self.before), len(self.after) + 1)
        at = places[:, np.newaxis] + away
        inside = (at >= 0) & (at < len(self.has))
        at[~inside] = 0
        weights = np.where(inside & self.has[at], self._shares, 0)
        sums: Singles = np.matmul(weights[:, np.newaxis], self.matrix.rows[self.row[at]].astype(np.float32))[:, 0]
        return sums

    @property
    def _shares(self) -> Singles:
        """What the messages from the first before to the last after count."""
        return np.array([*reversed(self.before), 1.0, *self.after], np.float32)

    def _in_common(self, asked: Singles, places: Positions, usual: Singles, sample: Positions) -> Singles:
        """A part of the mean cosine with those of the sample most alike; of one that has none, the usual part."""
        reach = max(len(self.before), len(self.after))
        alike: Singles = asked @ usual.T
        alike[np.abs(places[:, np.newaxis] - sample) <= reach] = -np.inf
        kin = max(1, min(self.kin, len(sample) // _MOST_KIN))
        best = np.partition(alike, -kin, axis=1)[:, -kin:]
        is_there = np.isfinite(best)
        counts = is_there.sum(axis=1)
        means = np.where(is_there, best, 0).sum(axis=1) / np.maximum(counts, 1)
        elsewhere = means[counts > 0].mean() if counts.any() else 0.0
        found: Singles = (self.common * np.where(counts > 0, means, elsewhere)).astype(np.float32)
        return found
