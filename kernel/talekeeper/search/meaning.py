"""How near the passages in scope are to a query by meaning: cosines, and by how much each stands out among them.

Cosines of one encoder are not those of another, nor are they alike from query to query, so what counts is the standing:
the distance from the mean of the scope in standard deviations (z-score). Passages without a vector stand nowhere. A
message stands twice: by itself, and together with its neighbours (`surroundings`), which is looked at closely only
where it is high, or where words have found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from talekeeper.search.arrays import Bools, Positions, Singles
from talekeeper.search.matrix import Matrix
from talekeeper.search.passage import Kind
from talekeeper.search.scope import Scope, label_of
from talekeeper.search.shortlist import Field
from talekeeper.search.state import PartState
from talekeeper.search.surroundings import Surroundings
from talekeeper.search.tuning import Tuning

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

    `height` is how far each stands out, a message together with its neighbours; `lacks` how far a message by itself is
    below the mean, 0 where it is not.
    """

    position: Positions
    cosine: Singles
    height: Singles
    lacks: Singles

    def of(self, position: Positions) -> tuple[Singles, Singles, Singles]:
        """Cosines, heights and what these positions lack; NaN and twice 0 for those without a vector."""
        if not len(self.position):
            nothing = np.zeros(len(position), np.float32)
            return np.full(len(position), np.nan, np.float32), nothing, nothing
        at = np.minimum(np.searchsorted(self.position, position), len(self.position) - 1)
        there = self.position[at] == position
        return (
            np.where(there, self.cosine[at], np.nan),
            np.where(there, self.height[at], 0),
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

    def heights(self, values: Singles) -> Singles:
        return ((values - self.mean) / self.spread).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _FieldCosines:
    """A field's passages in reading order, `has` where there is a vector, and its `row` there.

    `meant` is the cosine, of messages with the neighbours' shares in it: roughly what they mean together.
    """

    position: Positions
    has: Bools
    row: Positions
    cosine: Singles
    meant: Singles
    around: Surroundings | None


def standings(
    fields: Sequence[Field],
    matrices: Sequence[Matrix],
    vector: Singles,
    listed: Sequence[Positions],
    width: int,
    tuning: Tuning,
) -> list[MeaningScores] | None:
    """Of each field the `width` passages that stand out most, and more, and those `listed`.

    Measured over all fields together; None where too few have vectors to compare, or all mean the same.
    """
    found = [_cosines_of(field, matrix, vector, tuning) for field, matrix in zip(fields, matrices, strict=True)]
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
        _standing(held, at, together.heights(values), own)
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
    high = there[np.argpartition(-held.meant[there], most)[:most]]
    return np.union1d(high, there[np.isin(held.position[there], listed)])


def _closely(held: _FieldCosines, looked: Positions, vector: Singles, step: int) -> tuple[Singles, Singles]:
    """What these mean, and what is usual: of messages one in `step`, of records all."""
    there = np.flatnonzero(held.has)
    if held.around is None or not len(there):
        return held.meant[looked], held.meant[there]
    return held.around.cosines(looked, there[::step], vector)


def _standing(held: _FieldCosines, looked: Positions, height: Singles, own: _Scale) -> MeaningScores:
    order = np.argsort(held.position[looked], kind="stable")
    at = looked[order]
    cosine = held.cosine[at]
    lacks = np.zeros_like(cosine) if held.around is None else np.maximum(-own.heights(cosine), 0)
    return MeaningScores(held.position[at], cosine, height[order], lacks)


def _cosines_of(field: Field, matrix: Matrix, vector: Singles, tuning: Tuning) -> _FieldCosines:
    position = _in_scope(field)
    has, rows = _rows(field.state, matrix, position)
    cosine = np.zeros(len(position), np.float32)
    row: Positions = np.zeros(len(position), np.intp)
    if len(rows):
        picked = len(rows) * _SPARSE < len(matrix.docs)
        cosine[has] = matrix.part(rows).cosines(vector) if picked else matrix.cosines(vector)[rows]
        row[has] = rows
    if field.kind is not Kind.MESSAGE:
        return _FieldCosines(position, has, row, cosine, cosine, None)
    around = Surroundings.of(field.state.columns.flags[position], matrix, has, row, tuning)
    return _FieldCosines(position, has, row, cosine, around.rough_cosines(cosine), around)


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
