"""Where in a text the matched terms stand, to show them."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator

from talekeeper.text import document_terms

Span = tuple[int, int]

_WIDE = frozenset("WF")
_JOINERS = frozenset("'’-.:/")


def spans(text: str, matched: Collection[str]) -> list[Span]:
    """The stretches whose terms are among `matched`, sorted and apart; where no spaces stand, pairs of characters."""
    return list(_joined(span for word in _words(text) for span in _in_word(text, word, frozenset(matched))))


def _in_word(text: str, word: Span, matched: frozenset[str]) -> Iterator[Span]:
    start, end = word
    if matched.isdisjoint(document_terms(text[start:end]).counts):
        return
    if not any(unicodedata.east_asian_width(character) in _WIDE for character in text[start:end]):
        yield word
        return
    pairs = [(at, min(at + 2, end)) for at in range(start, max(end - 1, start + 1))]
    found = [pair for pair in pairs if not matched.isdisjoint(document_terms(text[pair[0] : pair[1]]).counts)]
    yield from found or [word]


def _words(text: str) -> Iterator[Span]:
    """Stretches of letters, digits and marks, with what joins them; blanks and other punctuation part them."""
    start = None
    for at, character in enumerate(text):
        inside = unicodedata.category(character)[0] in "LNM" or (start is not None and character in _JOINERS)
        if inside and start is None:
            start = at
        elif not inside and start is not None:
            yield start, at
            start = None
    if start is not None:
        yield start, len(text)


def _joined(found: Iterator[Span]) -> Iterator[Span]:
    last: Span | None = None
    for span in found:
        if last is not None and span[0] <= last[1]:
            last = last[0], max(last[1], span[1])
        else:
            if last is not None:
                yield last
            last = span
    if last is not None:
        yield last
