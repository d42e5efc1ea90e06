"""Which passages hold a term, as a query works with them: rare terms all together, the others one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from talekeeper.search.arrays import Bools, Bytes, Doubles, Ids, Positions, Singles


@dataclass(frozen=True, slots=True)
class Chunk:
    """A term in all segments of a partition: ascending positions, its frequency there, and what it is roughly worth.

    Worth is what BM25 gives messages without idf, with the average length of the segments for the scope's; a term of
    few postings has none.
    """

    positions: Ids
    tfs: Bytes
    worth: Singles | None = None

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.positions.nbytes + self.tfs.nbytes + (0 if self.worth is None else self.worth.nbytes)

    def within(self, first: int, end: int) -> Chunk:
        """The postings from position `first` to before `end`."""
        start, stop = self.positions.searchsorted(np.array((first, end), np.int32)).tolist()
        return self._part(slice(start, stop))

    def where(self, is_seen: Bools) -> Chunk:
        """The postings at positions for which `is_seen` is true."""
        return self._part(is_seen.take(self.positions))

    def of(self, wanted: Ids) -> Bytes:
        """Frequencies at these positions; 0 where the term is missing."""
        at = self.positions.searchsorted(wanted)
        is_held = self.positions.take(at, mode="clip") == wanted
        held: Bytes = self.tfs.take(at, mode="clip") * is_held
        return held

    def _part(self, chosen: slice | Bools) -> Chunk:
        return Chunk(self.positions[chosen], self.tfs[chosen], None if self.worth is None else self.worth[chosen])


@dataclass(frozen=True, slots=True)
class Spread:
    """A term that many passages hold, in all segments of a partition: frequency and worth of every position."""

    tfs: Bytes
    worth: Singles
    df: int

    def __len__(self) -> int:
        return self.df

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.tfs.nbytes + self.worth.nbytes

    def within(self, first: int, end: int) -> Chunk:
        """The postings from position `first` to before `end`."""
        held: Positions = (self.tfs[first:end] != 0).nonzero()[0]
        held += first
        return Chunk(held.astype(np.int32), self.tfs.take(held), self.worth.take(held))

    def of(self, wanted: Ids) -> Bytes:
        """Frequencies at these positions; 0 where the term is missing, and beyond the segments."""
        held: Bytes = self.tfs.take(wanted, mode="clip") * (wanted < len(self.tfs))
        return held


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

    heavy: Mapping[str, Chunk | Spread]
    light: Joined
    average: float

    def df(self) -> dict[str, int]:
        """How many passages hold each term."""
        counts = np.bincount(self.light.which, minlength=len(self.light.terms)).tolist()
        df = dict(zip(self.light.terms, counts, strict=True))
        for term, chunk in self.heavy.items():
            df[term] += len(chunk)
        return df


def frequencies(postings: Postings, terms: Sequence[str], positions: Positions) -> Doubles:
    """Term frequencies of ascending `positions` (rows) for `terms` (columns), which are among those of the postings."""
    light = postings.light
    table = np.zeros((len(positions), len(light.terms)))
    if len(positions):
        wanted = positions.astype(np.int32)  # of another type than the postings, it would have them copied
        for term, chunk in postings.heavy.items():
            table[:, light.terms.index(term)] = chunk.of(wanted)
        is_wanted = np.zeros(positions[-1] + 2, np.bool_)
        is_wanted[positions] = True
        found = is_wanted.take(light.positions, mode="clip").nonzero()[0]
        table[positions.searchsorted(light.positions.take(found)), light.which.take(found)] = light.tfs.take(found)
    return table if tuple(terms) == light.terms else table[:, [light.terms.index(term) for term in terms]]
