"""First come, first served among the writers of one process.

SQLite admits one writer to a file and lets the others poll; threads of one process that polled would overtake each
other and starve. Here they queue, so only the head of each process's queue polls.
"""

from __future__ import annotations

import threading
from collections import deque
from pathlib import Path
from types import TracebackType

_NOBODY = 0  # no thread's number


class Gate:
    """A lock, held for a block, that is handed on in the order it was asked for; waits without limit.

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
