"""What a message means together with its neighbours, since in a conversation the answer stands beside the question.

Their vectors are added to its own with falling shares, and what counts is the cosine with the sum. Before that the sum
itself is not needed: up to its length its cosine is a weighted mean of cosines.

What is near everything, small talk and thanks, is near the query as well, and says nothing of it (a hub). So a part of
what a message has in common with those most like it elsewhere in the scope is taken off, after the correction by which
Conneau et al., Word Translation Without Parallel Data (2018), do the same for words (CSLS):

    corrected = cosine - 0.25 · mean cosine with the 5 most alike of a sample, itself and its neighbours left out
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from talekeeper.search.arrays import Bools, Column, Positions, Singles
from talekeeper.search.matrix import Matrix
from talekeeper.search.message_features import lent_part
from talekeeper.search.tuning import Tuning

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
    def of(cls, flags: Column, matrix: Matrix, has: Bools, row: Positions, tuning: Tuning) -> Surroundings:
        """Where one voice speaks throughout, neighbours count as much less as their words do."""
        part = lent_part(flags, np.arange(len(flags)), tuning.monologue)
        before = tuple(part * share for share in tuning.meaning_before)
        after = tuple(part * share for share in tuning.meaning_after)
        return cls(before, after, matrix, has, row, tuning.meaning_common, tuning.meaning_kin)

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
