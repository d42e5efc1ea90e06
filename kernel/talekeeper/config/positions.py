"""The line and column of every key and value of a TOML text.

Reads text that tomli has accepted, so it need not refuse anything: it only has to find the same keys. `Places` has,
for each key path of the parsed document, the span of the key and the span of the value.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, cached_property
from typing import Literal, NamedTuple

KeyPath = tuple[str | int, ...]
"""Keys and array indexes from the top of the document."""

# Compiled at the first use: a sound file never needs a place.
_BARE = r"[A-Za-z0-9_-]+"
_BLANK = r"[ \t]*"
_BLANK_LINES = r"(?:[ \t\r\n]|#[^\n]*)*"
_STRING = (
    r'"""(?:[^\\]|\\.)*?"{3,5}|'
    r"'''.*?'{3,5}|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'[^'\n]*'"
)
_SCALAR = r"\d{4}-\d\d-\d\d[ ]\d\d:[^\s,\]}#]*|[^\s,\]}#]+"
_ESCAPE = r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|.)"
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


class Span(NamedTuple):
    """A stretch of one line; line and columns count from 1, `end_column` is one past the end."""

    line: int
    column: int
    end_column: int


class Places:
    """Spans by key path of a text that `tomli.loads` accepts. Line ends must be line feeds.

    The text is scanned at the first question: a sound file never needs a place.
    """

    def __init__(self, text: str = "") -> None:
        self._text = text

    @property
    def keys(self) -> dict[KeyPath, Span]:
        """The place of each key. A table with a header, or implied by one, has its place there alone."""
        return self._found.keys

    @property
    def values(self) -> dict[KeyPath, Span]:
        """The place of each value."""
        return self._found.values

    @cached_property
    def _found(self) -> _Scanner:
        return _Scanner(self._text)

    def span(self, path: KeyPath, on: Literal["key", "value"]) -> Span:
        """The span of the path, or of the nearest thing around it that is written down."""
        first, second = (self.keys, self.values) if on == "key" else (self.values, self.keys)
        for length in range(len(path), 0, -1):
            found = first.get(path[:length]) or second.get(path[:length])
            if found:
                return found
        return Span(1, 1, 2)


def pointer(path: KeyPath) -> str:
    """The path as a JSON pointer (RFC 6901)."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.keys: dict[KeyPath, Span] = {}
        self.values: dict[KeyPath, Span] = {}
        self._elements: dict[KeyPath, int] = {}
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        table: KeyPath = ()
        while self._more():
            table = self._header() if self._peek("[") else self._pair(table)

    def _more(self) -> bool:
        self._skip(_BLANK_LINES)
        return self._at < len(self._text)

    def _header(self) -> KeyPath:
        array = self._text.startswith("[[", self._at)
        self._at += 2 if array else 1
        parts = self._key()
        steps: list[str | int] = []
        for index, (name, span) in enumerate(parts):
            steps.append(name)
            path = tuple(steps)
            self.keys.setdefault(path, span)
            if array and index == len(parts) - 1:
                self._elements[path] = self._elements.get(path, -1) + 1
            if path in self._elements:
                steps.append(self._elements[path])
                self.keys.setdefault(tuple(steps), span)
        # A table opened by a header of its own is pointed at there, not where a deeper header first implied it.
        self.keys[tuple(steps)] = parts[-1][1]
        self._at += 2 if array else 1
        return tuple(steps)

    def _pair(self, table: KeyPath) -> KeyPath:
        path = table
        for name, span in self._key():
            path = (*path, name)
            self.keys.setdefault(path, span)
        self._at += 1
        self._value(path)
        return table

    def _key(self) -> list[tuple[str, Span]]:
        parts: list[tuple[str, Span]] = []
        while True:
            self._skip(_BLANK)
            start = self._at
            name = self._string() if self._text[start] in "\"'" else self._skip(_BARE)
            parts.append((name, self._span(start, self._at)))
            self._skip(_BLANK)
            if not self._peek("."):
                return parts
            self._at += 1

    def _value(self, path: KeyPath) -> None:
        self._skip(_BLANK)
        start = self._at
        if self._peek("["):
            self._array(path)
        elif self._peek("{"):
            self._inline_table(path)
        elif self._text[start] in "\"'":
            self._string()
        else:
            self._skip(_SCALAR)
        self.values[path] = self._span(start, self._at)

    def _array(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while self._inside("]"):
            self._value((*path, index))
            index += 1
            self._comma()

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while self._inside("}"):
            self._pair(path)
            self._comma()

    def _inside(self, closing: str) -> bool:
        self._skip(_BLANK_LINES)
        if self._peek(closing):
            self._at += 1
            return False
        return True

    def _comma(self) -> None:
        self._skip(_BLANK_LINES)
        if self._peek(","):
            self._at += 1

    def _string(self) -> str:
        raw = self._skip(_STRING)
        if raw[0] == "'":
            return raw[1:-1]
        return _compiled(_ESCAPE).sub(_unescape, raw[1:-1])

    def _peek(self, character: str) -> bool:
        return self._text.startswith(character, self._at)

    def _skip(self, pattern: str) -> str:
        match = _compiled(pattern).match(self._text, self._at)
        assert match, "tomli has accepted this text"  # noqa: S101 - a scanner that disagrees with tomli is a bug here
        self._at = match.end()
        return match.group()

    def _span(self, start: int, end: int) -> Span:
        line = bisect_right(self._starts, start)
        line_start = self._starts[line - 1]
        line_end = self._text.find("\n", start, end)
        stop = end if line_end < 0 else line_end
        return Span(line, start - line_start + 1, stop - line_start + 1)


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, code)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)
