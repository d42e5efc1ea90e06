"""Every call into a plugin's code goes through here: a thread of its own, a deadline, and no exception that escapes.

Only this module runs plugin code. Faults are counted per plugin: three in a row
suspend it for the process. What a plugin raises on purpose (`Retry`, `Skip`, `UserError`), what the store refuses and
what becomes of a model's call passes through and is no fault.
"""

from __future__ import annotations

import inspect
import logging
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from talekeeper.db import ensure_outside_write
from talekeeper.errors import (
    Cancelled,
    HeldAcrossCall,
    ModelError,
    PluginError,
    Retry,
    Skip,
    StoreError,
    UserError,
)
from talekeeper.text import terminal_line
from talekeeper.trace import Trace

FAULTS_TO_SUSPEND = 3

_log = logging.getLogger("talekeeper.plugins")
_T = TypeVar("_T")
_PASSED_THROUGH = (Retry, Skip, UserError, StoreError, ModelError, Cancelled, HeldAcrossCall)
_LEAST_WAIT = 0.05  # seconds; while a model is waited for, the rest of a deadline does not shrink
_WAITING = 64
_POLL_SECONDS = 0.1
_TEXT_LIMIT = 300


class Closable(Protocol):
    """A plugin's context, as far as the guard knows it."""

    def close(self) -> None:
        """Ends the context; every later use raises `ContextClosed`. Waits for a write that is being committed."""
        ...


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds a call may take. An importer's is for each step from one record to the next."""

    load: float = 10.0
    segment: float = 1.0
    tool: float = 10.0
    command: float = 120.0
    job: float = 120.0
    importer: float = 10.0
    migration: float = 10.0


def _never_away() -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call: whose code, what it is in words (`command check`), how many seconds it may take.

    `away` says how many of the seconds so far were not the plugin's own: a model was waited for, within that call's own
    limits.
    """

    plugin: str
    what: str
    seconds: float
    away: Callable[[], float] = _never_away


class Guard:
    """Calls plugin code and keeps count of its faults; one for a process."""

    def __init__(self, deadlines: Deadlines | None = None, *, strict: bool = False, trace: Trace | None = None) -> None:
        self.deadlines = deadlines or Deadlines()
        self._strict = strict
        self._trace = trace
        self._faults: dict[str, int] = {}
        self._suspended: dict[str, str] = {}
        self._lock = threading.Lock()

    def suspended(self, plugin: str) -> str:
        """Why the plugin's code is not called any more in this process; empty while it is."""
        with self._lock:
            return self._suspended.get(plugin, "")

    def call(self, call: Call, function: Callable[[], _T], context: Closable | None = None) -> _T:
        """What `function` gives, awaited when it is a coroutine.

        Raises `PluginError` with the reason for anything that goes wrong in it, overrunning included; strict mode
        raises the plugin's own exception instead.
        """
        self._admit(call)
        started = time.monotonic()
        outcome = Outcome()
        with self._traced(call, started):
            start(call.plugin, call.what, lambda: run(function, outcome))
            try:
                finished = _finished(call, outcome, started)
            finally:
                # Also when the one who waits is interrupted: what the code still does then changes nothing.
                _end(context)
            if not finished:
                raise self._overrun(call)
            self._settle(call, outcome)
        value: _T = outcome.value
        return value

    def iterate(
        self, call: Call, function: Callable[[], Iterator[_T]], context: Closable | None = None
    ) -> Generator[_T, None, None]:
        """What the iterator made by `function` yields; `call.seconds` is for each step.

        Raises as `call` does, at the step that went wrong; what came before it has been yielded.
        """
        self._admit(call)
        stream: Stream[_T] = Stream(function)
        with self._traced(call, time.monotonic()):
            start(call.plugin, call.what, stream.fill)
            try:
                yield from self._drain(call, stream)
            finally:
                stream.stop()
                _end(context)

    def _drain(self, call: Call, stream: Stream[_T]) -> Iterator[_T]:
        while True:
            try:
                step = stream.steps.get(timeout=call.seconds)
            except queue.Empty:
                raise self._overrun(call) from None
            if isinstance(step, Outcome):
                self._settle(call, step)
                return
            yield from step

    @contextmanager
    def _traced(self, call: Call, started: float) -> Generator[None]:
        """Reports the call when it has ended: how long it took, and what it raised, if it did."""
        raised = ""
        try:
            yield
        except Exception as error:
            raised = type(error.__cause__ or error).__name__
            raise
        finally:
            seconds = round(time.monotonic() - started, 3)
            if self._trace is not None:
                self._trace.event("plugin.called", plugin=call.plugin, what=call.what, seconds=seconds, raised=raised)

    def _admit(self, call: Call) -> None:
        ensure_outside_write(f"{call.what} of plugin {call.plugin}")
        reason = self.suspended(call.plugin)
        if reason:
            raise PluginError(reason, where=call.plugin, cure="mend the plugin, then start again", plugin=call.plugin)

    def _overrun(self, call: Call) -> PluginError:
        reason = f"{call.what} took longer than its {call.seconds:g} s and was given up"
        self._went_wrong(call.plugin, reason)
        return PluginError(reason, where=call.plugin, plugin=call.plugin)

    def _settle(self, call: Call, outcome: Outcome) -> None:
        error = outcome.error
        if error is None or isinstance(error, _PASSED_THROUGH):
            self._went_well(call.plugin)
            if error is not None:
                raise error
            return
        reason = f"{call.what} {outcome.summary}"
        if isinstance(error, PluginError):
            reason = f"{call.what}: {error.what}" + (f"; {error.cure}" if error.cure else "")
        self._went_wrong(call.plugin, reason)
        if isinstance(error, PluginError) or (self._strict and isinstance(error, Exception)):
            raise error
        raise PluginError(reason, where=call.plugin, plugin=call.plugin) from error

    def _went_well(self, plugin: str) -> None:
        with self._lock:
            self._faults.pop(plugin, None)

    def _went_wrong(self, plugin: str, reason: str) -> None:
        _log.warning("%s: %s", plugin, reason)
        with self._lock:
            self._faults[plugin] = self._faults.get(plugin, 0) + 1
            if self._faults[plugin] < FAULTS_TO_SUSPEND:
                return
            self._suspended[plugin] = f"suspended after {FAULTS_TO_SUSPEND} failures in a row, the last: {reason}"
        if self._trace is not None:
            self._trace.event("plugin.suspended", plugin=plugin)


