"""How much of a question a record covers, by the rarity of the shared terms among the records it is ranked with.

The weight of a term is ln((N + 1) / (df + 1)) over the N records on the lineage, as in the kernel's own ranking of
texts: one that no record holds weighs most, one that all hold nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from talekeeper.api import ScoredRecord


@dataclass(frozen=True, slots=True)
class Weights:
    """The terms of one question and how many of `total` records hold each."""

    terms: tuple[str, ...]
    held: Counter[str]
    total: int

    def coverage(self, matched: Sequence[str]) -> float:
        """The weight of the matched terms as a part of that of all, 0..1; where nothing weighs, their number's part."""
        if not self.terms:
            return 0.0
        whole = sum(map(self.weight, self.terms))
        of_question = [term for term in self.terms if term in matched]
        return sum(map(self.weight, of_question)) / whole if whole else len(of_question) / len(self.terms)

    def weight(self, term: str) -> float:
        """ln((N + 1) / (df + 1)), never negative."""
        return max(0.0, math.log((self.total + 1) / (self.held[term] + 1)))


def weigh(terms: Sequence[str], scored: Sequence[ScoredRecord], total: int) -> Weights:
    """Counts who holds what from the answer to one question: it has every record that shares a term with it."""
    held = Counter(term for one in scored for term in set(one.matched))
    return Weights(tuple(terms), held, max(total, len(scored)))
