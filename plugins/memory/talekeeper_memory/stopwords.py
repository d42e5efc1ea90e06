"""Words that every story is full of (`stopwords.toml`): a message and a fact that share only these share nothing."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from importlib.resources import files

_WORDS = tomllib.loads(files("talekeeper_memory").joinpath("stopwords.toml").read_text(encoding="utf-8"))
SPACED_WORDS: tuple[str, ...] = tuple(f"{_WORDS['english']} {_WORDS['arabic']}".split())
"""Of languages whose words the kernel takes as terms."""


def _longest_first(*names: str) -> tuple[str, ...]:
    """A word goes before its parts."""
    return tuple(sorted((word for name in names for word in _WORDS[name].split()), key=lambda word: -len(word)))


_HAN, _KOREAN, _THAI = _longest_first("chinese", "japanese"), _longest_first("korean"), _longest_first("thai")
# Endings, particles and helping verbs of Japanese; its nouns and stems are in Han characters or katakana.
_HIRAGANA = re.compile("[\u3041-\u309f]+")
_KNOWN_RESTS = 4_096
_known: set[str] = set()


def load_stopwords(terms: Callable[[str], Sequence[str]]) -> Stopwords:
    """Made by the kernel's `ctx.search.terms` once, since its answers never change; a thousand words cost 10 ms."""
    if not _known:
        # One by one: of a whole text the kernel leaves out the words it never looks for.
        _known.update(term for word in SPACED_WORDS for term in terms(word))
    return Stopwords(_known)


class Stopwords:
    """Contains everyday terms; `known` are those of spaced scripts in the form the kernel gives terms."""

    def __init__(self, known: Collection[str]) -> None:
        self._terms = frozenset(known)

    def __contains__(self, term: str) -> bool:
        return term in self._terms or (not term.isascii() and not _rest(term))

    def others(self, matched: Sequence[str]) -> list[str]:
        """The words and stretches that two texts have in common and that are not everyday."""
        return [one for one in self.stretches(matched) if one not in self]

    @staticmethod
    def stretches(matched: Sequence[str]) -> list[str]:
        """The shared terms, one item a word or a stretch of running characters.

        Terms of Chinese, Japanese, Korean and Thai are overlapping pairs: 三个 and 个回 are one thing in common.
        """
        stretches: list[str] = []
        for term in matched:
            joined = _joined(stretches[-1], term) if stretches and _is_dense(term) else ""
            if joined:
                stretches[-1] = joined
            else:
                stretches.append(term)
        return stretches

    @classmethod
    def count(cls, matched: Sequence[str]) -> int:
        """How many words two texts have in common; two characters of a stretch make about one, four in Thai."""
        return sum(
            max(1, len(one) // (4 if _is_thai(one[0]) else 2)) if _is_dense(one) else 1
            for one in cls.stretches(matched)
        )


@lru_cache(_KNOWN_RESTS)
def _rest(stretch: str) -> str:
    """The rest of a stretch of characters without its everyday words; a single character tells nothing."""
    for word in _words(stretch[0]):
        stretch = stretch.replace(word, " ")
    return "".join(part for part in _HIRAGANA.sub(" ", stretch).split() if len(part) > 1)


def _words(letter: str) -> tuple[str, ...]:
    if _is_thai(letter):
        return _THAI
    return _KOREAN if "\uac00" <= letter <= "\ud7a3" else _HAN


def _joined(stretch: str, pair: str) -> str:
    """Both as one where the pair begins with the stretch's last character, which in Thai is several code points."""
    for end in range(len(pair) - 1, 0, -1):
        if stretch.endswith(pair[:end]):
            return stretch + pair[end:]
    return ""


def _is_dense(text: str) -> bool:
    return all("\u3040" <= letter <= "\u30ff" or letter >= "\u3400" or _is_thai(letter) for letter in text)


def _is_thai(letter: str) -> bool:
    return "\u0e00" <= letter <= "\u0e7f"
