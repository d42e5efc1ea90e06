"""Waiting for the writes of other processes: how long, for whom, and what is said about it."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path

from talekeeper.db.regular import open_private

WAIT = 30.0  # seconds a write waits for one write of another process before it gives up
LOOK = 1.0  # seconds of waiting after which the holder is named in a warning


class HolderNote:
    """A small file beside the database in which each write leaves its number, its process and its name.

    For those who wait: SQLite does not say who holds a lock, nor whether it is still the same one.
    """

    _LENGTH = 96
    _numbers = itertools.count()

    def __init__(self, path: Path) -> None:
        name = path.with_name(path.name + "-writer")
        self._file = os.fdopen(open_private(name, "the note of who is writing"), "r+b", buffering=0)
        self._process = os.getpid()

    def write(self, name: str) -> None:
        """Called by whoever has just begun a write."""
        line = f"{next(self._numbers)} '{name}' of process {self._process}".encode()[: self._LENGTH]
        try:
            self._file.seek(0)
            self._file.write(line.ljust(self._LENGTH))
        except OSError:
            return  # a full disk must not fail the write for the sake of its label

    def read(self) -> bytes:
        """Another value means another write."""
        self._file.seek(0)
        return self._file.read(self._LENGTH)

    def holder(self) -> str:
        """For a person."""
        return self.read().decode("utf-8", "replace").partition(" ")[2].strip() or "another program"

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()


class Patience:
    """How long one write of another process has been in the way.

    A queue that moves is waited for, however long: SQLite lets waiters overtake each other, and with many at once the
    unluckiest waits far longer than any single write takes. `started` is when it was first tried, by the monotonic
    clock.
    """

    def __init__(self, note: HolderNote, started: float) -> None:
        self._note = note
        self._started = self._since = started
        self._holder = b""
        self._told = False

    def is_over(self) -> bool:
        """Asked after each look in vain."""
        holder, now = self._note.read(), time.monotonic()
        if holder != self._holder:
            self._holder, self._since = holder, now
        return now - self._since >= WAIT

    def is_news(self) -> bool:
        """Once, after a while."""
        news = not self._told and time.monotonic() - self._started >= LOOK
        self._told = self._told or news
        return news
