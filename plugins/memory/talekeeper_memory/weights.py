"""How much of a question a record covers, by the rarity of the shared terms among the records it is ranked with.

The weight of a term is ln((N + 1) / (df + 1)) over the N records on the lineage, as in the kernel's own ranking of
texts: one that no record holds weighs most, one that all hold nothing. Fewer than fifty are too few to tell a rare term
from a common one: they are weighed as fifty, so that a term weighs something even if the only record has it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from talekeeper.api import ScoredRecord

_FEWEST = 50


class Weights:
    """The terms of one question and how many of `total` records hold each."""

    def __init__(self, terms: Sequence[str], held: Mapping[str, int], total: int) -> None:
        self.terms = tuple(terms)
        self.held = held
        self.total = total
        among = max(total, _FEWEST) + 1
        self._weights = {term: max(0.0, math.log(among / (held.get(term, 0) + 1))) for term in terms}
        self._whole = sum(self._weights.values())

    def coverage(self, matched: Collection[str]) -> float:
        """The weight of the matched terms as a part of that of all, 0..1; where nothing weighs, their number's part."""
        of_question = [term for term in self.terms if term in matched]
        if self._whole:
            return sum(self._weights[term] for term in of_question) / self._whole
        return len(of_question) / len(self.terms) if self.terms else 0.0

    def weight(self, term: str) -> float:
        """ln((N + 1) / (df + 1)) of one of the terms, N at least fifty; never negative."""
        return self._weights[term]


def weigh(terms: Sequence[str], scored: Sequence[ScoredRecord], total: int) -> Weights:
    """Counts who holds what from the answer to one question, if it has every record that shares a term with it."""
    held = Counter(term for one in scored for term in one.matched)
    return Weights(terms, held, max(total, len(scored)))
