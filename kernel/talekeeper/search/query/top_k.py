"""Fast scores that are nearly right, and the passages that they say may be among the best; those are scored exactly.

What a term is worth in a passage depends on the average length, which every added passage moves a little. So it is kept
as it was with the segments' own average: with another one each score changes by no more than the ratio of the two.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from talekeeper.search.query.bm25 import K1, B, Statistics, worth
from talekeeper.search.query.postings import DensePostings, Postings
from talekeeper.search.storage.columns import Column, Positions, Singles

_FARTHEST = 1.05  # ratio of two averages; farther apart, too many passages might be among the best


def approximate_scores(
    postings: Postings, terms: Sequence[str], statistics: Statistics, lengths: Column
) -> tuple[Singles, float]:
    """Scores of all passages in single precision, and a ratio.

    An exact score is at most that many times as high, or as low, the same way for all.
    """
    scores = np.zeros(len(lengths), np.float32)
    asked = set(terms)
    ratio = _add_heavy(scores, postings, asked, statistics, lengths) if postings.heavy else 1.0
    light = postings.light
    if len(light):
        idfs = np.array([statistics.idf[term] if term in asked else 0.0 for term in light.terms], np.float32)
        gains = worth(light.tfs, lengths.take(light.positions), statistics.average, statistics.k1, statistics.b)
        gains *= idfs.take(light.which)
        np.add.at(scores, light.positions, gains)
    return scores, ratio


def _add_heavy(
    scores: Singles, postings: Postings, asked: Collection[str], statistics: Statistics, lengths: Column
) -> float:
    """Adds the heavy terms to `scores`; gives how far off that is."""
    k1, b = statistics.k1, statistics.b
    ratio = _apart(postings.average, statistics.average) if (k1, b) == (K1, B) else np.inf
    is_near = ratio <= _FARTHEST
    for term, listed in postings.heavy.items():
        if term not in asked:
            continue
        idf = np.float32(statistics.idf[term])
        gains = listed.worth
        if gains is None or not is_near:
            there = lengths[: len(listed.tfs)] if isinstance(listed, DensePostings) else lengths.take(listed.positions)
            gains = worth(listed.tfs, there, statistics.average, k1, b)
        if isinstance(listed, DensePostings):
            scores[: len(gains)] += gains * idf
        else:
            np.add.at(scores, listed.positions.astype(np.intp), gains * idf)
    return ratio if is_near else 1.0


def _apart(one: float, other: float) -> float:
    return max(one / other, other / one) if one and other else np.inf


_STACKED = 128
_PER_WANTED = 8
# Approximate scores are sums of up to a thousand positive single-precision numbers: off by less than 1e-4 of
# themselves.
_SLACK = np.float32(1 - 1e-4)


def top_k(scores: Singles, k: int, ratio: float = 1.0) -> Positions:
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
