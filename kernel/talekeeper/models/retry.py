"""When a call is made again, and after how long."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from datetime import UTC
from email.utils import parsedate_to_datetime

from talekeeper.clock import Clock
from talekeeper.errors import Cancelled
from talekeeper.models.chat import Cancel
from talekeeper.models.faults import Fault
from talekeeper.models.watch import Watch

Pause = Callable[[float, Cancel], object]
"""Waits that many seconds, or until cancelled."""

LONGEST_WAIT = 60.0
"""Seconds: what an endpoint may ask for and still be waited for. Longer than that is for the caller to decide."""

_FIRST_WAIT = 0.5
_WAIT_LIMIT = 20.0

_log = logging.getLogger(__name__)


class Failed(Exception):
    """An attempt that came to nothing; carries the fault."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(str(fault.error))


def pause(seconds: float, cancel: Cancel) -> None:
    """Waits in earnest."""
    cancel.wait(seconds)


def repeated(
    attempt: Callable[[int], Iterator[str]], *, retries: int, watch: Watch, wait: Pause, jitter: Callable[[], float]
) -> Iterator[str]:
    """What `attempt`, told its number from 1, yields; made anew while a repeat may help and nothing was yielded.

    Raises the last fault's error. The wait doubles from half a second, up to 20 s, each between half and all of that
    by chance, so that many clients do not come back at once; an endpoint's Retry-After goes before.
    """
    number = 0
    while True:
        number += 1
        try:
            yield from attempt(number)
        except Failed as failed:
            fault = failed.fault
        else:
            return
        seconds = delay(number, fault.after, jitter())
        if not fault.again or number > retries or watch.delivered or seconds > min(LONGEST_WAIT, watch.remaining()):
            fault.error.data["attempts"] = number
            raise fault.error
        _log.info("%s; attempt %d follows in %.1f s", fault.error.what, number + 1, seconds)
        wait(seconds, watch.cancel)
        if watch.cancel.is_set():
            raise Cancelled("the call was cancelled")


def delay(number: int, asked: float | None, chance: float) -> float:
    """Seconds to wait after attempt `number`; `asked` by the endpoint, `chance` in 0..1."""
    if asked is not None:
        return asked
    return min(_FIRST_WAIT * 2.0 ** min(number - 1, 10), _WAIT_LIMIT) * (0.5 + chance / 2)


def retry_after(value: str | None, clock: Clock) -> float | None:
    """Seconds that a Retry-After header asks for, given as seconds or as a date; None when it says nothing."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        return _until(value, clock)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _until(value: str, clock: Clock) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max((moment - clock.now()).total_seconds(), 0.0)
