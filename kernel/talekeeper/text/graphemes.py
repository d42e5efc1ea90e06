"""Where a text may be cut without breaking what a reader calls a character (Unicode's extended grapheme cluster)."""

from __future__ import annotations

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
    return start + _border_in(text[start : at + 1])


def _border_in(window: str) -> int:
    """The border at or before the last character of `window`."""
    sure_border, grapheme = _patterns()
    sure = sure_border.search(window)
    border = sure.start() if sure else 0
    for found in grapheme.finditer(window, border):
        border = found.start()
    return border


@cache
def _patterns() -> tuple[regex.Pattern, regex.Pattern]:
    """A sure border, sought from the end; one grapheme."""
    import regex  # noqa: PLC0415  # 20 ms, and only text beyond ASCII asks for it

    return regex.compile(rf"(?r)(?<={_WHOLE}){_WHOLE}"), regex.compile(r"\X")
