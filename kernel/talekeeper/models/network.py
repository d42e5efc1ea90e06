"""Sockets for the HTTP layer: a name is resolved once, every address checked, and a checked one connected to.

Waiting happens in slices, between which the call's `Watch` is checked; so a cancelled or overdue call closes its
connection in any phase. `Host` header and TLS name stay those of the URL: the HTTP layer above sets them.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, TypeVar

import httpcore

from talekeeper.errors import Cancelled
from talekeeper.models.chat import Cancel
from talekeeper.models.slots import TimeLimits
from talekeeper.models.urls import Network, network_of

_T = TypeVar("_T")
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
        """Begins a phase, or the same one again."""
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


Resolve = Callable[[str, int], list[str]]


class Refused(Exception):
    """A name has an address that the slot may not reach; nothing was connected to."""

    def __init__(self, what: str, cure: str) -> None:
        self.cure = cure
        super().__init__(what)


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host as the system resolves it, in its order; raises `OSError`."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class CheckedBackend(httpcore.NetworkBackend):
    """Opens connections for one call, only to addresses of the slot's network."""

    def __init__(self, network: Network, watch: Watch, resolver: Resolve) -> None:
        self._network: Network = network
        self._watch = watch
        self._resolve = resolver

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 -- the watch has all limits
        local_address: str | None = None,  # noqa: ARG002 -- never used here
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002 -- never used here
    ) -> httpcore.NetworkStream:
        """Connects to the first address that answers; raises `Refused` when one is outside the network."""
        self._watch.enter("connect")
        try:
            addresses = self._looked_up(host, port)
            self._check(host, addresses)
            connection = self._first_of(addresses, port)
        except OSError as error:
            raise httpcore.ConnectError(error.strerror or str(error)) from error
        self._watch.enter("first")
        return WatchedStream(connection, self._watch)

    def _looked_up(self, host: str, port: int) -> list[str]:
        """Resolves in a thread: the system's resolver knows neither time limit nor cancellation."""
        found: list[list[str] | OSError] = []
        done = threading.Event()

        def look_up() -> None:
            try:
                found.append(self._resolve(host, port))
            except OSError as error:
                found.append(error)
            finally:
                done.set()

        threading.Thread(target=look_up, name=f"resolve {host}", daemon=True).start()
        while not done.wait(self._watch.slice()):
            pass
        result = found[0]
        if isinstance(result, OSError):
            raise result
        return result

    def _check(self, host: str, addresses: list[str]) -> None:
        for address in addresses:
            network = network_of(address)
            if network != self._network:
                kind = network or "unusable"
                cure = f'if this is meant, write network = "{kind}" beside base_url' if network else "write another URL"
                raise Refused(
                    f"{host} has the {kind} address {address}, and only {self._network} ones are allowed", cure
                )

    def _first_of(self, addresses: list[str], port: int) -> socket.socket:
        fault: OSError = OSError("the name has no address")
        for place, address in enumerate(addresses):
            patience = self._watch.phase_remaining() / (len(addresses) - place)
            try:
                return _connected(address, port, self._watch, patience)
            except OSError as error:
                fault = error
        raise fault


def _connected(address: str, port: int, watch: Watch, patience: float) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(0)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(BlockingIOError):
            connection.connect((address, port))
        _await_writable(connection, watch, patience)
        code = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))  # noqa: TRY301 -- closed below like any other
    except BaseException:
        connection.close()
        raise
    return connection


def _await_writable(connection: socket.socket, watch: Watch, patience: float) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_WRITE)
        end = time.monotonic() + patience
        while not selector.select(watch.slice()):
            if time.monotonic() >= end:
                raise TimeoutError("no answer")


class WatchedStream(httpcore.NetworkStream):
    """A connected socket whose every wait is sliced."""

    def __init__(self, connection: socket.socket, watch: Watch) -> None:
        self._connection = connection
        self._watch = watch

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 -- the watch has all limits
        """What has arrived, at most `max_bytes`; empty at the end."""
        try:
            return _in_slices(self._connection, self._watch, lambda: self._connection.recv(max_bytes))
        except OSError as error:
            raise httpcore.ReadError(error.strerror or str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 -- the watch has all limits
        """Sends all of it."""
        view = memoryview(buffer)
        try:
            while view:
                view = view[_in_slices(self._connection, self._watch, partial(self._connection.send, view)) :]
        except OSError as error:
            raise httpcore.WriteError(error.strerror or str(error)) from error

    def close(self) -> None:
        """Closes; whatever was in transit is lost."""
        self._connection.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002 -- the watch has all limits
    ) -> httpcore.NetworkStream:
        """Shakes hands as the URL's host, whose certificate must fit."""
        self._watch.enter("connect")
        wrapped: ssl.SSLSocket | None = None
        try:
            wrapped = ssl_context.wrap_socket(
                self._connection, server_hostname=server_hostname, do_handshake_on_connect=False
            )
            _in_slices(wrapped, self._watch, wrapped.do_handshake)
        except BaseException as error:
            (wrapped or self._connection).close()
            if isinstance(error, OSError):
                raise httpcore.ConnectError(error.strerror or str(error)) from error
            raise
        self._watch.enter("first")
        return WatchedStream(wrapped, self._watch)

    def get_extra_info(self, info: str) -> Any:
        """The socket and its state, for the HTTP layer."""
        if info == "socket":
            return self._connection
        if info == "ssl_object":
            return self._connection if isinstance(self._connection, ssl.SSLSocket) else None
        return None


def _in_slices(connection: socket.socket, watch: Watch, operation: Callable[[], _T]) -> _T:
    while True:
        connection.settimeout(watch.slice())
        with contextlib.suppress(TimeoutError):
            return operation()
