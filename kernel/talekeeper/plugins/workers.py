"""Worker threads for plugin code, with the kernel's only broad `except`: whatever is raised becomes an `Outcome`."""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")
_WAITING = 64
_POLL_SECONDS = 0.1
_TOLD_LIMIT = 300


@dataclass
class Outcome:
    """How a call ended: `value`, or `error` and what it `told`; `done` is set last."""

    value: Any = None
    error: BaseException | None = None
    told: str = ""
    done: threading.Event = field(default_factory=threading.Event)


def start(plugin: str, what: str, work: Callable[[], None]) -> None:
    """Starts `work` in a daemon thread, so that code which never returns does not keep the process alive."""
    threading.Thread(target=work, name=f"plugin {plugin}: {what}", daemon=True).start()


def run(function: Callable[[], Any], outcome: Outcome) -> None:
    """Fills `outcome` with what `function` gives or raises; awaits a coroutine in an event loop of its own."""
    try:
        value = function()
        outcome.value = asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value
    except BaseException as error:  # noqa: BLE001 -- SystemExit in a plugin is its fault like any other
        outcome.error, outcome.told = error, _told(error)
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


async def _awaited(value: Any) -> Any:
    return await value


def _told(error: BaseException) -> str:
    text = said(error)
    return f"raised {type(error).__name__}: {text}" if text else f"raised {type(error).__name__}"


def said(error: BaseException) -> str:
    """The text of an exception of a plugin's, in one line and not too long; nothing when it cannot be made."""
    try:
        text = " ".join("".join(letter if letter.isprintable() else " " for letter in str(error)).split())
    except BaseException:  # noqa: BLE001 -- an exception's own __str__ is plugin code too
        text = ""
    return text if len(text) <= _TOLD_LIMIT else text[:_TOLD_LIMIT] + "…"
