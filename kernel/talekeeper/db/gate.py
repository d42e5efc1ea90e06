"""First come, first served among the writers of one process.

SQLite admits one writer to a file and lets the others poll; threads of one process that polled would overtake each
other and starve. Here they queue, so only the head of each process's queue polls.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


class Gate:
    """A lock that is handed on in the order it was asked for."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._taken = False

    @contextmanager
    def turn(self) -> Generator[None, None, None]:
        """Waits in line, without limit, and holds the gate for the block."""
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
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
