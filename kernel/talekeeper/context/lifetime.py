"""How long a context lives: from the call it is made for to that call's end or its deadline."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

from talekeeper.errors import ContextClosed


class Lifetime:
    """Shared by a context and its parts. A write holds it open: closing waits until the write is committed."""

    def __init__(self, plugin: str) -> None:
        self._plugin = plugin
        self._closed = False
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raises `ContextClosed` once the call is over."""
        if self._closed:
            raise ContextClosed(
                "its context was used after the call had ended or run out of time",
                where=self._plugin,
                cure="use ctx only inside the function it is given to",
                plugin=self._plugin,
            )

    @contextmanager
    def held(self) -> Generator[None]:
        """Keeps the context open for the block."""
        with self._lock:
            self.check()
            yield

    def close(self) -> None:
        """Ends it for good."""
        with self._lock:
            self._closed = True
