"""Cuts normalised text into runs: what one class of script holds together, before anything is counted.

Five classes: words with digits and numbers; Han with kana; Hangul; Thai, Lao, Khmer, Burmese, which put no spaces
between words; emoji. One pass, linear whatever the text: every repeat is possessive.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from enum import Enum
from functools import cache, lru_cache

from talekeeper.text.normalisation import codes, ranges

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


_MARKS = ("Mn", "Mc", "Me")


class Script(Enum):
    """How the terms of a run are made."""

    WORD = "a word or number"
    CJK = "overlapping pairs, and single characters in their own space"
    CLUSTERS = "overlapping pairs of clusters"
    EMOJI = "itself"


def find_runs(text: str) -> list[str]:
    """The runs of normalised text in order."""
    return _ASCII.findall(text) if text.isascii() else any_script()(text)


def script_of(run: str) -> Script:
    """The class of a run that is not ASCII, told by its first character."""
    return _script_of(run[0])


def clusters(run: str) -> list[str]:
    """A run of `Script.CLUSTERS` as bases with what stands on them."""
    return re.findall(_CLUSTER, run)


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
    return unicodedata.category(chr(code)) in _MARKS


_CLASSES = (
    (f"[{_CJK}{_HANGUL}]", Script.CJK),
    (f"[{_SPACELESS}]", Script.CLUSTERS),
    (_EMOJI, Script.EMOJI),
)


def is_hangul(run: str) -> bool:
    """Whether a run of CJK is one of Hangul."""
    return re.match(f"[{_HANGUL}]", run) is not None


@lru_cache(4096)
def _script_of(character: str) -> Script:
    return next((script for pattern, script in _CLASSES if re.match(pattern, character)), Script.WORD)
