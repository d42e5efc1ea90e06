"""One call over all its attempts: opens exchanges, turns whatever goes wrong into a `Failed`, repeats."""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import httpcore
import httpx

from talekeeper.clock import Clock
from talekeeper.models.answers import BrokeOff, ToldFault, Unusable, error_body, json_body
from talekeeper.models.faults import Fault, Faults
from talekeeper.models.network import CheckedBackend, Refused, Resolve, resolve
from talekeeper.models.redact import Redactor
from talekeeper.models.retry import Failed, Pause, pause, repeated, retry_after
from talekeeper.models.settings import Slot
from talekeeper.models.transport import Answer, exchange
from talekeeper.models.watch import Overdue, Watch

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
    def open(self, method: str, path: str, body: bytes | None = None) -> Generator[Answer]:
        """An answer of status 2xx; anything wrong with it, in the block as well, raises `Failed`."""
        try:
            with self._exchange(method, path, body) as answer:
                self._accept(answer)
                yield answer
        except _KNOWN as error:
            fault = self._fault(error)
        else:
            return
        # Outside the handler: what the layers below said may hold the key, and a traceback would show it.
        raise Failed(fault) from None

    def ask(self, method: str, path: str, parse: Callable[[Any], _T], body: bytes | None = None) -> _T:
        """What `parse` makes of the JSON of an answer, asked for again where that may help; it may raise `Unusable`."""
        found: list[_T] = []

        def attempt(_: int) -> Iterator[str]:
            with self.open(method, path, body) as answer:
                found.append(parse(json_body(answer, self.watch)))
            yield from ()

        for _ in self.repeated(attempt):
            pass
        return found[-1]

    def repeated(self, attempt: Callable[[int], Iterator[str]]) -> Iterator[str]:
        """What the attempt that succeeds yields; raises a `ModelError` or `Cancelled`."""
        means = self._means
        return repeated(attempt, retries=self._slot.retries, watch=self.watch, wait=means.wait, jitter=means.chance)

    def _exchange(self, method: str, path: str, body: bytes | None) -> Any:
        backend = CheckedBackend(self._slot.network, self.watch, self._means.resolve)
        return exchange(
            method,
            f"{self._slot.url}{path}",
            headers=self._headers,
            body=body,
            backend=backend,
            tls=self._means.tls,
        )

    def _accept(self, answer: Answer) -> None:
        if answer.status not in _OK:
            after = retry_after(answer.headers.get("retry-after"), self._clock)
            raise Failed(self._faults.status(answer.status, error_body(answer, self.watch), after))
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise Unusable("the answer is compressed, which was not asked for")

    def _fault(self, error: Exception) -> Fault:
        match error:
            case Unusable():
                return self._faults.bad_reply(str(error), _NOT_CHAT)
            case ToldFault():
                return self._faults.status(error.status, error.body, None)
            case Refused():
                return self._faults.unreachable(str(error), again=False, cure=error.cure)
            case Overdue():
                return self._faults.unreachable(str(error), again=error.phase == "connect")
            case httpcore.ConnectError():
                return self._faults.unreachable(f"no connection ({error})", again=True)
            case _:
                again = not isinstance(error, httpx.InvalidURL | httpcore.LocalProtocolError)
                return self._faults.unreachable(f"the connection broke off ({error})", again=again)


_KNOWN = (
    Unusable,
    ToldFault,
    Refused,
    Overdue,
    BrokeOff,
    httpx.InvalidURL,
    httpcore.NetworkError,
    httpcore.ProtocolError,
)
