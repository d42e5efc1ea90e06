"""Which passages hold a term, as a query works with them: rare terms all together, the others one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from talekeeper.search.arrays import Bools, Bytes, Doubles, Ids, Positions, Singles


@dataclass(frozen=True, slots=True)
class Chunk:
    """A term in all segments of a partition: ascending positions, its frequency there, and what it is roughly worth.

    Worth is what BM25 gives messages without idf, with the average length of the segments for the scope's: `rare` has
    it for each posting, or, of a term that many positions hold, `spread` for every position of the segments. A term of
    few postings has neither.
    """

    positions: Ids
    tfs: Bytes
    rare: Singles | None = None
    spread: Singles | None = None

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def is_light(self) -> bool:
        """Whether it is one of few postings."""
        return self.rare is None and self.spread is None

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        held = (self.positions, self.tfs, self.rare, self.spread)
        return sum(array.nbytes for array in held if array is not None)

    def part(self, chosen: slice | Bools) -> Chunk:
        """The chosen postings."""
        positions = self.positions[chosen]
        if self.spread is not None:
            return Chunk(positions, self.tfs[chosen], self.spread.take(positions))
        return Chunk(positions, self.tfs[chosen], None if self.rare is None else self.rare[chosen])


@dataclass(frozen=True, slots=True)
class Joined:
    """Postings of several terms, one behind the other: `which` has for each the place of its term in `terms`."""

    terms: tuple[str, ...]
    positions: Positions
    tfs: Bytes
    which: Positions

    def __len__(self) -> int:
        return len(self.positions)

    def part(self, chosen: Bools) -> Joined:
        """The chosen postings."""
        return Joined(self.terms, self.positions[chosen], self.tfs[chosen], self.which[chosen])


@dataclass(frozen=True, slots=True)
class Postings:
    """What one partition has of the terms of a query: `heavy` terms, and all other postings in `light`.

    A heavy term has postings in `light`, too, where passages of the tail hold it. `average` is the one that the worth
    of the heavy ones was made with.
    """

    heavy: Mapping[str, Chunk]
    light: Joined
    average: float

    def df(self) -> dict[str, int]:
        """How many passages hold each term."""
        counts = np.bincount(self.light.which, minlength=len(self.light.terms)).tolist()
        df = dict(zip(self.light.terms, counts, strict=True))
        for term, chunk in self.heavy.items():
            df[term] += chunk.positions.size
        return df


def frequencies(postings: Postings, terms: Sequence[str], positions: Positions) -> Doubles:
    """Term frequencies of ascending `positions` (rows) for `terms` (columns)."""
    table = np.zeros((len(terms), len(positions)))
    if not len(positions):
        return table.T
    number = {term: column for column, term in enumerate(terms)}
    wanted = positions.astype(np.int32)  # of another type than the postings, it would have them copied
    for term, chunk in postings.heavy.items():
        if term in number:
            at = chunk.positions.searchsorted(wanted)
            is_held = chunk.positions.take(at, mode="clip") == wanted
            np.multiply(chunk.tfs.take(at, mode="clip"), is_held, out=table[number[term]])
    light = postings.light
    is_wanted = np.zeros(positions[-1] + 2, np.bool_)
    is_wanted[positions] = True
    found = is_wanted.take(light.positions, mode="clip").nonzero()[0]
    columns = np.array([number.get(term, -1) for term in light.terms], np.intp).take(light.which.take(found))
    if len(number) < len(light.terms):
        found, columns = found[columns >= 0], columns[columns >= 0]
    table[columns, positions.searchsorted(light.positions.take(found))] = light.tfs.take(found)
    return table.T
