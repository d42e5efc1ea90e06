"""Scores that are fast and nearly right, to pick from; the few picked are scored exactly.

What a term is worth in a passage depends on the average length, which every added passage moves a little. So it is kept
as it was with the segments' own average: with another one each score changes by no more than the ratio of the two.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from talekeeper.search.arrays import Bytes, Column, Singles
from talekeeper.search.bm25 import K1, B, Statistics
from talekeeper.search.postings import Postings, Spread

_FARTHEST = 1.05  # ratio of two averages; farther apart, too many passages might be among the best


@dataclass(frozen=True, slots=True)
class Rough:
    """A score for each position: the exact one is at most `ratio` times as high, or as low, the same way for all."""

    scores: Singles
    ratio: float


def worth(tfs: Bytes, lengths: Column, average: float, k1: float, b: float) -> Singles:
    """What BM25 gives for a term without its idf."""
    gain = tfs.astype(np.float32)
    divisor = lengths.astype(np.float32)
    divisor *= np.float32(k1 * b / average if average else 0)
    divisor += np.float32(k1 * (1 - b))
    divisor += gain
    gain *= np.float32(k1 + 1)
    gain /= divisor
    return gain


def rough_scores(postings: Postings, terms: Sequence[str], statistics: Statistics, lengths: Column) -> Rough:
    """Scores of all passages in single precision."""
    scores = np.zeros(len(lengths), np.float32)
    asked = set(terms)
    ratio = _add_heavy(scores, postings, asked, statistics, lengths) if postings.heavy else 1.0
    light = postings.light
    if len(light):
        idfs = np.array([statistics.idf[term] if term in asked else 0.0 for term in light.terms], np.float32)
        gains = worth(light.tfs, lengths.take(light.positions), statistics.average, statistics.k1, statistics.b)
        gains *= idfs.take(light.which)
        np.add.at(scores, light.positions, gains)
    return Rough(scores, ratio)


def _add_heavy(
    scores: Singles, postings: Postings, asked: Collection[str], statistics: Statistics, lengths: Column
) -> float:
    """Adds the heavy terms to `scores`; gives how far off that is."""
    k1, b = statistics.k1, statistics.b
    ratio = _apart(postings.average, statistics.average) if (k1, b) == (K1, B) else np.inf
    is_near = ratio <= _FARTHEST
    for term, chunk in postings.heavy.items():
        if term not in asked:
            continue
        idf = np.float32(statistics.idf[term])
        gains = chunk.worth
        if gains is None or not is_near:
            there = lengths[: len(chunk.tfs)] if isinstance(chunk, Spread) else lengths.take(chunk.positions)
            gains = worth(chunk.tfs, there, statistics.average, k1, b)
        if isinstance(chunk, Spread):
            scores[: len(gains)] += gains * idf
        else:
            np.add.at(scores, chunk.positions.astype(np.intp), gains * idf)
    return ratio if is_near else 1.0


def _apart(one: float, other: float) -> float:
    return max(one / other, other / one) if one and other else np.inf
