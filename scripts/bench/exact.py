"""BM25 by plain arithmetic over every passage, with any engine's constants: what its answers are held against."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from talekeeper.text import document_terms

from bench.corpus import Corpus

_EXACT_BELOW = 40
_FREE = 24


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How an engine counts.

    `one_byte`: lengths as Lucene and tantivy store them. `floor`: idf without the 1 that keeps it positive, and what
    stands for one that is not: a number, or with `of_average` that share of the mean idf of all terms.
    """

    k1: float
    b: float
    one_byte: bool = False
    floor: float | None = None
    of_average: bool = False


class Exact:
    """Frequencies of chosen terms in every passage of a corpus."""

    def __init__(self, corpus: Corpus, terms: Iterable[str]) -> None:
        held: dict[str, list[tuple[int, int]]] = {term: [] for term in terms}
        lengths: list[int] = []
        df: Counter[str] = Counter()
        for number, passage in enumerate(corpus.passages()):
            found = document_terms(passage.text)
            lengths.append(found.length)
            df.update(found.counts.keys())
            for term in held.keys() & found.counts.keys():
                held[term].append((number, found.counts[term]))
        self._held = {term: np.array(rows, np.intp).reshape(-1, 2) for term, rows in held.items()}
        self._lengths = np.array(lengths, np.float64)
        held_by = np.array(list(df.values()))
        self._mean_idf = float(np.log((len(lengths) - held_by + 0.5) / (held_by + 0.5)).mean())

    def scores(self, query: Sequence[str], how: Arithmetic) -> NDArray[np.float64]:
        """Of every passage."""
        lengths = self._lengths
        average = lengths.mean()
        if how.one_byte:
            lengths = np.array([one_byte(int(length)) for length in lengths], np.float64)
        scores = np.zeros(len(lengths))
        for term in query:
            places, tf = self._held[term].T
            idf = self._idf(len(places), how)
            divisor = tf + how.k1 * (1 - how.b + how.b * lengths[places] / average)
            scores[places] += idf * tf * (how.k1 + 1) / divisor
        return scores

    def _idf(self, df: int, how: Arithmetic) -> float:
        odds = (len(self._lengths) - df + 0.5) / (df + 0.5)
        if how.floor is None:
            return math.log1p(odds)
        floor = how.floor * self._mean_idf if how.of_average else how.floor
        return math.log(odds) if odds > 1 else floor


def one_byte(length: int) -> int:
    """What comes back of a length kept in one byte: exact below 40, then four leading bits of what exceeds 24."""
    if length < _EXACT_BELOW:
        return length
    rest = length - _FREE
    shift = max(0, rest.bit_length() - 4)
    return ((rest >> shift) << shift) + _FREE
