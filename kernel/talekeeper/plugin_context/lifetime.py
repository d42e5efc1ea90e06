"""How long a context lives: from the call it is made for to that call's end, its deadline, or its cancellation."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from talekeeper.errors import Cancelled, ContextClosed
from talekeeper.models import Cancel

_SLICE = 0.05  # seconds between looks at what may cancel the call


class Lifetime:
    """Shared by a context and its parts. A write holds it open: closing waits until the write is committed.

    It is the `Cancel` of every model call made through the context, and set once the call is over or `cancel` is. What
    models take is not the plugin's time: `away` counts it, and the guard adds it to the deadline.
    """

    def __init__(self, plugin: str, *, cancel: Cancel | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._plugin = plugin
        self._cancel = cancel
        self._now = now
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._away = 0.0
        self._asking = 0
        self._since = 0.0

    def check(self) -> None:
        """Raises `ContextClosed` once the call is over, `Cancelled` once it was cancelled."""
        if self._closed.is_set():
            raise ContextClosed(
                "its context was used after the call had ended or run out of time",
                where=self._plugin,
                cure="use ctx only inside the function it is given to",
                plugin=self._plugin,
            )
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled(f"a call of plugin {self._plugin} was cancelled")

    @contextmanager
    def held(self) -> Generator[None]:
        """Keeps the context open for the block."""
        with self._lock:
            self.check()
            yield

    def close(self) -> None:
        """Ends it for good."""
        with self._lock:
            self._closed.set()

    def is_set(self) -> bool:
        """Whether what the call asked for shall end."""
        return self._closed.is_set() or (self._cancel is not None and self._cancel.is_set())

    def wait(self, timeout: float | None = None, /) -> bool:
        """Waits that many seconds or until set, and says which."""
        end = None if timeout is None else self._now() + timeout
        while not self.is_set():
            left = _SLICE if end is None else min(_SLICE, end - self._now())
            if left <= 0:
                return False
            self._closed.wait(left)
        return True

    @contextmanager
    def asking(self) -> Generator[None]:
        """Counts the block's time as `away`; where blocks of several threads overlap, once."""
        with self._counting:
            if not self._asking:
                self._since = self._now()
            self._asking += 1
        try:
            yield
        finally:
            with self._counting:
                self._asking -= 1
                if not self._asking:
                    self._away += self._now() - self._since

    def away(self) -> float:
        """Seconds the call has waited for models so far, a wait that goes on included."""
        with self._counting:
            return self._away + (self._now() - self._since if self._asking else 0.0)
