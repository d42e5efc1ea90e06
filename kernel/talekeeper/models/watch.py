"""How long a call may still wait and whether it was cancelled: asked before and during every wait on the network."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from talekeeper.errors import Cancelled
from talekeeper.models.chat import Cancel
from talekeeper.models.settings import TimeLimits

Phase = Literal["connect", "first", "between"]

SLICE = 0.05
"""Seconds: the longest a wait goes on without asking. A cancelled call ends within this time; twenty wake-ups a second
for each call that waits cost nothing that could be measured beside a model."""

_TOLD = {
    "connect": "no connection within {:g} s",
    "first": "no first word within {:g} s",
    "between": "no further word within {:g} s",
    "total": "not finished within {:g} s",
}


class Overdue(Exception):
    """A time limit has passed; its text says which."""

    def __init__(self, phase: str, seconds: float) -> None:
        self.phase = phase
        super().__init__(_TOLD[phase].format(seconds))


class Watch:
    """Watches one call over all its attempts; each attempt goes through the phases connect, first, between.

    `delivered` is set by the client once the model has begun to answer: from then on nothing is repeated.
    """

    def __init__(self, limits: TimeLimits, cancel: Cancel, now: Callable[[], float] = time.monotonic) -> None:
        self.cancel = cancel
        self.delivered = False
        self._limits = limits
        self._now = now
        self._end = now() + limits.total
        self._phase: Phase = "connect"
        self._phase_end = 0.0
        self.enter("connect")

    def enter(self, phase: Phase) -> None:
        """Begins a phase, or the same one anew."""
        self._phase = phase
        self._phase_end = self._now() + self._limits.of(phase)

    def remaining(self) -> float:
        """Seconds the call as a whole has left, below zero when it is over."""
        return self._end - self._now()

    def phase_remaining(self) -> float:
        """Seconds the phase has left, below zero when it is over."""
        return self._phase_end - self._now()

    def slice(self) -> float:
        """Seconds to wait before asking again; raises `Cancelled` or `Overdue` when there is nothing left to wait."""
        if self.cancel.is_set():
            raise Cancelled("the call was cancelled")
        now = self._now()
        if now >= self._end:
            raise Overdue("total", self._limits.total)
        if now >= self._phase_end:
            raise Overdue(self._phase, self._limits.of(self._phase))
        return min(SLICE, self._end - now, self._phase_end - now)
