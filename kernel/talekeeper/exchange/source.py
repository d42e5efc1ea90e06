"""What an import reads and what its readers make: a file, pipe or standard input → numbered lines → entries.

Every stream can be read twice: what comes through a pipe waits in memory, and past a size on disk. Memory holds one
line at most, and every fault names its line.
"""

from __future__ import annotations

import os
import select
import shutil
import stat
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, TypeGuard, cast

from talekeeper.errors import ImportFileError, ParameterError
from talekeeper.text import NotJson, check_text, digest, is_array, is_table, read_foreign_json

if TYPE_CHECKING:
    from talekeeper.story import Draft, Role

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

    def rows(self) -> Iterator[JsonRow]:
        """The object on each line that is not blank."""
        for line in self.lines():
            if line.text.strip():
                yield JsonRow(self, line, self.json_object(line))

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
        """The JSON object that the whole file is, its numbers not bounded; leaves the stream at its end."""
        self.stream.seek(0)
        raw = self.stream.read(LONGEST_LINE + 1)
        if len(raw) > LONGEST_LINE:
            self.fail(None, "the document is longer than 64 MiB", "is this a conversation?")
        try:
            value = read_foreign_json(_decoded(raw, self.name), long_integers=True)
        except NotJson as fault:
            self.fail(None, f"the document {fault.with_place}", "is the file complete?")
        if not is_table(value):
            self.fail(None, "the document is JSON but not an object")
        return value


@dataclass(frozen=True, slots=True)
class JsonRow:
    """The object on a line; a field that is not as it must be raises `ImportFileError` with that line."""

    source: Source
    line: Line
    values: dict[str, Any]

    def fail(self, what: str, cure: str = "") -> NoReturn:
        """Raises `ImportFileError` at the line."""
        self.source.fail(self.line.number, what, cure)

    def text(self, key: str) -> str:
        """A field that must be there and be a text."""
        value = self.values[key]
        if not isinstance(value, str):
            self.fail(f"`{key}` must be text, not {type(value).__name__}")
        return self.source.check(value, key, self.line.number)

    def text_or_none(self, key: str) -> str | None:
        """A text; None where the field is absent or null."""
        return None if self.values.get(key) is None else self.text(key)

    def scalar(self, key: str) -> str | None:
        """A text that is not empty. Ids and times are sometimes numbers, which are kept as they would be written."""
        value = self.values.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        return self.text_or_none(key) or None

    def texts(self, key: str) -> list[str]:
        """A list of texts; absent and null are the empty list."""
        values = self.values.get(key)
        if values is None:
            return []
        if not is_text_list(values):
            self.fail(f"`{key}` must be a list of texts")
        return [self.source.check(text, key, self.line.number) for text in values]


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


STDIN = "-"
_SPOOL = 8 * 1024 * 1024  # bytes of a pipe's content that wait in memory
_WRITER_MS = 2_000  # a program that was started together with this one opens its end far sooner
_WHAT_ELSE = {
    stat.S_IFDIR: ("it is a folder", "name the files in it"),
    stat.S_IFSOCK: ("it is a socket", "name a file, or - for what is piped in"),
}
_DEVICE = ("it is a device", "name a file, or - for what is piped in")


@contextmanager
def opened(name: str) -> Generator[BinaryIO, None, None]:
    """A seekable stream at its start; `-` is standard input. Raises `ImportFileError` with the reason if it is none."""
    if name == STDIN:
        with _spooled(sys.stdin.buffer, name) as stream:
            yield stream
        return
    try:
        _check_kind(name, Path(name).stat().st_mode)
        # Without O_NONBLOCK, opening a pipe waits until a program writes into it, and that may be never.
        handle = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        cure = "look at how it is written, at where you are, and at its permissions"
        raise ImportFileError(name, None, reason.lower(), cure=cure) from fault
    with os.fdopen(handle, "rb") as stream:
        # What was looked at may have been put away meanwhile for something else.
        _check_kind(name, os.fstat(handle).st_mode)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            yield stream
            return
        _await_writer(handle, name)
        os.set_blocking(handle, True)
        with _spooled(stream, name) as spool:
            yield spool


def read_text(name: str) -> str:
    """All of a small document as text; raises `ImportFileError`, also for what is not UTF-8."""
    with opened(name) as stream:
        return _decoded(stream.read(), name)


def _decoded(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = raw.count(b"\n", 0, fault.start) + 1
        what = f"not UTF-8 at byte {fault.start + 1:,} of the file"
        raise ImportFileError(name, line, what, cure="save the file as UTF-8") from fault


def _check_kind(name: str, mode: int) -> None:
    if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
        what, cure = _WHAT_ELSE.get(stat.S_IFMT(mode), _DEVICE)
        raise ImportFileError(name, None, what, cure=cure)


def _await_writer(handle: int, name: str) -> None:
    """Returns at the first bytes, at the end, or as soon as a writer has opened its end."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    if waiting.poll(_WRITER_MS):
        return
    try:
        # The pipe is empty, so this read loses nothing.
        unwritten = os.read(handle, 1) == b""
    except BlockingIOError:
        unwritten = False
    if unwritten:
        what = "it is a pipe into which nobody writes"
        raise ImportFileError(name, None, what, cure="start what writes into it first")


@contextmanager
def _spooled(stream: BinaryIO, name: str) -> Generator[BinaryIO, None, None]:
    with tempfile.SpooledTemporaryFile(_SPOOL) as spool:
        try:
            shutil.copyfileobj(stream, spool)
        except OSError as fault:
            what = f"what comes through the pipe cannot be kept ({(fault.strerror or str(fault)).lower()})"
            raise ImportFileError(name, None, what, cure="save it to a file and import that") from fault
        spool.seek(0)
        yield cast("BinaryIO", spool)


@dataclass(frozen=True, slots=True)
class Entry:
    """A message and its place: its line, and the offset in bytes where reading goes on.

    `session` is None where the format has one session a file; `turn` is what the import finds to be the message's turn
    in a session that begins with this file.
    """

    line: int
    end: int
    draft: Draft
    session: str | None = None
    turn: int | None = None

    @property
    def refs(self) -> list[str]:
        """The refs of the message and of its takes."""
        return [draft.ref for draft in (self.draft, *self.draft.takes) if draft.ref is not None]

    @property
    def digests(self) -> list[tuple[str, int]]:
        """The same, each with the digest of its text."""
        drafts = (self.draft, *self.draft.takes)
        return [(draft.ref, digest(draft.text)) for draft in drafts if draft.ref is not None]


@dataclass(slots=True)
class Notes:
    """What was not imported as it is in the file: reason → how often and the first line; filled while a reader runs."""

    taken: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    def take(self, reason: str, line: int) -> None:
        """Counts one message, line or key."""
        count, first = self.taken.get(reason, (0, line))
        self.taken[reason] = (count + 1, first)


def role_of(speaker: str, player: str | None, mark: Role | None = None) -> Role:
    """A speaker's role: `--player NAME` decides, then the format's own mark, then the names user and player."""
    if mark in ("system", "tool"):
        return mark
    if player is not None:
        return "player" if speaker.casefold() == player.casefold() else "narrator"
    if mark is not None:
        return mark
    return "player" if speaker.casefold() in ("user", "player") else "narrator"
