"""Which passages hold a term, as a query works with them: of segments term by term, of the tail all terms together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from talekeeper.search.arrays import Bools, Bytes, Doubles, Ids, Positions, Singles


@dataclass(frozen=True, slots=True)
class Chunk:
    """A term in all segments of a partition: ascending positions, its frequency there, and what it is roughly worth.

    Worth is what BM25 gives messages without idf, with the average length of the segments for the scope's: `rare` has
    it for each posting, or, of a term that many positions hold, `spread` for every position of the segments.
    """

    positions: Ids
    tfs: Bytes
    rare: Singles | None
    spread: Singles | None = None

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def worth(self) -> Singles:
        """For each posting."""
        if self.rare is not None:
            return self.rare
        return np.empty(0, np.float32) if self.spread is None else self.spread.take(self.positions)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        held = (self.positions, self.tfs, self.rare, self.spread)
        return sum(array.nbytes for array in held if array is not None)

    def part(self, chosen: slice | Bools) -> Chunk:
        """The chosen postings."""
        positions = self.positions[chosen]
        if self.rare is not None:
            return Chunk(positions, self.tfs[chosen], self.rare[chosen])
        return Chunk(positions, self.tfs[chosen], None if self.spread is None else self.spread.take(positions))


@dataclass(frozen=True)
class Unsettled:
    """Postings of the tail, one term's behind the other's: `counts` of them for each of `terms`."""

    terms: tuple[str, ...]
    counts: tuple[int, ...]
    positions: Positions
    tfs: Bytes

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def which(self) -> Positions:
        """For each posting, the place of its term in `terms`."""
        return np.repeat(np.arange(len(self.terms)), self.counts)

    def part(self, chosen: Bools) -> Unsettled:
        """The chosen postings."""
        counts = np.bincount(self.which[chosen], minlength=len(self.terms))
        return Unsettled(self.terms, tuple(counts.tolist()), self.positions[chosen], self.tfs[chosen])


@dataclass(frozen=True, slots=True)
class Postings:
    """What one partition has of the terms of a query; `average` is the one `worth` was made with."""

    settled: Mapping[str, Chunk]
    unsettled: Unsettled
    average: float

    def df(self) -> dict[str, int]:
        """How many passages hold each term."""
        df = dict(zip(self.unsettled.terms, self.unsettled.counts, strict=True))
        for term, chunk in self.settled.items():
            df[term] += chunk.positions.size
        return df


def frequencies(postings: Postings, terms: Sequence[str], positions: Positions) -> Doubles:
    """Term frequencies of ascending `positions` (rows) for `terms` (columns)."""
    table = np.zeros((len(terms), len(positions)))
    if not len(positions):
        return table.T
    wanted = positions.astype(np.int32)  # of another type than the postings, it would have them copied
    for column, term in enumerate(terms):
        chunk = postings.settled.get(term)
        if chunk is not None:
            at = chunk.positions.searchsorted(wanted)
            is_held = chunk.positions.take(at, mode="clip") == wanted
            np.multiply(chunk.tfs.take(at, mode="clip"), is_held, out=table[column])
    unsettled = postings.unsettled
    if len(unsettled):
        number = {term: column for column, term in enumerate(terms)}
        columns = np.array([number.get(term, -1) for term in unsettled.terms], np.intp).take(unsettled.which)
        rows = positions.searchsorted(unsettled.positions)
        is_asked = (positions.take(rows, mode="clip") == unsettled.positions) & (columns >= 0)
        table[columns[is_asked], rows[is_asked]] = unsettled.tfs[is_asked]
    return table.T
