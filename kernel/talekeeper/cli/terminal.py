"""The streams of a console script: made fit to print to, JSON and bytes for stdout, and questions asked on stderr."""

from __future__ import annotations

import codecs
import json
import os
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, redirect_stdout, suppress
from typing import Any, TextIO, TypeVar, cast

import click

from talekeeper.errors import InputError

PROGRAM = "talekeeper"


def never_fail_to_print() -> None:
    """A stream that was closed swallows; a terminal that cannot show a character gets its escape, not a fault."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _open_closed_streams() -> None:
    """`>&-` leaves a number free that the next file opened would get: the database, for what is printed to go into."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def flush_or_drop() -> OSError | None:
    """Writes out what waits. What cannot be written is dropped, so that the interpreter's own end stays quiet."""
    fault = None
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            fault = fault or error
            drop(stream)
    return fault


def drop(stream: TextIO) -> None:
    """From now on the stream swallows what it gets: its reader has gone, or its disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class _Answers:
    """A stdout that is the owner's thread's alone; what other threads print goes to stderr.

    Commands answer from one thread, plugins run in others: a `print` in a plugin must not stand in the JSON.
    """

    def __init__(self, answers: TextIO) -> None:
        self._answers = answers
        self._owner = threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._answers if threading.get_ident() == self._owner else sys.stderr, name)


def answers_of_this_thread() -> AbstractContextManager[object]:
    """Keeps stdout for the thread that enters."""
    return redirect_stdout(cast("TextIO", _Answers(sys.stdout)))


def remark(text: str) -> None:
    """Prints a line on stderr; when nobody can read it, the command goes on all the same."""
    with suppress(OSError):
        click.echo(text, err=True)


def json_text(value: object, default: Callable[[object], object] | None = None, *, indent: int | None = 2) -> str:
    """One JSON document, on one line without an `indent`.

    Where stdout is not UTF-8 it is ASCII: an escape of the terminal's would be none of JSON's.
    """
    return json.dumps(value, ensure_ascii=not _is_utf8(), indent=indent, default=default)


def write_utf8(text: str) -> None:
    """Writes to stdout what is the content of a file, whatever encoding the terminal has."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))


def _is_utf8() -> bool:
    try:
        return codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"
    except LookupError:
        return False


_T = TypeVar("_T")


def ask_twice(name: str, holding: str, called: str) -> None:
    """Whether to delete it, and then its `called` (id, name) typed out; raises `InputError` on any other answer."""
    sure = _answer(lambda: click.confirm(f"Delete {name!r} with {holding}, for good?", err=True), "deleted")
    if not sure or _answer(lambda: click.prompt(f"Type its {called} to delete it", err=True), "deleted") != name:
        raise InputError("nothing was deleted")


def ask_once(question: str, done: str) -> None:
    """Raises `InputError`, saying that nothing was `done`, unless the answer is yes."""
    if not _answer(lambda: click.confirm(question, err=True), done):
        raise InputError(f"nothing was {done}")


def _answer(ask: Callable[[], _T], done: str) -> _T:
    try:
        return ask()
    except click.Abort as end:
        # Click tells the end of the input and Ctrl-C alike; only what it caught tells them apart.
        if not isinstance(end.__context__, EOFError):
            raise
        remark("")
        cure = "--yes skips the question"
        raise InputError(f"there was no answer, so nothing was {done}", cure=cure) from end
