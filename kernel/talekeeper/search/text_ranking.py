"""Ranks a few given texts against a query with the index's own terms and arithmetic; nothing is stored."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from talekeeper.search.bm25 import K1, B, idf
from talekeeper.text import Terms, document_terms, query_terms


@dataclass(frozen=True, slots=True)
class RankedText:
    """A text by its place in the list given.

    `share` is matched / query terms. `coverage` is the same by weight, ln((N + 1) / (df + 1)) for every query term: one
    that no text holds weighs most, one that all hold nothing, so a single everyday word in common does not look like
    much. Where all texts hold all terms, coverage is the share.
    """

    index: int
    score: float
    matched: tuple[str, ...]
    share: float
    coverage: float


def terms(text: str) -> tuple[str, ...]:
    """The terms of a text as a query has them: once each, in order, everyday words left out."""
    return query_terms(text)


def rank_texts(
    query: str, texts: Sequence[str], limit: int | None = None, min_coverage: float = 0.0
) -> tuple[RankedText, ...]:
    """The texts that share a term with the query, best first, then in the order given; takes any strings."""
    wanted = query_terms(query)
    held = [document_terms(text) for text in texts]
    df = Counter(term for one in held for term in wanted if term in one.counts)
    ranked = [_rank(index, one, wanted, df, held) for index, one in enumerate(held)]
    found = [one for one in ranked if one.matched and one.coverage >= min_coverage]
    return tuple(sorted(found, key=lambda one: -one.score)[:limit])


def _rank(index: int, one: Terms, wanted: Sequence[str], df: Counter[str], held: Sequence[Terms]) -> RankedText:
    matched = tuple(term for term in wanted if term in one.counts)
    if not matched:
        return RankedText(index, 0.0, (), 0.0, 0.0)
    total = len(held)
    average = sum(each.length for each in held) / total
    norm = K1 * (1 - B + B * one.length / average) if average else K1
    score = sum(idf(total, df[term]) * one.counts[term] * (K1 + 1) / (one.counts[term] + norm) for term in matched)
    weights = {term: math.log((total + 1) / (df[term] + 1)) for term in wanted}
    share = len(matched) / len(wanted)
    whole = sum(weights.values())
    coverage = sum(weights[term] for term in matched) / whole if whole else share
    return RankedText(index, score, matched, share, coverage)
