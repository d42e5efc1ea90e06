"""What plugins and results ask of texts at hand: the stretch that shows why a text was found, and ranking a few texts.

Both use the index's own terms and arithmetic; nothing is stored.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from talekeeper.search.query.bm25 import K1, B, idf
from talekeeper.text import (
    Terms,
    cut_graphemes,
    document_terms,
    grapheme_border,
    paired_characters,
    query_terms,
    sentence_ends,
)

_CUT = "…"
_DIGITS = 9  # sums of the same weights in another order are equal

Piece = tuple[int, int]
"""Start and end of a sentence, or of a part of one that is too long."""


def snippet(text: str, query: str, limit: int = 500) -> str:
    """At most `limit` characters: of all runs of whole sentences, the one that holds most of the query by weight.

    A term weighs the more the fewer sentences hold it. Of several equally good runs the middle one is taken, so that
    the match has something before and behind it. A sentence longer than the limit is cut between words or graphemes.
    `…` stands where something was left out.
    """
    if len(text) <= limit:
        return text
    room = limit - 2 * len(_CUT)
    pieces = list(_pieces(text, room)) if room > 0 else []
    if not pieces:
        return cut_graphemes(text, limit)
    start, end = _best_run(pieces, _matches(text, pieces, query), room)
    body = text[start:end].strip()
    return (_CUT if text[:start].strip() else "") + body + (_CUT if text[end:].strip() else "")


def _pieces(text: str, room: int) -> Iterator[Piece]:
    for start, end in pairwise([0, *sentence_ends(text)]):
        rest = start
        while end - rest > room:
            cut = _inner_border(text, rest, rest + room)
            yield rest, cut
            rest = cut
        yield rest, end


def _inner_border(text: str, start: int, end: int) -> int:
    """Behind the last blank in the second half, else between graphemes, else anywhere."""
    for at in range(end, (start + end) // 2, -1):
        if text[at - 1].isspace():
            return at
    border = grapheme_border(text, end)
    return border if border > start else end


def _matches(text: str, pieces: Sequence[Piece], query: str) -> list[Mapping[str, float]]:
    """For each piece, the query terms it holds with their weight."""
    wanted = query_terms(query)
    if not wanted:
        return [{} for _ in pieces]
    held = [document_terms(text[start:end]).counts for start, end in pieces]
    if not any(term in counts for counts in held for term in wanted):
        wanted = tuple(paired_characters(query, wanted))  # what it was found by then
    weights = {term: idf(len(held), sum(term in counts for counts in held)) for term in wanted}
    return [{term: weights[term] for term in wanted if term in counts} for counts in held]


def _best_run(pieces: Sequence[Piece], matches: Sequence[Mapping[str, float]], room: int) -> Piece:
    best: list[Piece] = []
    most = -1.0
    end = 0
    for first, (start, _) in enumerate(pieces):
        while end < len(pieces) and pieces[end][1] - start <= room:
            end += 1
        held = {term: weight for match in matches[first:end] for term, weight in match.items()}
        weight = round(sum(held.values()), _DIGITS)
        if weight > most:
            best, most = [], weight
        if weight == most:
            best.append((start, pieces[end - 1][1]))
    return best[len(best) // 2] if most > 0 else best[0]


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
