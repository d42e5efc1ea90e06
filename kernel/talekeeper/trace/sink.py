"""Takes events without making anybody wait: a bounded queue, and a thread that writes small batches of its own."""

from __future__ import annotations

import json
import queue
import sqlite3
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from talekeeper.clock import Clock, iso
from talekeeper.trace.file import DROPPED, FAULTS, Row, open_events, write_events

KEPT = 200_000
"""Events a file holds: some 60 MB without bodies, months of playing."""

_WAITING = 4096
_BATCH = 256
_LONGEST_FACT = 500


class Trace:
    """The sink of one process; others may write the same file. Its thread starts with the first event.

    `capture` says whether bodies (prompts, answers) are kept at all. `mask` is applied to all text that is written, to
    take keys out. `kept` is the most events in the file, of which the oldest go; `waiting` the most in the queue.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        capture: bool = False,
        mask: Callable[[str], str] = str,
        kept: int = KEPT,
        waiting: int = _WAITING,
    ) -> None:
        self.path = path
        self.capture = capture
        self._clock = clock
        self._mask = mask
        self._kept = kept
        # An Event is set when everything before it has been dealt with; None ends the thread.
        self._queue: queue.Queue[Row | threading.Event | None] = queue.Queue(waiting)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._dropped = 0
        self._untold = 0
        self._fault = ""

    @property
    def dropped(self) -> int:
        """Events of this process that were not written."""
        return self._dropped

    @property
    def fault(self) -> str:
        """Why the last batch could not be written; empty when it could."""
        return self._fault

    def event(
        self,
        kind: str,
        *,
        workspace: str = "",
        session: str = "",
        turn: int | None = None,
        body: object = None,
        **facts: object,
    ) -> None:
        """Reports that something happened; returns at once and raises nothing.

        `facts` are small: numbers, ids, reasons; a text is cut at 500 characters. What people and models wrote goes
        into `body`, which is left out unless capture is on.
        """
        told = self._written({name: _short(value) for name, value in facts.items()})
        kept = self._written(body) if self.capture and body is not None else None
        row: Row = (iso(self._clock.now()), kind, _storable(workspace), _storable(session), turn, told, kept)
        with self._lock:
            if not self._closed and self._put(row):
                return
            self._missed(1)

    def flush(self, timeout: float = 10.0) -> bool:
        """Waits until all that was reported so far is written or dropped; False when that takes longer."""
        mark = threading.Event()
        with self._lock:
            if self._thread is None:
                return True
            if self._closed:
                return False
        try:
            self._queue.put(mark, timeout=timeout)
        except queue.Full:
            return False
        return mark.wait(timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Writes what waits and ends the thread; events reported later are dropped. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
        if thread is not None:
            self._queue.put(None)
            thread.join(timeout)

    def _put(self, row: Row) -> bool:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="traces", daemon=True)
            self._thread.start()
        try:
            self._queue.put_nowait(row)
        except queue.Full:
            return False
        return True

    def _missed(self, count: int) -> None:
        self._dropped += count
        self._untold += count

    def _work(self) -> None:
        connection: sqlite3.Connection | None = None
        mark: threading.Event | None = None
        going_on = True
        while going_on:
            rows, mark, going_on = self._collect()
            connection = self._write(connection, rows)
            if mark:
                mark.set()
        if connection:
            connection.close()

    def _collect(self) -> tuple[list[Row], threading.Event | None, bool]:
        """The rows that wait, at most a batch; a mark or the end comes after the rows before it."""
        rows: list[Row] = []
        item = self._queue.get()
        while isinstance(item, tuple):
            rows.append(item)
            if len(rows) == _BATCH or self._queue.empty():
                return rows, None, True
            item = self._queue.get()
        return rows, item, item is not None

    def _write(self, connection: sqlite3.Connection | None, rows: list[Row]) -> sqlite3.Connection | None:
        """Writes the rows or counts them as dropped; the connection, None when the next batch should open a new one."""
        with self._lock:
            untold = self._untold
        told = [(iso(self._clock.now()), DROPPED, "", "", None, json.dumps({"count": untold}), None)] if untold else []
        try:
            connection = connection or open_events(self.path)
            if rows or told:
                write_events(connection, told + rows, self._kept)
        except FAULTS as error:
            if connection:
                connection.close()
            connection, told, self._fault = None, [], str(error)
            with self._lock:
                self._missed(len(rows))
        else:
            self._fault = ""
        with self._lock:
            self._untold -= untold if told else 0
        return connection

    def _written(self, value: object) -> str:
        return self._mask(_json(value))


def _short(value: object) -> object:
    return value if not isinstance(value, str) or len(value) <= _LONGEST_FACT else value[:_LONGEST_FACT] + "…"


def _json(value: object) -> str:
    """Any value as JSON: what has no JSON is there by the name of its type. ASCII, so that any string can be stored."""
    try:
        return json.dumps(value, default=_plain)
    except (ValueError, RecursionError, TypeError):
        return json.dumps({"unwritable": type(value).__name__})


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): item for key, item in cast("Mapping[object, Any]", value).items()}
    return type(value).__name__


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
