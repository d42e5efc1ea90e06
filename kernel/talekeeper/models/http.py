"""One call to an endpoint over all its attempts: a connection for each, a `Failed` for every fault, and repeats.

There is no redirect, no compression and no proxy from the environment. A connection is not kept for the next call: a
call to a model is long and seldom beside a handshake, an idle connection that the other side has dropped is the
commonest false failure there is, and closing it is how a call is cancelled.
"""

from __future__ import annotations

import logging
import random
import ssl
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpcore

from talekeeper.clock import Clock
from talekeeper.errors import BadReply, ModelUnreachable
from talekeeper.models.network import CheckedBackend, Overdue, Refused, Resolve, Watch, resolve
from talekeeper.models.replies import BrokeOff, ErrorPayload, Unusable, error_body, json_body
from talekeeper.models.retry import Failed, Faults, Pause, pause, repeated, retry_after
from talekeeper.models.secrets import Redactor
from talekeeper.models.slots import Slot

_T = TypeVar("_T")
_OK = range(200, 300)
_NOT_CHAT = "check that base_url ends with the API's path, usually /v1"


@dataclass(frozen=True, slots=True)
class Means:
    """What calls wait, resolve and measure with. `tls` None: the usual certificates."""

    wait: Pause = pause
    resolve: Resolve = resolve
    now: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random
    tls: ssl.SSLContext | None = None


class Call:
    """Made for one call; reads the slot's key, which may raise `AuthFailed`."""

    def __init__(self, slot: Slot, watch: Watch, clock: Clock, means: Means) -> None:
        key = slot.key.read().reveal() if slot.key else ""
        self.watch = watch
        self.redactor = Redactor([key])
        self._slot = slot
        self._clock = clock
        self._means = means
        self._faults = Faults(slot, self.redactor)
        self._headers = {"accept": "application/json, text/event-stream", "accept-encoding": "identity"}
        self._headers |= {"content-type": "application/json", "user-agent": "talekeeper", "connection": "close"}
        if key:
            self._headers["authorization"] = f"Bearer {key}"

    @contextmanager
    def open(self, method: str, path: str, body: bytes | None = None) -> Generator[Response]:
        """An answer of status 2xx; anything wrong with it, in the block as well, raises `Failed`."""
        try:
            with self._exchange(method, path, body) as answer:
                self._accept(answer)
                yield answer
        except _KNOWN as error:
            failed = self._failed(error)
        else:
            return
        # Outside the handler: what the layers below said may hold the key, and a traceback would show it.
        raise failed from None

    def ask(self, method: str, path: str, parse: Callable[[Any], _T], body: bytes | None = None) -> _T:
        """What `parse` makes of the JSON of an answer, requested again where that may help; it may raise `Unusable`."""

        def attempt(_: int) -> Iterator[_T]:
            with self.open(method, path, body) as answer:
                value = parse(json_body(answer, self.watch))
            yield value

        (value,) = self.repeated(attempt)
        return value

    def repeated(self, attempt: Callable[[int], Iterator[_T]]) -> Iterator[_T]:
        """What the attempt that succeeds yields; raises a `ModelError` or `Cancelled`."""
        means = self._means
        return repeated(attempt, retries=self._slot.retries, watch=self.watch, wait=means.wait, jitter=means.chance)

    @contextmanager
    def _exchange(self, method: str, path: str, body: bytes | None) -> Generator[Response]:
        """Sends the request and gives the answer; the connection is closed when the block ends.

        Raises what `CheckedBackend` does, `httpcore.NetworkError` and `httpcore.ProtocolError`.
        """
        backend = CheckedBackend(self._slot.network, self.watch, self._means.resolve)
        url = f"{self._slot.url}{path}"
        tls = self._means.tls or (default_tls() if url.startswith("https:") else None)
        # Said here because httpcore writes no brackets around an IPv6 address.
        sent = [("host", urlsplit(url).netloc), *self._headers.items()]
        with (
            httpcore.ConnectionPool(ssl_context=tls, network_backend=backend, max_keepalive_connections=0) as pool,
            pool.stream(method, url, headers=sent, content=body) as response,
        ):
            received = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            yield Response(response.status, received, response.iter_stream())

    def _accept(self, answer: Response) -> None:
        if answer.status not in _OK:
            after = retry_after(answer.headers.get("retry-after"), self._clock)
            raise self._faults.status(answer.status, error_body(answer, self.watch), after)
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise Unusable("the answer is compressed, which was not requested")

    def _failed(self, error: Exception) -> Failed:
        why, cure, again = str(error), "check that the server is running and base_url is right", False
        match error:
            case Unusable():
                return self._faults.without_status(BadReply, why, _NOT_CHAT)
            case ErrorPayload():
                return self._faults.status(error.status, error.body, None)
            case Refused():
                cure = error.cure
            case Overdue():
                again = error.phase == "connect"
            case httpcore.ConnectError():
                why, again = f"no connection ({error})", True
            case _:
                why, again = f"the connection broke off ({error})", not isinstance(error, httpcore.LocalProtocolError)
        return self._faults.without_status(ModelUnreachable, why, cure, again=again)


_KNOWN = (
    Unusable,
    ErrorPayload,
    Refused,
    Overdue,
    BrokeOff,
    httpcore.NetworkError,
    httpcore.ProtocolError,
)

# The layer below repeats every header it receives in its debug lines, and an endpoint may have put the key there.
logging.getLogger("httpcore.http11").setLevel(logging.INFO)


@dataclass(frozen=True, slots=True)
class Response:
    """What came back: status, headers by lower-case name, and the body in chunks as they arrive."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]


@cache
def default_tls() -> ssl.SSLContext:
    """The certificates of certifi, or those that SSL_CERT_FILE or SSL_CERT_DIR name; reading them takes 10 ms."""
    import httpx  # noqa: PLC0415 -- used for this alone; a server on this machine needs no certificates

    return httpx.create_ssl_context()
