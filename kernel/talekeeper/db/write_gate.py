"""Who writes when: the queue of one process, the wait for other processes, and the mark of a write that is open.

SQLite admits one writer to a file and lets the others poll; threads of one process that polled would overtake each
other and starve. Here they queue, so only the head of each process's queue polls.

`Database.write` marks a write as open; models, HTTP, tools, hooks and files ask `ensure_outside_write` before they
start. The mark is a context variable and not a thread-local: it follows a call into a worker thread that runs in a
copied context.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections import deque
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType

from talekeeper.db.files import open_private
from talekeeper.errors import HeldAcrossCall

_NOBODY = 0  # no thread's number


class Gate:
    """A lock, held for a block, that passes on in the order of the requests; waits without limit.

    An interruption may fall between two steps of taking it or giving it back. A thread never takes it twice, so one
    that finds itself the holder was interrupted there, and goes on as such.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[tuple[threading.Lock, int]] = deque()
        self._holder = _NOBODY

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._mutex:
            if self._holder in {_NOBODY, me}:
                self._holder = me
                return
            ticket = threading.Lock()
            ticket.acquire()
            self._waiting.append((ticket, me))
        try:
            ticket.acquire()
        except BaseException:
            self._give_up(ticket, me)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _give_up(self, ticket: threading.Lock, me: int) -> None:
        with self._mutex:
            if (ticket, me) in self._waiting:
                self._waiting.remove((ticket, me))
                return
        # The gate had been handed over before the interruption arrived.
        self._leave()

    def _leave(self) -> None:
        with self._mutex:
            if self._waiting:
                ticket, self._holder = self._waiting[0]
                del self._waiting[0]  # no call in between, where an interruption could fall
                ticket.release()
            else:
                self._holder = _NOBODY


_gates: dict[Path, Gate] = {}
_gates_mutex = threading.Lock()


def gate_for(path: Path) -> Gate:
    """The one gate of this process for a database file, however often the file is opened."""
    with _gates_mutex:
        return _gates.setdefault(path.resolve(), Gate())


_open_write: ContextVar[str] = ContextVar("talekeeper_open_write", default="")


def ensure_outside_write(what: str) -> None:
    """Raises `HeldAcrossCall`, naming `what` and the write, when a write transaction is open here."""
    name = _open_write.get()
    if name:
        raise HeldAcrossCall(
            f"{what} was started while the write '{name}' was open",
            cure="read first, call, then write the result",
            call=what,
            write=name,
        )


class WriteOpen:
    """Marks the block as inside the write `name`."""

    __slots__ = ("_name", "_token")

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._token = _open_write.set(self._name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _open_write.reset(self._token)


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
