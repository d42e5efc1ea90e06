"""What a message means together with its neighbours, since in a conversation the answer stands beside the question.

Their vectors are added to its own with falling shares, and what counts is the cosine with the sum. Before that the sum
itself is not needed: up to its length its cosine is a weighted mean of cosines.

What is near everything, small talk and thanks, is near the query as well, and says nothing of it. So a part of what a
message has in common with those most like it elsewhere in the scope is taken off, after the correction by which
Conneau et al., Word Translation Without Parallel Data (2018), do the same for words (CSLS):

    told = cosine - 0.25 · mean cosine with the 5 most alike of a sample, itself and its neighbours left out
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from talekeeper.search.arrays import Bools, Column, Positions, Singles
from talekeeper.search.manner import turns_taken
from talekeeper.search.matrix import Matrix
from talekeeper.search.tuning import Tuning

_LEAST = np.float32(1e-6)
_AT_ONCE = 256
"""Messages whose neighbours' vectors are read at a time: a few megabytes."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Messages of one field in reading order: which have a vector, in which row, and what neighbours count."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    matrix: Matrix
    has: Bools
    row: Positions
    common: float
    kin: int

    @classmethod
    def of(cls, flags: Column, matrix: Matrix, has: Bools, row: Positions, tuning: Tuning) -> Surroundings:
        """Where one voice speaks throughout, neighbours count as much less as their words do."""
        part = tuning.monologue + (1 - tuning.monologue) * turns_taken(flags, np.arange(len(flags)))
        before = tuple(part * share for share in tuning.meant_before)
        after = tuple(part * share for share in tuning.meant_after)
        return cls(before, after, matrix, has, row, tuning.meant_common, tuning.meant_kin)

    def roughly(self, cosine: Singles) -> Singles:
        """The mean of each message's cosine and its neighbours', weighed by their shares."""
        there = self.has.astype(np.float32)
        mean = self._shared(cosine * there) / np.maximum(self._shared(there), _LEAST)
        return mean.astype(np.float32)

    def told(self, places: Positions, sample: Positions, vector: Singles) -> tuple[Singles, Singles]:
        """What the messages at `places` say of the query, and the same for a sample of them all."""
        asked, usual = self._together(places), self._together(sample)
        said: Singles = asked @ vector - self._in_common(asked, places, usual, sample)
        usually: Singles = usual @ vector - self._in_common(usual, sample, usual, sample)
        return said, usually

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

    def _in_common(self, told: Singles, places: Positions, usual: Singles, sample: Positions) -> Singles:
        """A part of the mean cosine with those of the sample most alike; of one that has none, the usual part."""
        reach = max(len(self.before), len(self.after))
        alike: Singles = told @ usual.T
        alike[np.abs(places[:, np.newaxis] - sample) <= reach] = -np.inf
        kin = max(1, min(self.kin, len(sample) // 3))
        best = np.partition(alike, -kin, axis=1)[:, -kin:]
        is_there = np.isfinite(best)
        counts = is_there.sum(axis=1)
        means = np.where(is_there, best, 0).sum(axis=1) / np.maximum(counts, 1)
        elsewhere = means[counts > 0].mean() if counts.any() else 0.0
        found: Singles = (self.common * np.where(counts > 0, means, elsewhere)).astype(np.float32)
        return found
