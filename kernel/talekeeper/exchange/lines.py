"""Bytes → numbered lines of text, one at a time; and a line → a JSON object.

Everything that reads a file goes through here, so that every fault names its line and memory holds one line at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn, TypeGuard

from talekeeper.errors import ImportFileError, ParameterError
from talekeeper.text import NotJson, check_text, is_array, is_table, read_foreign_json

# A chat's metadata line of a megabyte is ordinary; a line of 64 MiB is not a line of a conversation.
LONGEST_LINE = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its ending. `number` counts from 1; `end` is the offset in bytes of what follows it."""

    number: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """An open file and the name to call it by in errors."""

    stream: BinaryIO
    name: str

    def fail(self, line: int | None, what: str, cure: str = "") -> NoReturn:
        """Raises `ImportFileError` at this file and line."""
        raise ImportFileError(self.name, line, what, cure=cure)

    def lines(self) -> Iterator[Line]:
        """From the start of the stream on; blank lines included. A byte-order mark at the start is dropped."""
        number = end = 0
        while raw := self.stream.readline(LONGEST_LINE + 1):
            number += 1
            end += len(raw)
            if len(raw) > LONGEST_LINE:
                self.fail(number, "the line is longer than 64 MiB", "is this a conversation?")
            yield Line(number, end, self._text(raw, number))

    def _text(self, raw: bytes, number: int) -> str:
        if number == 1:
            raw = raw.removeprefix(_BOM)
        try:
            return raw.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as fault:
            self.fail(number, f"not UTF-8 at byte {fault.start + 1} of the line", "save the file as UTF-8")

    def check(self, value: str, field: str, line: int) -> str:
        """`value`, or `ImportFileError` when no database could hold it (NUL, lone surrogate)."""
        try:
            return check_text(value, field)
        except ParameterError as fault:
            self.fail(line, str(fault))

    def texts(self, row: dict[str, Any], field: str, line: int) -> list[str]:
        """A field that is a list of texts; absent and null are the empty list."""
        values = row.get(field)
        if values is None:
            return []
        if not is_text_list(values):
            self.fail(line, f"`{field}` must be a list of texts")
        return [self.check(text, field, line) for text in values]

    def json_object(self, line: Line) -> dict[str, Any]:
        """The object on a line; refuses what is no JSON, NaN, a key given twice, absurd depth and endless digits."""
        try:
            value = read_foreign_json(line.text)
        except NotJson as fault:
            self.fail(line.number, *_json_fault(fault, line.text))
        if not is_table(value):
            self.fail(line.number, "the line is JSON but not an object", "each line is one {…}")
        return value

    def document(self) -> dict[str, Any]:
        """The one JSON object that the whole file is, its numbers not bounded; the stream stands at its end then."""
        self.stream.seek(0)
        raw = self.stream.read(LONGEST_LINE + 1)
        if len(raw) > LONGEST_LINE:
            self.fail(None, "the document is longer than 64 MiB", "is this a conversation?")
        try:
            value = read_foreign_json(raw.decode("utf-8-sig"), long_integers=True)
        except UnicodeDecodeError as fault:
            line = raw.count(b"\n", 0, fault.start) + 1
            self.fail(line, f"not UTF-8 at byte {fault.start + 1:,} of the file", "save the file as UTF-8")
        except NotJson as fault:
            self.fail(None, f"the document {fault.with_place}", "is the file complete?")
        if not is_table(value):
            self.fail(None, "the document is JSON but not an object")
        return value


def is_text_list(value: object) -> TypeGuard[list[str]]:
    """Whether a value that came out of JSON is a list of nothing but texts."""
    return is_array(value) and all(isinstance(each, str) for each in value)


def _json_fault(fault: NotJson, text: str) -> tuple[str, str]:
    """What is wrong, and the cure: a line that was cut off is told from one that is wrong in its middle."""
    if text.strip() in {"{", "["}:
        return "one JSON document over many lines, not JSON Lines", "is it lore? plugins bring importers for that"
    syntax = fault.syntax
    if syntax is None:
        return f"the line {fault}", ""
    if syntax.pos >= len(text.rstrip()) or syntax.msg.startswith("Unterminated string"):
        return "the JSON line is cut off", "is the file complete?"
    return f"the line {fault}, at column {syntax.colno}", "each line is one {…}"
