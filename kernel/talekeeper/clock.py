"""The time, passed in so that every failure can be replayed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time; production uses `SystemClock`, tests a `FixedClock`."""

    def now(self) -> datetime:
        """An aware datetime in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The current time in UTC."""
        return datetime.now(UTC)


class FixedClock:
    """A clock that moves only when it is set."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        """The time last set."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Moves on by `seconds`, which may be negative."""
        self._now += timedelta(seconds=seconds)


def iso(moment: datetime) -> str:
    """UTC ISO-8601 with milliseconds and a `Z`, the only form stored."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
