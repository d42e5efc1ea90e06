"""Corpora to measure with: one that is made, the same on every machine, and one read from files.

The made one follows conversations. Frequencies are Zipf-Mandelbrot, (rank + 12)^-1.38, and the vocabulary at n words is
3.3 n^0.62 (Heaps), both fitted to half a million words of six public sets of English conversations. The commonest words
are English stop words; the others are syllables, so that a word costs the tokeniser what a word costs. One word in ten
comes from fifty that belong to the session, its people and places.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from talekeeper.text import query_terms

_EXPONENT, _SHIFT = 1.38, 12
_HEAPS, _GROWTH = 3.3, 0.62
_LENGTH, _SPREAD = 88, 0.5  # words of a passage: mean, and sigma of its logarithm
_SHORTEST, _LONGEST = 8, 400
_OWN_WORDS, _OWN_SHARE = 50, 0.1
_VOCABULARY = 1 << 20
_COMMONEST = """
the to and i you a of it that in is was for he my on we she with me this what have be so are at but not they her his do
like him just all as there will if or your out an up know no can when from about one would get how them were been by has
"""
_STOP = _COMMONEST.split()
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwxz", "aou"  # no ending that a stemmer would take off
SESSION = 1000
"""Passages of a made session."""

Ranks = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage; its number is its place in the corpus."""

    number: int
    session: int
    text: str


class Made:
    """Any number of passages; the first n are the same however many are asked for."""

    name = "made"

    def __init__(self, size: int) -> None:
        self.size = size
        weights = (np.arange(1, _VOCABULARY + 1) + _SHIFT) ** -_EXPONENT
        self._shares: NDArray[np.float64] = np.asarray(np.cumsum(weights), np.float64)

    def passages(self, start: int = 0, end: int | None = None) -> Iterator[Passage]:
        """Passages by number, from `start` to before `end`."""
        end = self.size if end is None else end
        for session in range(start // SESSION, -(-end // SESSION)):
            first = session * SESSION
            for number, text in enumerate(self._session(session), start=first):
                if start <= number < end:
                    yield Passage(number, session, text)

    def _session(self, session: int) -> Iterator[str]:
        dice = np.random.default_rng(1_000_003 + session)
        known = int(_HEAPS * ((session + 1) * SESSION * _LENGTH) ** _GROWTH)
        lengths = np.exp(dice.normal(np.log(_LENGTH) - _SPREAD**2 / 2, _SPREAD, SESSION))
        sizes = np.clip(np.round(lengths), _SHORTEST, _LONGEST).astype(np.intp)
        ranks = self._draw(dice, int(sizes.sum()), known)
        own = dice.integers(len(_STOP), known, _OWN_WORDS)
        is_own = dice.random(len(ranks)) < _OWN_SHARE
        ranks[is_own] = own[dice.integers(0, _OWN_WORDS, int(is_own.sum()))]
        words = [word(rank) for rank in ranks.tolist()]
        end = 0
        for size in sizes.tolist():
            start, end = end, end + size
            yield " ".join(words[start:end]) + "."

    def _draw(self, dice: np.random.Generator, size: int, known: int) -> Ranks:
        drawn = dice.random(size) * self._shares[known - 1]
        return np.asarray(np.searchsorted(self._shares[:known], drawn), np.intp)


class Read:
    """Passages of real text: `.jsonl` (its `text` and `session`), or plain text, a passage a line."""

    def __init__(self, path: Path, size: int) -> None:
        files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
        lines = [(file, line) for file in files for line in file.read_text("utf-8").splitlines() if line.strip()]
        entries = [_entry(file, line) for file, line in lines[:size]]
        numbers = {session: number for number, session in enumerate(dict.fromkeys(session for session, _ in entries))}
        self.name = path.name
        self._passages = [Passage(i, numbers[session], text) for i, (session, text) in enumerate(entries)]
        self.size = len(self._passages)

    def passages(self, start: int = 0, end: int | None = None) -> Iterator[Passage]:
        """Passages by number, from `start` to before `end`; behind the last it begins anew."""
        for number in range(start, self.size if end is None else end):
            held = self._passages[number % self.size]
            yield Passage(number, held.session, held.text)


Corpus = Made | Read


def questions(corpus: Corpus, terms: int, count: int) -> list[str]:
    """Queries of exactly `terms` different terms: a stretch of words as they follow each other somewhere in the corpus.

    Stop words are left out. A passage too short goes on in the next.
    """
    dice = np.random.default_rng(terms)
    found: list[str] = []
    while len(found) < count:
        start = int(dice.integers(0, max(1, corpus.size - 8)))
        words = [word for passage in corpus.passages(start, start + 8) for word in passage.text.split()]
        chosen = _stretch(words[int(dice.integers(0, 8)) :], terms)
        if chosen is not None:
            found.append(chosen)
    return found


def _stretch(words: Sequence[str], terms: int) -> str | None:
    chosen: list[str] = []
    for one in words:
        asked = query_terms(" ".join([*chosen, one]))
        if len(asked) == len(chosen) + 1 and query_terms(one) == asked[-1:]:
            chosen.append(one)
            if len(chosen) == terms:
                return " ".join(chosen)
    return None


def _entry(file: Path, line: str) -> tuple[str, str]:
    if file.suffix != ".jsonl":
        return file.name, line
    value: dict[str, Any] = json.loads(line)
    return f"{file}:{value.get('session', '')}", str(value.get("text", ""))


@lru_cache(_VOCABULARY)
def word(rank: int) -> str:
    """The word of a rank, commonest first."""
    if rank < len(_STOP):
        return _STOP[rank]
    rest, letters = rank - len(_STOP) + len(_CONSONANTS) * len(_VOWELS), ""
    while rest:
        rest, syllable = divmod(rest, len(_CONSONANTS) * len(_VOWELS))
        consonant, vowel = divmod(syllable, len(_VOWELS))
        letters += _CONSONANTS[consonant] + _VOWELS[vowel]
    return letters
