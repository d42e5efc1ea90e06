"""Where a text may be cut, between graphemes (UAX 29) or behind sentences, and how many tokens of a model it takes."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

# Between two of these there is always a border: neither is a mark, a joiner, half a flag or a loose Hangul letter.
_WHOLE = r"[\p{GCB=Other}\p{GCB=LV}\p{GCB=LVT}]"
# A heap of marks or flags longer than this is no reader's text: it may be cut anywhere, so that no text costs more.
_REACH = 1000


def cut_graphemes(text: str, limit: int) -> str:
    """The longest beginning of at most `limit` code points that breaks no grapheme; "" for a limit below 1."""
    return text if len(text) <= limit else text[: grapheme_border(text, limit)]


def grapheme_border(text: str, at: int) -> int:
    """The last border between graphemes at or before `at`, both offsets in code points; outside the text, its edge."""
    if at <= 0 or at >= len(text):
        return max(0, min(at, len(text)))
    around = text[at - 1 : at + 1]
    if around.isascii() and around != "\r\n":
        return at
    start = max(0, at - _REACH)
    window = text[start : at + 1]
    sure_border, grapheme = _patterns()
    sure = sure_border.search(window)
    border = sure.start() if sure else 0
    for found in grapheme.finditer(window, border):
        border = found.start()
    return start + border


@cache
def _patterns() -> tuple[regex.Pattern, regex.Pattern]:
    """A sure border, sought from the end; one grapheme."""
    import regex  # noqa: PLC0415  # 20 ms, and only text beyond ASCII asks for it

    return regex.compile(rf"(?r)(?<={_WHOLE}){_WHOLE}"), regex.compile(r"\X")


# Signs that end a sentence whatever follows: ideographic, Arabic, Indic, Armenian, Ethiopic, Khmer, Burmese, Tibetan.
_ALWAYS = "。！？｡．؟۔।॥։።፧។៕။༎᠃᠉"
_CLOSERS = "\"'”’»›)\\]}」』】》〉）］*_~"
_END = (
    rf"(?:[{_ALWAYS}][{_ALWAYS}.!?…]*+[{_CLOSERS}]*+|(?<![!?…])[!?…]++[{_CLOSERS}]*+(?=[\u3040-\u9fff]))"
    rf"|(?<![.!?…])(?P<stop>[.!?…]++)[{_CLOSERS}]*+(?!\S)"
    r"|(?<=\S)(?=[^\S\n]*+\n)"
)
# "Mr. Brown" goes on, and so does "J. Brown".
_SHORT = r"(?i:\b(?:mr|mrs|ms|dr|st|prof|sr|jr|vs|gen|col|sgt|lt|capt|e\.g|i\.e|[a-z]))\Z"
_LONGER_THAN_SHORT = 6


def sentence_ends(text: str) -> list[int]:
    """Offsets just behind each sentence with its closing quotes, ascending; the last is where the text itself ends.

    A line break ends a sentence. A full stop does not before a small letter or behind "Mr" and its like. Blank text has
    no ends.
    """
    ends = [
        found.end() for found in _pattern(_END).finditer(text) if found["stop"] is None or not _goes_on(text, found)
    ]
    if whole := len(text.rstrip()):
        ends.append(whole)
    return list(dict.fromkeys(ends))


def _goes_on(text: str, found: re.Match[str]) -> bool:
    following = _pattern(r"\s*+(\S)").match(text, found.end())
    if following is None:
        return False
    before = text[max(0, found.start() - _LONGER_THAN_SHORT) : found.start()]
    return following[1].islower() or (found["stop"] == "." and _pattern(_SHORT).search(before) is not None)


# Not compiled at import: many who import the room cut no sentence.
_pattern = cache(re.compile)

_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, rounded up: one for a Chinese, Japanese or Korean character, a quarter for any other."""
    return -(token_quarters(text) // -_PER_TOKEN)


def token_quarters(text: str) -> int:
    """The same in quarters of a token, not rounded: that of texts together is the sum of theirs."""
    dense = 0 if text.isascii() else len(_dense().findall(text))
    return dense * _PER_TOKEN + len(text) - dense


@cache
def _dense() -> re.Pattern[str]:
    """Letters and punctuation of Chinese, Japanese, Korean, wide forms included; compiled at first use."""
    return re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff01-\uffdc\U00017000-\U0003ffff]")
