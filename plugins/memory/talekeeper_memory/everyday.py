"""Words that every story is full of (`everyday.toml`): sharing one says nothing about what a message is about.

Recall does not count them as what a message and a fact have in common.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Sequence
from importlib.resources import files

_WORDS = tomllib.loads(files("talekeeper_memory").joinpath("everyday.toml").read_text(encoding="utf-8"))
ENGLISH_WORDS: tuple[str, ...] = tuple(_WORDS["english"].split())
# Longest first: a word goes before its parts.
CJK_WORDS: tuple[str, ...] = tuple(
    sorted(f"{_WORDS['chinese']} {_WORDS['japanese']}".split(), key=lambda word: -len(word))
)
# Endings, particles and helping verbs of Japanese; its nouns and stems are in Han characters or katakana.
_HIRAGANA = re.compile("[\u3041-\u309f]+")
_known: set[str] = set()


def everyday(terms: Callable[[str], Sequence[str]]) -> Everyday:
    """By the kernel's `ctx.search.terms`, whose answers never change; a thousand words cost ten milliseconds."""
    if not _known:
        # One by one: of a whole text the kernel leaves out the words it never looks for.
        _known.update(term for word in ENGLISH_WORDS for term in terms(word))
    return Everyday(_known)


class Everyday:
    """Tells everyday terms; `known` are the English ones in the form the kernel gives terms."""

    def __init__(self, known: Collection[str]) -> None:
        self._terms = frozenset(known)

    def __contains__(self, term: str) -> bool:
        return term in self._terms or (not term.isascii() and not _rest(term))

    def groups(self, matched: Sequence[str]) -> list[str]:
        """Of what two texts have in common, what is not everyday."""
        return [one for one in self.stretches(matched) if one not in self]

    @staticmethod
    def stretches(matched: Sequence[str]) -> list[str]:
        """What two texts have in common, one item a word or a stretch of running characters.

        Chinese and Japanese terms are overlapping pairs: 三个 and 个回 are one thing in common, 三个回.
        """
        stretches: list[str] = []
        for term in matched:
            before = stretches[-1] if stretches else ""
            if _is_pair(term) and before and _is_dense(before) and before[-1] == term[0]:
                stretches[-1] = before + term[1]
            else:
                stretches.append(term)
        return stretches

    @classmethod
    def count(cls, matched: Sequence[str]) -> int:
        """How many words two texts have in common; two characters of a stretch make about one."""
        return sum(max(1, len(one) // 2) if _is_dense(one) else 1 for one in cls.stretches(matched))


def _rest(stretch: str) -> str:
    """What is left of a stretch of characters without its everyday words; a single character tells nothing."""
    for word in CJK_WORDS:
        stretch = stretch.replace(word, " ")
    return "".join(part for part in _HIRAGANA.sub(" ", stretch).split() if len(part) > 1)


def _is_pair(term: str) -> bool:
    return len(term) == 2 and _is_dense(term)  # noqa: PLR2004 -- a pair


def _is_dense(text: str) -> bool:
    return all("\u3040" <= letter <= "\u30ff" or letter >= "\u3400" for letter in text)
