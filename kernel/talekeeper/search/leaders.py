"""Picks out of many rough scores those that may be among the best."""

from __future__ import annotations

import numpy as np

from talekeeper.search.arrays import Positions, Singles

_BLOCK = 128
# Rough scores are sums of up to a thousand positive single-precision numbers: off by less than 1e-4 of themselves.
_SLACK = np.float32(1 - 1e-4)


def leaders(scores: Singles, k: int, ratio: float = 1.0) -> Positions:
    """Ascending positions of all passages that match and may be among the `k` best, all equals of the last included.

    The right scores may be `ratio` times as high as `scores`, or as low, but not some one and some the other.

    The k-th best of the blocks' best scores is no higher than the k-th best score: one pass over the scores instead of
    a partition of them all (0.11 instead of 0.23 ms at 100,000).
    """
    if k <= 0:
        return np.empty(0, np.intp)
    slack = _SLACK / np.float32(ratio)
    floor = _kth(_block_maxima(scores), k) * slack
    found = np.flatnonzero(scores >= floor) if floor > 0 else np.flatnonzero(scores)
    if len(found) <= k:
        return found
    held = scores[found]
    return found[held >= _kth(held, k) * slack]


def _block_maxima(scores: Singles) -> Singles:
    whole = len(scores) - len(scores) % _BLOCK
    return np.append(scores[:whole].reshape(-1, _BLOCK).max(axis=1), scores[whole:].max(initial=0))


def _kth(scores: Singles, k: int) -> np.float32:
    """The k-th highest, 0 where there are fewer."""
    return np.float32(np.partition(scores, -k)[-k]) if len(scores) >= k else np.float32(0)
