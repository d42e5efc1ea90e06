"""First come, first served among the writers of one process.

SQLite admits one writer to a file and lets the others poll; threads of one process that polled would overtake each
other and starve. Here they queue, so only the head of each process's queue polls.
"""

from __future__ import annotations

import threading
from collections import deque
from pathlib import Path
from types import TracebackType


class Gate:
    """A lock, held for a block, that is handed on in the order it was asked for; waits without limit."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._taken = False

    def __enter__(self) -> None:
        with self._mutex:
            if not self._taken:
                self._taken = True
                return
            ticket = threading.Lock()
            ticket.acquire()
            self._waiting.append(ticket)
        try:
            ticket.acquire()
        except BaseException:
            self._give_up(ticket)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _give_up(self, ticket: threading.Lock) -> None:
        with self._mutex:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                return
        # The gate had been handed over before the interruption arrived.
        self._leave()

    def _leave(self) -> None:
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


_gates: dict[Path, Gate] = {}
_gates_mutex = threading.Lock()


def gate_for(path: Path) -> Gate:
    """The one gate of this process for a database file, however often the file is opened."""
    with _gates_mutex:
        return _gates.setdefault(path.resolve(), Gate())
