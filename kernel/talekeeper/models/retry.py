"""What went wrong at an endpoint, whether asking again may help, and after how long."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterator
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from talekeeper.clock import Clock
from talekeeper.errors import (
    AuthFailed,
    BadReply,
    Cancelled,
    ContextOverflow,
    ModelError,
    ModelUnreachable,
    RateLimited,
)
from talekeeper.models.chat import Cancel
from talekeeper.models.network import Watch
from talekeeper.models.secrets import Redactor
from talekeeper.models.slots import Slot
from talekeeper.text import is_array, is_table

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

_AGAIN = frozenset({408, 425, 429})
_TOO_LONG_STATUS = frozenset({400, 413, 422, 500})
# As OpenAI, vLLM, llama.cpp (two generations), LM Studio, Mistral, Anthropic's and Google's compatible endpoints, TGI
# and OpenRouter word it.
_TOO_LONG = (
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "exceeds the available context",
    "exceeds the context window",
    "context size has been exceeded",
    "context the overflows",
    "context length of only",
    "model's context",
    "prompt is too long",
    "too large for model",
    "exceeds the maximum number of tokens",
    "`inputs` tokens + `max_new_tokens`",
    "context window",
)
Pause = Callable[[float, Cancel], object]
"""Waits that many seconds, or until cancelled."""

LONGEST_WAIT = 60.0
"""Seconds: what an endpoint may ask for and still be waited for. Longer than that is for the caller to decide."""

_FIRST_WAIT = 0.5
_WAIT_LIMIT = 20.0


class Failed(Exception):
    """An attempt that came to nothing: the `error` to raise when none follows.

    `again`: a repeat may mend it; `after`: the seconds the endpoint asked for.
    """

    def __init__(self, error: ModelError, *, again: bool = False, after: float | None = None) -> None:
        self.error = error
        self.again = again
        self.after = after
        super().__init__(str(error))


class Faults:
    """Makes the errors of one call: each names the slot and its URL and says nothing that was secret."""

    def __init__(self, slot: Slot, redactor: Redactor) -> None:
        self._slot = slot
        self._redactor = redactor

    def without_status(self, kind: type[ModelError], why: str, cure: str, *, again: bool = False) -> Failed:
        """No connection, no answer in time, one that broke off, or one that nothing can be done with."""
        return Failed(self._error(kind, self._redactor.line(why), cure), again=again)

    def status(self, status: int, body: bytes, after: float | None) -> Failed:
        """An answer other than 200, or an error inside one."""
        message = self._redactor.line(message_of(body))
        shown = f'HTTP {status}, "{message}"' if message else f"HTTP {status}"
        raw = body.decode(errors="replace").lower()
        if status in _TOO_LONG_STATUS and any(mark in raw for mark in _TOO_LONG):
            cure = "shorten the prompt, or set the slot's context to what the model has"
            return Failed(self._error(ContextOverflow, f"the prompt is too long for the model: {shown}", cure, status))
        kind, what, cure = _meaning(status)
        error = self._error(kind, f"{what}: {shown}", cure, status, after if kind is RateLimited else None)
        again = status in _AGAIN or status >= 500  # noqa: PLR2004 -- as HTTP numbers it
        return Failed(error, again=again, after=after if again else None)

    def _error(
        self, kind: type[ModelError], what: str, cure: str, status: int | None = None, after: float | None = None
    ) -> ModelError:
        where = f"model slot {self._slot.name} ({self._slot.url})"
        return kind(what, where=where, cure=cure, slot=self._slot.name, status=status, retry_after=after)


def _meaning(status: int) -> tuple[type[ModelError], str, str]:
    """The error of a status, what happened, and what to do."""
    match status:
        case 429:
            return RateLimited, "too many requests", "wait, then ask again"
        case 401 | 403 | 407:
            return AuthFailed, "the key was not accepted", "check the slot's key_env or key_file"
        case 404:
            return ModelUnreachable, "nothing there", "check base_url and model"
        case _ if status in range(300, 400):
            return ModelUnreachable, "a redirect, which is not followed", "write the address it leads to as base_url"
        case _ if status in _AGAIN or status >= 500:  # noqa: PLR2004 -- as HTTP numbers it
            return ModelUnreachable, "the endpoint failed", "try again later"
        case _:
            return BadReply, "the endpoint refused the request", ""


def message_of(body: bytes) -> str:
    """What an error body says in words; empty for a web page and for nothing."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode(errors="replace").strip()
        return "" if text.startswith("<") else text
    if is_array(value) and value:
        value = value[0]
    for key in ("error", "message", "detail"):
        if is_table(value) and key in value:
            value = value[key]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def pause(seconds: float, cancel: Cancel) -> None:
    """Waits in earnest."""
    cancel.wait(seconds)


def repeated(
    attempt: Callable[[int], Iterator[_T]], *, retries: int, watch: Watch, wait: Pause, jitter: Callable[[], float]
) -> Iterator[_T]:
    """What `attempt`, given its number from 1, yields; called again while a repeat may help and nothing was yielded.

    Raises the last fault's error. The wait doubles from half a second, up to 20 s, each between half and all of that
    by chance, so that many clients do not come back at once; an endpoint's Retry-After goes before.
    """
    number = 0
    while True:
        number += 1
        try:
            yield from attempt(number)
        except Failed as error:
            failed = error
        else:
            return
        seconds = delay(number, failed.after, jitter())
        if not failed.again or number > retries or watch.delivered or seconds > min(LONGEST_WAIT, watch.remaining()):
            failed.error.data["attempts"] = number
            raise failed.error
        _log.info("%s; attempt %d follows in %.1f s", failed.error.what, number + 1, seconds)
        wait(seconds, watch.cancel)
        if watch.cancel.is_set():
            raise Cancelled("the call was cancelled")


def delay(number: int, requested: float | None, chance: float) -> float:
    """Seconds to wait after attempt `number`; `requested` by the endpoint, `chance` in 0..1."""
    if requested is not None:
        return requested
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