def _finished(call: Call, outcome: Outcome, started: float) -> bool:
    """Whether the call ended within its time."""
    while True:
        left = call.seconds + call.away() - (time.monotonic() - started)
        if left <= 0:
            return outcome.done.is_set()
        if outcome.done.wait(max(left, _LEAST_WAIT)):
            return True


def _end(context: Closable | None) -> None:
    if context is not None:
        context.close()


@dataclass
class Outcome:
    """How a call ended: `value`, or `error` and its `summary`; `done` is set last."""

    value: Any = None
    error: BaseException | None = None
    summary: str = ""
    done: threading.Event = field(default_factory=threading.Event)


def start(plugin: str, what: str, work: Callable[[], None]) -> None:
    """Starts `work` in a daemon thread, so that code which never returns does not keep the process alive."""
    threading.Thread(target=work, name=f"plugin {plugin}: {what}", daemon=True).start()


def run(function: Callable[[], Any], outcome: Outcome) -> None:
    """Fills `outcome` with what `function` gives or raises; awaits a coroutine in an event loop of its own."""
    try:
        value = function()
        outcome.value = _awaited(value) if inspect.isawaitable(value) else value
    except BaseException as error:  # noqa: BLE001 -- SystemExit in a plugin is its fault like any other
        outcome.error, outcome.summary = error, _summary(error)
    finally:
        outcome.done.set()


class Stream(Generic[_T]):
    """An iterator run in a worker thread, at most 64 items ahead of who reads `steps`; an `Outcome` ends it."""

    def __init__(self, function: Callable[[], Iterator[_T]]) -> None:
        self.steps: queue.Queue[tuple[_T] | Outcome] = queue.Queue(_WAITING)
        self._function = function
        self._stopped = threading.Event()

    def fill(self) -> None:
        """Runs the iterator to its end, or until stopped."""
        outcome = Outcome()
        run(self._put_all, outcome)
        self._put(outcome)

    def stop(self) -> None:
        """Lets the worker end at its next item."""
        self._stopped.set()

    def _put_all(self) -> None:
        for item in self._function():
            if not self._put((item,)):
                return

    def _put(self, step: tuple[_T] | Outcome) -> bool:
        while not self._stopped.is_set():
            try:
                self.steps.put(step, timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return True
        return False


def _awaited(value: Any) -> Any:
    import asyncio  # noqa: PLC0415 -- 30 ms, and few plugins have coroutines

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _summary(error: BaseException) -> str:
    text = exception_text(error)
    return f"raised {type(error).__name__}: {text}" if text else f"raised {type(error).__name__}"


def exception_text(error: BaseException) -> str:
    """The text of an exception of a plugin's, in one line and not too long; nothing when it cannot be made."""
    try:
        text = terminal_line(str(error))
    except BaseException:  # noqa: BLE001 -- an exception's own __str__ is plugin code too
        text = ""
    return text if len(text) <= _TEXT_LIMIT else text[:_TEXT_LIMIT] + "…"
