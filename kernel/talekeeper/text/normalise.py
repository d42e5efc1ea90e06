"""One spelling for what a reader would call the same text: the first step of every term, in index and query alike.

The result feeds `runs` and is never shown. Width, case, composition, accents (Latin, Greek, Cyrillic), digits of any
script, typographic apostrophes and dashes, and traditional Chinese are made one; what draws nothing is dropped.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache

from talekeeper.text.han_table import SIMPLIFIED, TRADITIONAL

# Letters that carry a stroke or are joined, which no decomposition takes apart.
_LETTERS = {"ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
_PUNCTUATION = {"’": "'", "‘": "'", "ʼ": "'", "ʻ": "'", "‛": "'", "‐": "-", "–": "-", "−": "-", "⁄": "/"}
# Blocks whose letters lose their accents, and the combining signs that are such accents.
_ACCENTED = (range(0xC0, 0x250), range(0x370, 0x530), range(0x1E00, 0x2000))
_ACCENTS = (
    *(range(0x300, 0x370), range(0x483, 0x48A), range(0x1AB0, 0x1B00), range(0x1DC0, 0x1E00), range(0x20D0, 0x2100)),
    *(range(0x2DE0, 0x2E00), range(0xA66F, 0xA673), range(0xA674, 0xA67E), range(0xA69E, 0xA6A0)),
    range(0xFE20, 0xFE30),
)
# Soft hyphen, zero-width signs, directions, fillers, variation selectors, BOM, tags, skin tones; the loose kana marks.
_UNSEEN = (
    *((0xAD, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3099, 0x309A, 0x3164, 0xFEFF, 0xFFA0), range(0x180B, 0x1810)),
    *(range(0x200B, 0x2010), range(0x202A, 0x202F), range(0x2060, 0x2070), range(0xFE00, 0xFE10)),
    *(range(0xFFF9, 0xFFFC), range(0x1D173, 0x1D17B), range(0x1F3FB, 0x1F400), range(0xE0000, 0xE1000)),
)
# Where the decimal digits of the scripts in daily use begin.
_ZEROS = (
    *(0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0, 0xF20),
    *(0x1040, 0x1090, 0x17E0, 0x1810, 0xA9D0, 0xA9F0),
)
# English as word processors write it needs no more than this, twenty times faster than the whole road.
_TYPOGRAPHIC = (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("–", "-"), ("—", " "), ("…", " "))


def normalise(text: str) -> str:
    """Idempotent; takes any string, lone surrogates included."""
    if not text.isascii():
        for sign, plain in _TYPOGRAPHIC:
            text = text.replace(sign, plain)
        if not text.isascii():
            return _whole_road(text)
    return text.lower()


def _whole_road(text: str) -> str:
    """Once, and again where dropping an unseen sign has brought two together that compose."""
    table = _table()
    while True:
        text = unicodedata.normalize("NFKC", text).casefold().translate(table)
        if unicodedata.is_normalized("NFKC", text):
            return text


@cache
def _table() -> dict[int, str | None]:
    """Built at the first text that is not ASCII (about a millisecond): code point → what stands for it."""
    table: dict[int, str | None] = {ord(a): b for a, b in zip(TRADITIONAL, SIMPLIFIED, strict=True)}
    table.update((ord(sign), plain) for sign, plain in (_PUNCTUATION | _LETTERS).items())
    table.update((zero + digit, str(digit)) for zero in _ZEROS for digit in range(10))
    table.update(_bases())
    table.update((code, None) for code in _codes(*_ACCENTS, *_UNSEEN))
    return table


def _bases() -> Iterator[tuple[int, str]]:
    for code in _codes(*_ACCENTED):
        first, *marks = unicodedata.normalize("NFD", chr(code))
        if marks:
            yield code, _LETTERS.get(first, first)


def _codes(*blocks: int | range) -> Iterator[int]:
    for block in blocks:
        yield from (block,) if isinstance(block, int) else block
