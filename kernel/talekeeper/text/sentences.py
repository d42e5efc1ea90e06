"""Where sentences end, in any script that marks it."""

from __future__ import annotations

import re
from functools import cache

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
