"""From text to terms: what a document counts and what a query asks for.

`document_terms` feeds the index, `query_terms` the search; both see every run the same way, so a query finds the words
it was taken from. Stop words are counted in documents and left out of queries only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from operator import add
from typing import NamedTuple

from talekeeper.text.normalisation import normalise
from talekeeper.text.runs import Script, clusters, find_runs, is_hangul, script_of
from talekeeper.text.words import (
    LIGHT_CHARACTERS,
    STEMMER_VERSION,
    STOP_CHARACTERS,
    STOP_WORDS,
    TOKEN_LIMIT,
    split_word,
    word_terms,
)

# Raised with every change that gives any text other terms, or any message another manner.
_VERSION = 2
TOKENS_FINGERPRINT = f"talekeeper-{_VERSION} pystemmer-{STEMMER_VERSION} unicode-{unicodedata.unidata_version}"
"""Two indexes with equal fingerprints hold the same terms for the same text."""

SINGLE = "\x01"
"""Stands before a term that is a single CJK character; no text can hold it inside a word."""
_COUNT_LIMIT = 255
_TELLING_PAIRS = 2
_TELL_NOTHING = STOP_CHARACTERS | LIGHT_CHARACTERS
_KEPT = 1 << 15
_FEW = 4
"""Terms of what is kept. Phrases of Thai and rows of emoji have sixty each: so many of them would be 180 MB."""


@dataclass(frozen=True, slots=True)
class Terms:
    """`counts` maps term → occurrences (1..255); `length` is the number of tokens BM25 calls the document length.

    Single CJK characters stand in `counts` in a term space of their own and do not add to `length`, except where a run
    has one character only.
    """

    counts: Mapping[str, int]
    length: int


def document_terms(*texts: str) -> Terms:
    """The terms of a passage made of several texts (its words, its speaker, its date); nothing runs across two of them.

    Takes any strings, lone surrogates and NUL included; linear in their size.
    """
    counts: dict[str, int] = {}
    tokens: list[str] = []
    singles: list[str] = []
    for text in texts:
        for piece in normalise(text).split():  # no run reaches across a space
            found = _known[piece]
            if isinstance(found, str):
                counts[found] = counts.get(found, 0) + 1
            else:
                tokens += found.tokens
                singles += found.singles
    length = sum(counts.values()) + len(tokens)
    for term in chain(tokens, singles):
        counts[term] = counts.get(term, 0) + 1
    if length + len(singles) > _COUNT_LIMIT < max(counts.values()):
        counts = {term: min(times, _COUNT_LIMIT) for term, times in counts.items()}
    return Terms(counts, length)


class _Several(NamedTuple):
    """Where `singles` are the CJK characters, which do not add to the length of a document."""

    tokens: Sequence[str]
    singles: Sequence[str] = ()


class _Known(dict[str, str | _Several]):
    """What was met between two spaces → its term, or its terms where it has none or several.

    Texts repeat their words, and no phrases. All are forgotten at once, so no order need be kept.
    """

    def __missing__(self, piece: str) -> str | _Several:
        tokens: list[str] = []
        singles: list[str] = []
        for run in find_runs(piece):
            script = _script_of(run)
            tokens += _terms_of(run, script)
            if script is Script.CJK and len(run) > 1:
                singles += map(SINGLE.__add__, run)
        if singles or len(tokens) > _FEW or len(piece) > TOKEN_LIMIT:  # what is no word is seldom repeated
            return _Several(tokens, singles)
        if len(self) >= _KEPT:
            self.clear()
        self[piece] = found = tokens[0] if len(tokens) == 1 else _Several(tokens)
        return found


_known = _Known()


def query_terms(text: str) -> tuple[str, ...]:
    """The terms to look for, each once, in the order of the text.

    Stop words are left out, and CJK pairs that touch a stop character where two others remain; a text of nothing else
    keeps them all. A character between stop characters is a term by itself, since no pair tells of it.
    """
    parts = _query_parts(text)
    telling_pairs = {part.term for part in parts if part.is_pair and not part.is_stop}
    pairs_suffice = len(telling_pairs) >= _TELLING_PAIRS
    wanted = [part.term for part in parts if not part.is_stop or (part.is_pair and not pairs_suffice)]
    return tuple(dict.fromkeys(wanted or [part.term for part in parts]))


def everyday_terms(text: str) -> tuple[str, ...]:
    """The stop words of a text that `query_terms` leaves out, each once; none where it leaves out none.

    They tell two messages apart that match the rest alike: "who was it *for*", "what *is* *he*".
    """
    kept = set(query_terms(text))
    return tuple(dict.fromkeys(part.term for part in _query_parts(text) if part.is_stop_word and part.term not in kept))


class _QueryTerm(NamedTuple):
    term: str
    is_stop: bool
    is_pair: bool = False

    @property
    def is_stop_word(self) -> bool:
        """Unlike a pair of characters one of which says little."""
        return self.is_stop and not self.is_pair and not self.term.startswith(SINGLE)


@lru_cache(8)  # a search reads the same texts for telling terms, for everyday ones, and again for each snippet
def _query_parts(text: str) -> tuple[_QueryTerm, ...]:
    return tuple(part for run in find_runs(normalise(text)) for part in _query_terms_of(run))


def _query_terms_of(run: str) -> Iterable[_QueryTerm]:
    script = _script_of(run)
    if script is Script.WORD:
        return _query_word(run) if len(run) <= TOKEN_LIMIT else _query_words(run)
    return _query_signs(run, script)


def _query_words(run: str) -> tuple[_QueryTerm, ...]:
    return tuple(
        _QueryTerm(term, token in STOP_WORDS) for token, term in zip(split_word(run), word_terms(run), strict=True)
    )


_query_word = lru_cache(1 << 13)(_query_words)


def _query_signs(run: str, script: Script) -> Iterator[_QueryTerm]:
    for term in _terms_of(run, script):
        is_stop = script is Script.CJK and not STOP_CHARACTERS.isdisjoint(term)
        yield _QueryTerm(term, is_stop, is_pair=script is Script.CJK and len(run) > 1)
    if script is Script.CJK and len(run) > 1:
        yield from (_QueryTerm(SINGLE + character, is_stop=False) for character in _stranded(run))


def _stranded(run: str) -> Iterator[str]:
    """Telling characters with a stop character, or nothing, on both sides: 狗 in 你的狗是什么, 姐 in 叫上你姐.

    Worth +.04 in R@10 where people speak of what is one character to them (dulemon, madial_zh), nothing lost elsewhere.
    """
    bare = [character in STOP_CHARACTERS for character in run]
    for character, before, here, after in zip(run, [True, *bare], bare, [*bare[1:], True], strict=False):
        if before and after and not here and character not in LIGHT_CHARACTERS:
            yield character


def _script_of(run: str) -> Script:
    return Script.WORD if run.isascii() else script_of(run)


def _terms_of(run: str, script: Script) -> Sequence[str]:
    match script:
        case Script.WORD:
            return word_terms(run)
        case Script.CJK:
            return (SINGLE + run,) if len(run) == 1 else list(map(add, run, run[1:]))
        case Script.CLUSTERS:
            parts = clusters(run)
            return [(one + two)[:TOKEN_LIMIT] for one, two in pairwise(parts)] or [run[:TOKEN_LIMIT]]
        case Script.EMOJI:
            return (run,)


def paired_characters(text: str, terms: Collection[str]) -> dict[str, tuple[str, ...]]:
    """For the telling characters of a text, as terms of their own, the pairs of `terms` they stand in: 狗 → 遛狗, 狗吗.

    `terms` are those of the query; a character among them is left out, and so is one that none of their pairs holds.
    """
    known = set(terms)
    pairs = dict.fromkeys(pair for run in _paired_runs(text) for pair in map("".join, pairwise(run)) if pair in known)
    found: dict[str, list[str]] = {}
    for pair in pairs:
        for character in dict.fromkeys(pair):
            found.setdefault(SINGLE + character, []).append(pair)
    return {term: tuple(held) for term, held in found.items() if term[-1] not in _TELL_NOTHING and term not in known}


def _paired_runs(text: str) -> list[str]:
    if text.isascii():
        return []
    runs = [run for run in find_runs(normalise(text)) if len(run) > 1 and not run.isascii()]
    # A syllable of Hangul is a sound, which tells nothing by itself.
    return [run for run in runs if script_of(run) is Script.CJK and not is_hangul(run)]
