"""Okapi BM25 on arrays, after Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).

    score = sum over terms of  idf · tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / average length))
    idf   = ln(1 + (N - df + 0.5) / (df + 0.5))

This idf is never negative, so a passage has a score above 0 exactly where it shares a term with the query.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from talekeeper.search.storage.columns import Bytes, Column, Doubles, Singles

# The optimum is flat and the same on two halves of the development conversations. Length says little there, since a
# long message is a long speech on one subject: the textbook's b costs .017 in R@10 on one set (crd3). For records it
# does better by .006 and .014 in MRR where they differ in length (madial), by .002 at most elsewhere.
K1 = 0.9
B = 0.4
B_RECORDS = 0.75


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the passages of one kind in scope have in common; `df` and `idf` by term, and how BM25 is to weigh them."""

    total: int
    average: float
    k1: float
    b: float
    df: Mapping[str, int]
    idf: Mapping[str, float]
    everyday: frozenset[str] = frozenset()
    """Terms a passage is not said to match by."""

    @classmethod
    def of(cls, total: int, length: int, df: Mapping[str, int], k1: float, b: float) -> Statistics:
        """From the number of passages, the sum of their lengths and the passages a term is in."""
        idfs = {term: idf(total, held) for term, held in df.items()}
        return cls(total, length / total if total else 0.0, k1, b, df, idfs)

    def with_everyday(self, terms: Sequence[str], weight: float) -> Statistics:
        """The same where `terms` weigh less, and a passage is not said to match by them."""
        return replace(self.lighter(terms, weight), everyday=frozenset(terms))

    def lighter(self, terms: Sequence[str], weight: float) -> Statistics:
        """The same where `terms` weigh less."""
        if not terms:
            return self
        return replace(self, idf={**self.idf, **{term: weight * self.idf[term] for term in terms}})


def idf(total: int, df: int) -> float:
    """Weight of a term that `df` of `total` passages hold."""
    return math.log1p((total - df + 0.5) / (df + 0.5))


def norm(length: Column | Doubles, average: float, statistics: Statistics) -> Doubles:
    """The denominator without tf; `average` is that of lengths like `length`."""
    share: Doubles = length / average if average else np.zeros(len(length))
    return statistics.k1 * (1 - statistics.b + statistics.b * share)


def weigh(tf: Doubles, idfs: Doubles, norms: Doubles, k1: float) -> Doubles:
    """What each term (columns) adds to the score of each passage (rows)."""
    weights: Doubles = idfs * tf * (k1 + 1) / (tf + norms[:, np.newaxis])
    return weights


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
