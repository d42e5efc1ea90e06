"""Opens what a person names to be read: a file, standard input, or a pipe, always as a stream that can be read twice.

A pipe's content waits in memory, and past a size on disk. A named pipe into which nobody writes is refused after a
moment; what is no place for a document (a folder, a device, a socket) is refused at once.
"""

from __future__ import annotations

import os
import select
import shutil
import stat
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from talekeeper.errors import ImportFileError

STDIN = "-"
_SPOOL = 8 * 1024 * 1024  # bytes of a pipe's content that wait in memory
_WRITER_MS = 2_000  # whoever was started together with us to write needs far less to open its end
_WHAT_ELSE = {
    stat.S_IFDIR: ("it is a folder", "name the files in it"),
    stat.S_IFSOCK: ("it is a socket", "name a file, or - for what is piped in"),
}
_DEVICE = ("it is a device", "name a file, or - for what is piped in")


@contextmanager
def opened(name: str) -> Generator[BinaryIO, None, None]:
    """A seekable stream at its start; `-` is standard input. Raises `ImportFileError` with what stands in the way."""
    if name == STDIN:
        with _spooled(sys.stdin.buffer, name) as stream:
            yield stream
        return
    with _opened_file(name) as stream:
        yield stream


def read_text(name: str) -> str:
    """All of a small document as text; raises `ImportFileError`, also for what is not UTF-8."""
    with opened(name) as stream:
        raw = stream.read()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = raw.count(b"\n", 0, fault.start) + 1
        what = f"not UTF-8 at byte {fault.start + 1:,} of the file"
        raise ImportFileError(name, line, what, cure="save the file as UTF-8") from fault


@contextmanager
def _opened_file(name: str) -> Generator[BinaryIO, None, None]:
    try:
        _check_kind(name, Path(name).stat().st_mode)
        # Without O_NONBLOCK, opening a pipe waits for somebody to write into it, perhaps for ever.
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


def _check_kind(name: str, mode: int) -> None:
    if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
        what, cure = _WHAT_ELSE.get(stat.S_IFMT(mode), _DEVICE)
        raise ImportFileError(name, None, what, cure=cure)


def _await_writer(handle: int, name: str) -> None:
    """Returns once there is something to read, its end, or a writer that takes its time."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    if waiting.poll(_WRITER_MS):
        return
    try:
        # Nothing can be lost: there is nothing in the pipe.
        nobody = os.read(handle, 1) == b""
    except BlockingIOError:
        nobody = False
    if nobody:
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
