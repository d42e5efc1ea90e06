"""Takes out of an answer what a reasoning model thought before it, where an endpoint leaves that in the text.

`<think>The player wants the key.</think>The drawer is empty.` becomes `The drawer is empty.`
"""

from __future__ import annotations

import re

_TAGS = tuple(
    f"{begin}{name}{end}" for name in ("think", "thinking", "thought", "reasoning") for begin, end in ("<>", "[]")
)
_LONGEST = max(map(len, _TAGS))
_CLOSE = "</think>"
# Some chat templates write the opening tag themselves; the model then gives the closing one alone, on a line's end.
_ORPHAN = re.compile(r"</think>[ \t]*(?:\r?\n|\Z)")
# Marks of byte order and the like, which some endpoints put first, are no word of an answer either.
_BLANK = re.compile(r"[\s\ufeff\u200b-\u200f\u2060]*")


class Thoughts:
    """For a text that arrives in pieces: holds back a beginning that may be a tag, and all that stands in one.

    Only what precedes the first word of the answer is taken for thoughts; a tag that is never closed takes all
    that follows. With `expected` the answer begins inside of them, its template having written the opening tag: all is
    held back until they are closed, and all of it is the answer when they never are.
    """

    def __init__(self, *, expected: bool = False) -> None:
        self.found = False
        self._expected = expected
        self._kept: list[str] = []
        self._blanks: list[str] = []
        self._held = ""
        self._close = ""
        self._answering = False

    def feed(self, piece: str) -> str:
        """What of the answer may be shown by now."""
        if self._answering:
            return piece
        if self._expected:
            piece = self._behind(piece)
            if self._expected:
                return ""
        self._held += piece
        while self._close or self._opens():
            _, closed, rest = self._held.partition(self._close)
            if not closed:
                self._held = self._held[-len(self._close) :]
                return ""
            self._held, self._close = rest, ""
        if not self._held or _may_open(self._held):
            return ""
        self._answering = True
        return self.end()

    def end(self, *, cut: bool = False) -> str:
        """What was held back and turned out to be no thought; with `cut` the answer broke off, maybe while thinking."""
        if self._expected:
            self._expected = False
            return "" if cut else "".join(self._kept)
        left = "" if self._close else "".join([*self._blanks, self._held])
        self._blanks, self._held = [], ""
        return left

    def _behind(self, piece: str) -> str:
        """What follows the closing tag of thoughts that nothing has opened; empty before it comes."""
        self._kept.append(piece)
        before, closed, rest = (self._held + piece).partition(_CLOSE)
        self._held = "" if closed else before[-len(_CLOSE) :]
        if not closed:
            return ""
        self._expected, self.found, self._kept = False, True, []
        return rest

    def _opens(self) -> bool:
        """Whether the text begins with a tag, which is removed with the blanks before it."""
        text = _without_blanks(self._held)
        if not self.found:
            self._blanks.append(self._held[: len(self._held) - len(text)])
        self._held = text
        start = text[:_LONGEST].lower()
        tag = next((tag for tag in _TAGS if start.startswith(tag)), "")
        if tag:
            self.found, self._blanks = True, []
            # Closed as it was opened, in capitals too.
            self._held, self._close = text[len(tag) :], f"{text[0]}/{text[1 : len(tag)]}"
        return bool(tag)


def without_thoughts(text: str) -> str:
    """A whole answer without them, also where the template has written the opening tag and only the other is there."""
    thoughts = Thoughts()
    return without_orphan(thoughts.feed(text) + thoughts.end())


def without_orphan(text: str) -> str:
    """The text behind the last closing tag that ends its line and was never opened."""
    begin = text.find("<think>")
    ends = [orphan.end() for orphan in _ORPHAN.finditer(text) if begin < 0 or orphan.start() < begin]
    return _without_blanks(text[ends[-1] :]) if ends else text


def _without_blanks(text: str) -> str:
    begin = _BLANK.match(text)
    return text[begin.end() :] if begin else text


def _may_open(text: str) -> bool:
    start = text.lower()
    return len(start) < _LONGEST and any(tag.startswith(start) for tag in _TAGS)
