"""Cuts texts to a length: at sentence ends where there are any, between words or characters where not."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from talekeeper.api import cut_graphemes, estimate_tokens, sentence_ends

# A word of the scripts that put no spaces between words, counted by its characters: two of them make about one word.
_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_DENSE}]|[^\W{_DENSE}]+(?:['’-][^\W{_DENSE}]+)*")
_AHEAD = 100  # characters behind a sentence that show whether it has ended
_DENSE_LETTER = re.compile(f"[{_DENSE}]")


def cut_at_sentence(text: str, limit: int) -> str:
    """At most `limit` characters, ending with the last sentence that fits; within a sentence only when none does."""
    text = text.strip()
    if len(text) <= limit:
        return text
    ends = [end for end in sentence_ends(text) if end <= limit]
    return text[: ends[-1]].strip() if ends else _cut_at_word(text, limit)


def first_tokens(text: str, tokens: int) -> str:
    """The beginning of a text, at most that many tokens by the kernel's estimate."""
    return text[: _fitting(text, tokens)].rstrip() if estimate_tokens(text) > tokens else text


def last_tokens(text: str, tokens: int) -> str:
    """The end of a text, at most that many tokens by the kernel's estimate."""
    if estimate_tokens(text) <= tokens:
        return text
    length = _fitting(text[::-1], tokens)
    return text[len(text) - length :].lstrip()


def cut_to_words(text: str, limit: int) -> str:
    """At most `limit` words, ending with the last sentence that fits; within a sentence only when none does.

    Two Chinese or Japanese characters count as one word.
    """
    text = text.strip()
    end = dense = others = 0
    for word in _WORD.finditer(text):
        if _DENSE_LETTER.match(word[0]):
            dense += 1
        else:
            others += 1
        if others + (dense + 1) // 2 > limit:
            over = word.start()
            # Text further on cannot change which sentence ends fit, so the length of the text costs nothing.
            fitting = [place for place in sentence_ends(text[: over + _AHEAD]) if place <= over]
            return text[: fitting[-1] if fitting else end].strip()
        end = word.end()
    return text


def is_blank(text: str) -> bool:
    """Whether nothing in the text can be seen: blanks, controls and format characters alone."""
    return all(letter.isspace() or unicodedata.category(letter) in {"Cc", "Cf"} for letter in text)


def one_line(text: str) -> str:
    """The text with every stretch of white space as one space."""
    return " ".join(text.split())


def _cut_at_word(text: str, limit: int) -> str:
    cut = cut_graphemes(text, limit)
    if len(cut) < len(text) and not text[len(cut)].isspace() and not _DENSE_LETTER.match(text[len(cut)]):
        before, space, _ = cut.rpartition(" ")
        # A word longer than half of what is left is cut itself.
        cut = before if space and len(before) * 2 >= limit else cut
    return cut.rstrip()


def _fitting(text: str, tokens: int) -> int:
    """The longest beginning that is no more than `tokens`, in characters."""
    lengths = range(1, min(len(text), tokens * 4) + 1)
    return bisect_right(lengths, tokens, key=lambda length: estimate_tokens(text[:length]))
