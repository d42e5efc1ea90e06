"""Runs the jobs of sessions in background threads: one session's one after the other, different ones in parallel."""

from __future__ import annotations

import logging
import threading

from talekeeper.errors import Busy, TalekeeperError
from talekeeper.story import Address
from talekeeper.turn.jobs import JobRunner

PARALLEL = 4
"""Sessions at work at once; their jobs wait for models nearly all of the time."""

_AGAIN = 0.5  # seconds until a session whose jobs another process runs is looked at again
_log = logging.getLogger("talekeeper.jobs")


class Worker:
    """Threads of its own over a runner; they end when there is nothing to do, and do not keep a process alive."""

    def __init__(self, runner: JobRunner, *, parallel: int = PARALLEL) -> None:
        self._runner = runner
        self._room = threading.Semaphore(parallel)
        self._lock = threading.Lock()
        self._wanted: set[Address] = set()
        self._busy: dict[Address, threading.Event] = {}
        self._threads: set[threading.Thread] = set()
        self._closing = threading.Event()
        self._faults: dict[Address, str] = {}

    @property
    def faults(self) -> dict[Address, str]:
        """Sessions whose jobs could not be looked at, and why; gone once they could."""
        with self._lock:
            return dict(self._faults)

    def notify(self, address: Address) -> None:
        """Says that the session may have jobs due; returns at once."""
        with self._lock:
            if self._closing.is_set():
                return
            self._wanted.add(address)
            if address in self._busy:
                return
            done = self._busy[address] = threading.Event()
            name = f"jobs of {address.session}"
            thread = threading.Thread(target=self._work, args=(address, done), name=name, daemon=True)
            self._threads.add(thread)
            thread.start()

    def wait(self, address: Address, timeout: float | None = None) -> bool:
        """Waits until nothing is being done for the session; False when that takes longer."""
        with self._lock:
            done = self._busy.get(address)
        return done is None or done.wait(timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Cancels what runs, which another worker takes up, and waits for the threads. A second call does nothing."""
        self._closing.set()
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(timeout)

    def _work(self, address: Address, done: threading.Event) -> None:
        try:
            while self._take(address):
                with self._room:
                    self._drain(address)
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())
                # After an unforeseen fault too, the session must not look busy for ever.
                if self._busy.get(address) is done:
                    del self._busy[address]
            done.set()

    def _take(self, address: Address) -> bool:
        """Whether the session is still wanted; one that is not is no longer busy from here on."""
        with self._lock:
            if address in self._wanted and not self._closing.is_set():
                self._wanted.discard(address)
                return True
            del self._busy[address]
            return False

    def _drain(self, address: Address) -> None:
        fault = ""
        try:
            self._runner.run(address, cancel=self._closing)
        except Busy:
            # The other process may have looked for work before this one's was there.
            with self._lock:
                self._wanted.add(address)
            self._closing.wait(_AGAIN)
        except TalekeeperError as error:
            fault = error.sentence()
            _log.warning("the jobs of %s wait: %s", address.session, fault)
        with self._lock:
            self._faults.pop(address, None)
            if fault:
                self._faults[address] = fault
