"""How near the passages in scope are to a query by meaning: cosines, and by how much each stands out among them.

Cosines of one encoder are not those of another, nor are they alike from query to query, so what counts is the standing:
the distance from the mean of the scope in standard deviations. Passages without a vector stand nowhere. In a
conversation the answer stands beside the question, so a message has a share in what its neighbours mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from talekeeper.search.arrays import Bools, Positions, Singles
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
_SPARSE = 4
"""Where less than this part of a partition is asked, its rows are picked out first."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The passages of one field with a vector: ascending positions, their cosines, and how far each stands out."""

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
    """A field's passages in reading order, `has` where there is a vector; `meant` has the neighbours' share."""

    position: Positions
    has: Bools
    cosine: Singles
    meant: Singles


def standings(
    fields: Sequence[Field], matrices: Sequence[Matrix], vector: Singles, tuning: Tuning
) -> list[Standing] | None:
    """One for each field, measured over all of them together; None where too few have vectors to compare."""
    found = [_near(field, matrix, vector, tuning) for field, matrix in zip(fields, matrices, strict=True)]
    every = np.concatenate([near.meant[near.has] for near in found]) if found else np.empty(0, np.float32)
    spread = float(every.std()) if len(every) >= _FEWEST else 0.0
    if not spread > _FLAT:
        return None
    mean = float(every.mean())
    return [_standing(near, mean, spread) for near in found]


def compared(states: Sequence[PartState], scopes: Sequence[Scope], matrices: Sequence[Matrix]) -> int:
    """How many passages in scope have a vector."""
    return sum(
        int(np.count_nonzero(_rows(state, matrix, np.flatnonzero(scope.labels))[0]))
        for state, scope, matrix in zip(states, scopes, matrices, strict=True)
    )


def _standing(near: _Near, mean: float, spread: float) -> Standing:
    position = near.position[near.has]
    order = np.argsort(position, kind="stable")
    height = (near.meant[near.has] - mean) / spread
    return Standing(position[order], near.cosine[near.has][order], height[order].astype(np.float32))


def _near(field: Field, matrix: Matrix, vector: Singles, tuning: Tuning) -> _Near:
    position = _in_scope(field)
    has, rows = _rows(field.state, matrix, position)
    cosine = np.zeros(len(position), np.float32)
    if len(rows) and matrix.rows.shape[1] == len(vector):
        picked = len(rows) * _SPARSE < len(matrix.docs)
        cosine[has] = matrix.part(rows).cosines(vector) if picked else matrix.cosines(vector)[rows]
    else:
        has = np.zeros(len(position), np.bool_)
    meant = cosine
    if field.kind is Kind.MESSAGE and has.any():
        meant = cosine.copy()
        meant[~has] = cosine[has].mean()
        meant = _with_neighbours(meant, tuning)
    return _Near(position, has, cosine, meant)


def _in_scope(field: Field) -> Positions:
    if field.kind is Kind.MESSAGE:
        return field.scope.along
    return np.flatnonzero(field.scope.labels == label_of(field.kind))


def _rows(state: PartState, matrix: Matrix, position: Positions) -> tuple[Bools, Positions]:
    """Which passages have a vector, and the rows of those that have."""
    docs = state.columns.doc[position]
    if not len(matrix.docs):
        return np.zeros(len(docs), np.bool_), np.empty(0, np.intp)
    at = np.minimum(np.searchsorted(matrix.docs, docs), len(matrix.docs) - 1)
    has = matrix.docs[at] == docs
    return has, at[has]


def _with_neighbours(cosine: Singles, tuning: Tuning) -> Singles:
    """Each with a share of the message before and the one after; at the ends the mean stands in."""
    ends: Singles = np.full(1, cosine.mean(), np.float32)
    before = np.concatenate([ends, cosine[:-1]])
    after = np.concatenate([cosine[1:], ends])
    return (cosine + tuning.meant_before * before + tuning.meant_after * after).astype(np.float32)
