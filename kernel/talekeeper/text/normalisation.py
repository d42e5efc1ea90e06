"""One spelling for what a reader would call the same text: the first step of every term, in index and query alike.

The result feeds `tokens` and is never shown. Width, case, composition, accents (Latin, Greek, Cyrillic), digits of any
script, typographic apostrophes and dashes, and traditional Chinese are made one; what draws nothing is dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# Letters that carry a stroke or are joined, which no decomposition takes apart.
_LETTERS = {"ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
_PUNCTUATION = {"’": "'", "‘": "'", "ʼ": "'", "ʻ": "'", "‛": "'", "‐": "-", "–": "-", "−": "-", "⁄": "/"}
# Blocks whose letters lose their accents, and the combining signs that are such accents.
_ACCENTED = "C0-24F 370-52F 1E00-1FFF"
_ACCENTS = "300-36F 483-489 1AB0-1AFF 1DC0-1DFF 20D0-20FF 2DE0-2DFF A66F-A672 A674-A67D A69E-A69F FE20-FE2F"
# Soft hyphen, fillers, zero-width and direction signs, variation selectors, BOM, tags; skin tones; loose kana marks.
_UNSEEN = (
    "AD 61C 115F 1160 17B4 17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 FFF9-FFFB "
    "1D173-1D17A E0000-E0FFF 1F3FB-1F3FF 3099 309A"
)
# The decimal zeros of the scripts in daily use; the other nine digits follow each.
_ZEROS = "660 6F0 7C0 966 9E6 A66 AE6 B66 BE6 C66 CE6 D66 DE6 E50 ED0 F20 1040 1090 17E0 1810 A9D0 A9F0"
# Python puts the marks on one letter in order by a sort whose time is the square of their number: 20 minutes for a
# megabyte. A hundred on one letter are no text, and lose their marks first.
_HEAP = r"[^\w\s\0-\xac\xae-\u02ff]{100,}+"
_LONG = 1000
# The signs of everyday typing, exchanged first. For English that is all there is to do, fifty times faster than the
# other way; Chinese without its wide signs is in normal form, which is seen thirty times faster than made.
_EVERYDAY = (
    *(("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("–", "-"), ("—", " "), ("…", " ")),
    *(("，", ","), ("！", "!"), ("？", "?"), ("：", ":"), ("；", ";"), ("（", "("), ("）", ")"), ("\u3000", " ")),
)


def normalise(text: str) -> str:
    """Idempotent; takes any string, lone surrogates included."""
    if not text.isascii():
        for sign, plain in _EVERYDAY:
            text = text.replace(sign, plain)
        if not text.isascii():
            return normalise_any(text)
    return text.lower()


def normalise_any(text: str) -> str:
    """Once, and again where dropping an unseen sign has brought two together that compose."""
    table = _table()
    while True:
        if len(text) > _LONG:
            text = re.sub(_HEAP, _without_marks, text)
        text = unicodedata.normalize("NFKC", text).casefold().translate(table)
        if unicodedata.is_normalized("NFKC", text):
            return text


def _without_marks(heap: re.Match[str]) -> str:
    return "".join(sign for sign in heap[0] if not unicodedata.combining(sign))


@cache
def _table() -> dict[int, str | None]:
    """Built at the first text that is not ASCII (about a millisecond): code point → what stands for it."""
    table: dict[int, str | None] = {ord(old): new for old, new in simplified()}
    table.update((ord(sign), plain) for sign, plain in (_PUNCTUATION | _LETTERS).items())
    table.update((zero + digit, str(digit)) for zero in codes(_ZEROS) for digit in range(10))
    for code in codes(_ACCENTED):
        decomposed = unicodedata.normalize("NFD", chr(code))
        if len(decomposed) > 1:
            table[code] = _LETTERS.get(decomposed[0], decomposed[0])
    table.update((code, None) for code in codes(f"{_ACCENTS} {_UNSEEN}"))
    return table


def simplified() -> Iterator[tuple[str, str]]:
    """Traditional characters of Chinese, each with the one it is written as."""
    lines = Path(__file__).with_name("han.txt").read_text(encoding="utf-8").splitlines()
    characters = "".join(line for line in lines if not line.startswith("#"))
    return zip(characters[::2], characters[1::2], strict=True)


def codes(blocks: str) -> Iterator[int]:
    """The code points of `"AD 300-36F"`: hexadecimal, single or first-last, in the order given."""
    for block in blocks.split():
        first, _, last = block.partition("-")
        yield from range(int(first, 16), int(last or first, 16) + 1)


def ranges(ascending: Iterator[int]) -> str:
    """Ascending code points as the inside of a regular expression's character class."""
    spans: list[list[int]] = []
    for code in ascending:
        if spans and code == spans[-1][1] + 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in spans)
