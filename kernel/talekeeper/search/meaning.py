"""How near the passages in scope are to a query by meaning: cosines, and by how much each stands out among them.

Cosines of one encoder are not those of another, nor are they alike from query to query, so what counts is the standing:
the distance from the mean of the scope in standard deviations. Passages without a vector stand nowhere.

In a conversation the answer stands beside the question, so a message means what it says together with its neighbours:
their vectors are added with falling shares, and the cosine is that of the sum. Up to the sum's length, which says how
alike they are, that is a sum of cosines, so lengths are looked at only where the sum is high, or words have found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from talekeeper.search.arrays import Bools, Doubles, Positions, Singles
from talekeeper.search.passage import Kind
from talekeeper.search.scope import Scope, label_of
from talekeeper.search.shortlist import Field
from talekeeper.search.state import PartState
from talekeeper.search.tuning import Tuning
from talekeeper.search.vectors import Matrix

_FEWEST = 3
"""Of fewer passages none can stand out."""
_FLAT = 1e-3
"""Where cosines differ less than what half precision does to them, all passages mean the same."""
_TIMES = 2
"""So many times the passages asked for are looked at closely."""
_SAMPLE = 64
"""Messages whose neighbourhoods say how alike messages are here."""
_SPARSE = 4
"""Where less than this part of a partition is asked, its rows are picked out first."""


@dataclass(frozen=True, slots=True)
class MeaningScores:
    """Passages of one field that stand out or were listed: ascending positions, cosines, how far each stands out."""

    position: Positions
    cosine: Singles
    height: Singles

    def of(self, position: Positions) -> tuple[Singles, Singles]:
        """Cosines and heights of these positions; NaN and 0 for those without a vector."""
        if not len(self.position):
            return np.full(len(position), np.nan, np.float32), np.zeros(len(position), np.float32)
        at = np.minimum(np.searchsorted(self.position, position), len(self.position) - 1)
        there = self.position[at] == position
        return np.where(there, self.cosine[at], np.nan), np.where(there, self.height[at], 0)


@dataclass(frozen=True, slots=True)
class _Near:
    """A field's passages in reading order, `has` where there is a vector, and its `row` there.

    `meant` is the cosine with the neighbours' shares added.
    """

    position: Positions
    has: Bools
    row: Positions
    cosine: Singles
    meant: Singles


def standings(
    fields: Sequence[Field],
    matrices: Sequence[Matrix],
    vector: Singles,
    listed: Sequence[Positions],
    width: int,
    tuning: Tuning,
) -> list[MeaningScores] | None:
    """Of each field the `width` passages that stand out most, and more, and those `listed`.

    Measured over all fields together; None where too few have vectors to compare.
    """
    found = [_near(field, matrix, vector, tuning) for field, matrix in zip(fields, matrices, strict=True)]
    every = np.concatenate([near.meant[near.has] for near in found]) if found else np.empty(0, np.float32)
    spread = float(every.std()) if len(every) >= _FEWEST else 0.0
    if not spread > _FLAT:
        return None
    mean = float(every.mean())
    result: list[MeaningScores] = []
    for field, matrix, near, positions in zip(fields, matrices, found, listed, strict=True):
        looked = _looked_at(near, positions, width)
        meant = near.meant[looked]
        if field.kind is Kind.MESSAGE and len(looked):
            meant = meant / _alike(near, matrix, looked, tuning)
        result.append(_standing(near, looked, (meant - mean) / spread))
    return result


def compared(states: Sequence[PartState], scopes: Sequence[Scope], matrices: Sequence[Matrix]) -> int:
    """How many passages in scope have a vector."""
    return sum(
        int(np.count_nonzero(_rows(state, matrix, np.flatnonzero(scope.labels))[0]))
        for state, scope, matrix in zip(states, scopes, matrices, strict=True)
    )


def _looked_at(near: _Near, listed: Positions, width: int) -> Positions:
    """Where in reading order the passages are whose standing is measured closely."""
    there = np.flatnonzero(near.has)
    most = width * _TIMES
    if most >= len(there):
        return there
    high = there[np.argpartition(-near.meant[there], most)[:most]]
    return np.union1d(high, there[np.isin(near.position[there], listed)])


def _standing(near: _Near, looked: Positions, height: Singles) -> MeaningScores:
    position = near.position[looked]
    order = np.argsort(position, kind="stable")
    return MeaningScores(position[order], near.cosine[looked][order], height[order].astype(np.float32))


def _near(field: Field, matrix: Matrix, vector: Singles, tuning: Tuning) -> _Near:
    position = _in_scope(field)
    has, rows = _rows(field.state, matrix, position)
    cosine = np.zeros(len(position), np.float32)
    row: Positions = np.zeros(len(position), np.intp)
    if len(rows) and matrix.rows.shape[1] == len(vector):
        picked = len(rows) * _SPARSE < len(matrix.docs)
        cosine[has] = matrix.part(rows).cosines(vector) if picked else matrix.cosines(vector)[rows]
        row[has] = rows
    else:
        has = np.zeros(len(position), np.bool_)
    meant = cosine
    if field.kind is Kind.MESSAGE and has.any():
        meant = cosine.copy()
        meant[~has] = cosine[has].mean()
        meant = _with_neighbours(meant, tuning)
    return _Near(position, has, row, cosine, meant)


def _in_scope(field: Field) -> Positions:
    if field.kind is Kind.MESSAGE:
        return field.scope.along
    return np.flatnonzero(field.scope.labels == label_of(field.kind))


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


def _with_neighbours(cosine: Singles, tuning: Tuning) -> Singles:
    """Each with a share of the messages before and after it; beyond the ends the mean stands in."""
    before, after = tuning.meant_before, tuning.meant_after
    mean = cosine.mean()
    padded = np.concatenate([np.full(len(before), mean, np.float32), cosine, np.full(len(after), mean, np.float32)])
    shares: Singles = np.array([*reversed(after), 1.0, *before], np.float32)
    meant: Singles = np.convolve(padded, shares, "valid")
    return meant


def _alike(near: _Near, matrix: Matrix, looked: Positions, tuning: Tuning) -> Singles:
    """How alike each message and its neighbours are, beside what is usual here; about 1."""
    there = np.flatnonzero(near.has)
    usual = there[:: max(1, len(there) // _SAMPLE)]
    lengths = _lengths(near, matrix, np.concatenate([looked, usual]), tuning)
    alike: Singles = lengths[: len(looked)] / lengths[len(looked) :].mean()
    return alike


def _lengths(near: _Near, matrix: Matrix, middle: Positions, tuning: Tuning) -> Singles:
    """The length of the mean vector of each message and its neighbours, weighed by their shares; at most 1."""
    total: Singles = np.zeros((len(middle), matrix.rows.shape[1]), np.float32)
    weight = np.zeros(len(middle))
    before, after = enumerate(tuning.meant_before, start=1), enumerate(tuning.meant_after, start=1)
    for away, share in [(0, 1.0), *((-away, share) for away, share in before), *after]:
        at = middle + away
        inside = (at >= 0) & (at < len(near.has))
        inside[inside] = near.has[at[inside]]
        total[inside] += np.float32(share) * matrix.single(near.row[at[inside]])
        weight[inside] += share
    lengths: Doubles = np.sqrt(np.square(total).sum(axis=1)) / weight
    return np.maximum(lengths, _FLAT).astype(np.float32)
