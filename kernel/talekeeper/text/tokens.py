"""From text to runs to terms: what a document counts and what a query asks for.

A run is what one class of script holds together: words with digits and numbers; Han with kana; Hangul; Thai, Lao,
Khmer, Burmese, which put no spaces between words; emoji. Runs are found in one pass, linear whatever the text: every
repeat is possessive. `document_terms` feeds the index, `query_terms` the search; both see every run the same way, so a
query finds the words it was taken from. Stop words are counted in documents and left out of queries only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from itertools import chain, pairwise
from operator import add
from typing import NamedTuple

from talekeeper.text.normalisation import codes, normalise, ranges
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

_NUMBER = r"[0-9]++(?:[.:/,-][0-9]++)++"
_ASCII = re.compile(rf"{_NUMBER}|[a-z0-9]++(?:'[a-z0-9]++)*+")

# Han of all planes with 々〆〇, kana with ー, bopomofo; the blocks run on to 3FFFF, where only Han is to come.
_HIGH_CJK = "\U00017000-\U00018dff\U0001aff0-\U0001b2ff\U00020000-\U0003ffff"
_CJK = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    f"\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff{_HIGH_CJK}"
)
_HANGUL = "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7fb"
_SPACELESS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3\u17d7"
    "\u17dc\u17dd\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"
)
# Vowels and signs that stand on a base, and the two signs that put the next consonant under it.
_ON_BASE = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060"
    "\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd\ua9e5\uaa7b-\uaa7d"
)
_CLUSTER = rf".(?:[\u1039\u17d2][^{_ON_BASE}]|[{_ON_BASE}])*+"
# Pictures, and flags of two letters.
_EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}|[\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa\u2600-\u2767\u2776-\u27bf"
    "\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001faff]"
)
# Where letters and marks of other scripts stand; between these blocks there are none or those of the classes above.
_WORD_BLOCKS = (
    "80-DFF F00-FFF 10A0-10FF 1200-177F 17F0-17F9 1800-218F 2460-24FF 2C00-2E2F 3248-324F A000-A95F A980-A9DF "
    "AA00-AA5F AA80-ABFF FB00-FEFF"
)
_HIGH_MARK_BLOCKS = "10100-11FFF 16A00-16FFF 1BC00-1BCFF 1E000-1EEFF"


class Script(Enum):
    """How the terms of a run are made."""

    WORD = "a word or number"
    CJK = "overlapping pairs, and single characters in their own space"
    CLUSTERS = "overlapping pairs of clusters"
    EMOJI = "itself"


_CLASSES = (
    (f"[{_CJK}{_HANGUL}]", Script.CJK),
    (f"[{_SPACELESS}]", Script.CLUSTERS),
    (_EMOJI, Script.EMOJI),
)


def find_runs(text: str) -> list[str]:
    """The runs of normalised text in order."""
    return _ASCII.findall(text) if text.isascii() else any_script()(text)


@cache
def any_script() -> Callable[[str], list[str]]:
    """Compiled at the first text that is not ASCII (a few milliseconds)."""
    # Python's \w leaves out combining marks, which tears words of many scripts apart. Letters and marks of the lower
    # plane stand in one explicit class, which the engine looks up at once; those above, rare, cost a walk each.
    letters = "a-z0-9" + ranges(code for code in codes(_WORD_BLOCKS) if chr(code).isalnum() or _is_mark(code))
    marks = ranges(code for code in codes(_HIGH_MARK_BLOCKS) if _is_mark(code))
    above = rf"(?=[\U00010000-\U0001efff])(?:[^\W\0-\uffff{_HIGH_CJK}]|[{marks}])++"
    # One mention of a class of hundreds of ranges, for compiling it is what takes long: an apostrophe at the end of a
    # word comes along, and `words` takes it off.
    word = f"(?:[{letters}]++'?+)++"
    pattern = rf"{_NUMBER}|{word}|[{_CJK}]++|[{_HANGUL}]++|[{_SPACELESS}]++|{_EMOJI}|{above}"
    return re.compile(pattern).findall


def _is_mark(code: int) -> bool:
    return unicodedata.category(chr(code)).startswith("M")


def script_of(run: str) -> Script:
    """The class of a run, told by its first character."""
    return Script.WORD if run.isascii() else _script_of(run[0])


@lru_cache(4096)
def _script_of(character: str) -> Script:
    return next((script for pattern, script in _CLASSES if re.match(pattern, character)), Script.WORD)


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
            script = script_of(run)
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
    script = script_of(run)
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


def _terms_of(run: str, script: Script) -> Sequence[str]:
    match script:
        case Script.WORD:
            return word_terms(run)
        case Script.CJK:
            return (SINGLE + run,) if len(run) == 1 else list(map(add, run, run[1:]))
        case Script.CLUSTERS:
            parts = re.findall(_CLUSTER, run)  # bases with what stands on them
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
    return [run for run in runs if script_of(run) is Script.CJK and not re.match(f"[{_HANGUL}]", run)]
