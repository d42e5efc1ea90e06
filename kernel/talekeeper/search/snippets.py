"""The stretch of a text that shows best why it was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from talekeeper.search.bm25 import idf
from talekeeper.text import (
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
