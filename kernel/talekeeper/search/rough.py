"""Scores that are fast and nearly right, to pick from; the few picked are scored exactly.

What a term is worth in a passage depends on the average length, which every added passage moves a little. So it is kept
as it was with the segments' own average: with another one each score changes by no more than the ratio of the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np

from talekeeper.search.arrays import Bytes, Column, Positions, Singles
from talekeeper.search.bm25 import K1, B, Statistics
from talekeeper.search.postings import Chunk, Postings

A = TypeVar("A", Positions, Bytes, Singles)

_AT_ONCE = 1 << 14  # postings: below it joining terms is faster than a call for each, above it slower
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
    k1, b = statistics.k1, statistics.b
    ratio = _apart(postings.average, statistics.average) if (k1, b) == (K1, B) else np.inf
    is_near = ratio <= _FARTHEST
    settled = [(statistics.idf[term], postings.settled[term]) for term in terms if term in postings.settled]
    if is_near:
        settled = _without_spread(scores, settled)
    for group, weights in _groups(settled):
        positions = np.concatenate([chunk.positions for chunk in group], dtype=np.intp)
        if is_near:
            gains = _joined([chunk.worth for chunk in group])
        else:
            tfs = _joined([chunk.tfs for chunk in group])
            gains = worth(tfs, lengths.take(positions), statistics.average, k1, b)
        _add(scores, positions, gains, weights)
    unsettled = postings.unsettled
    if len(unsettled):
        asked = set(terms)
        idfs = np.array([statistics.idf[one] if one in asked else 0.0 for one in unsettled.terms], np.float32)
        gains = worth(unsettled.tfs, lengths.take(unsettled.positions), statistics.average, k1, b)
        np.add.at(scores, unsettled.positions, gains * idfs.take(unsettled.which))
    return Rough(scores, ratio if is_near else 1.0)


def _apart(one: float, other: float) -> float:
    return max(one / other, other / one) if one and other else np.inf


def _without_spread(scores: Singles, settled: Sequence[tuple[float, Chunk]]) -> list[tuple[float, Chunk]]:
    """Adds the terms that most passages hold; gives the others."""
    spread = [(idf, chunk.spread) for idf, chunk in settled if chunk.spread is not None]
    if spread:
        part = scores[: spread[0][1].size]
        gains = np.empty_like(part)
        for idf, worths in spread:
            np.multiply(worths, np.float32(idf), out=gains)
            part += gains
    return [(idf, chunk) for idf, chunk in settled if chunk.spread is None]


def _groups(settled: Sequence[tuple[float, Chunk]]) -> Iterator[tuple[list[Chunk], list[tuple[float, int]]]]:
    """Chunks to add up together, with the idf and the length of each."""
    group: list[Chunk] = []
    weights: list[tuple[float, int]] = []
    size = 0
    for idf, chunk in settled:
        length = chunk.positions.size
        if group and size + length > _AT_ONCE:
            yield group, weights
            group, weights, size = [], [], 0
        group.append(chunk)
        weights.append((idf, length))
        size += length
    if group:
        yield group, weights


def _add(scores: Singles, positions: Positions, gains: Singles, weights: Sequence[tuple[float, int]]) -> None:
    if len(weights) == 1:
        np.add.at(scores, positions, gains * np.float32(weights[0][0]))
    else:
        idfs, counts = zip(*weights, strict=True)
        np.add.at(scores, positions, gains * np.repeat(np.array(idfs, np.float32), counts))


def _joined(arrays: Sequence[A]) -> A:
    if len(arrays) == 1:
        return arrays[0]
    return cast("A", np.concatenate(arrays))
