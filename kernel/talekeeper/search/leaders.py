"""Picks out of many rough scores those that may be among the best."""

from __future__ import annotations

import numpy as np

from talekeeper.search.arrays import Positions, Singles

_STACKED = 128
_PER_WANTED = 8
# Rough scores are sums of up to a thousand positive single-precision numbers: off by less than 1e-4 of themselves.
_SLACK = np.float32(1 - 1e-4)


def leaders(scores: Singles, k: int, ratio: float = 1.0) -> Positions:
    """Ascending positions of all passages that match and may be among the `k` best, all equals of the last included.

    The right scores may be `ratio` times as high as `scores`, or as low, but not some one and some the other.

    The k-th best of the best scores of groups is no higher than the k-th best score: one pass over the scores instead
    of a partition of them all.
    """
    if k <= 0:
        return np.empty(0, np.intp)
    slack = _SLACK / np.float32(ratio)
    floor = _kth(_maxima(scores, k), k) * slack
    found: Positions = (scores >= floor if floor > 0 else scores).nonzero()[0]
    if len(found) <= k:
        return found
    held = scores.take(found)
    return found[held >= _kth(held.copy(), k) * slack]


def _maxima(scores: Singles, k: int) -> Singles:
    """The best of groups that lie across the scores, several times as many groups as `k`; the last few are left out."""
    stacked = min(_STACKED, len(scores) // (_PER_WANTED * k))
    if stacked <= 1:
        return scores.copy()
    width = len(scores) // stacked
    best: Singles = scores[: stacked * width].reshape(stacked, width).max(axis=0)
    return best


def _kth(scores: Singles, k: int) -> np.float32:
    """The k-th highest, 0 where there are fewer; puts `scores` in another order."""
    if len(scores) < k:
        return np.float32(0)
    scores.partition(len(scores) - k)
    return np.float32(scores[-k])
