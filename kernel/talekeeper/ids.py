"""Keys are made by the application, never by the database."""

from __future__ import annotations

import secrets
import threading
from typing import Protocol

from talekeeper.clock import Clock

# Crockford's base 32: no i, l, o, u, so an id can be read aloud and typed again.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_BITS = 48
_RANDOM_BITS = 52


class Ids(Protocol):
    """Makes keys; tests pass a counter."""

    def new(self) -> str:
        """A key that has not been given out before."""
        ...


class SortableIds:
    """Twenty characters: 48 bits of milliseconds, then 52 random bits, so that keys sort by age.

    Those of one maker sort as they were made, within a millisecond and when the clock is set back too.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self._lock = threading.Lock()

    def new(self) -> str:
        """A key of 20 lower-case base-32 characters."""
        moment = int(self._clock.now().timestamp() * 1000)
        with self._lock:
            is_later = moment > self._last >> _RANDOM_BITS
            number = (moment << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS) if is_later else self._last + 1
            self._last = number
        digits = (_TIME_BITS + _RANDOM_BITS) // 5
        return "".join(_ALPHABET[number >> (5 * place) & 31] for place in reversed(range(digits)))
