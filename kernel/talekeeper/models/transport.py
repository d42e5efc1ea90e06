"""One HTTP exchange with an endpoint: a connection of its own, no redirect, no compression, no environment proxy.

A connection is not kept for the next call: a call to a model is long and seldom beside a handshake, an idle connection
that the other side has dropped is the commonest false failure there is, and closing it is how a call is cancelled.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import httpcore
import httpx

from talekeeper.models.network import CheckedBackend

# The layer below repeats every header it receives in its debug lines, and an endpoint may have put the key there.
logging.getLogger("httpcore.http11").setLevel(logging.INFO)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: status, headers by lower-case name, and the body in chunks as they arrive."""

    status: int
    headers: httpx.Headers
    chunks: Iterator[bytes]


@contextmanager
def exchange(
    method: str,
    url: str,
    *,
    headers: dict[str, str],
    body: bytes | None,
    backend: CheckedBackend,
    tls: ssl.SSLContext | None,
) -> Generator[Answer]:
    """Sends the request and gives the answer; the connection is closed when the block ends.

    Raises what `CheckedBackend` does, `httpcore.NetworkError` and `httpcore.ProtocolError`.
    """
    context = tls or (default_tls() if url.startswith("https:") else None)
    with httpx.Client(transport=_Transport(backend, context), trust_env=False, timeout=None) as client:  # noqa: S113 -- the backend's watch has every limit
        request = client.build_request(method, url, headers=headers, content=body)
        response = client.send(request, stream=True, follow_redirects=False)
        try:
            yield Answer(response.status_code, response.headers, response.iter_raw())
        finally:
            response.close()


@cache
def default_tls() -> ssl.SSLContext:
    """The certificates of certifi, or those that SSL_CERT_FILE or SSL_CERT_DIR name; reading them takes 10 ms."""
    return httpx.create_ssl_context()


class _Transport(httpx.BaseTransport):
    def __init__(self, backend: CheckedBackend, tls: ssl.SSLContext | None) -> None:
        self._pool = httpcore.ConnectionPool(ssl_context=tls, network_backend=backend, max_keepalive_connections=0)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        answer = self._pool.handle_request(
            httpcore.Request(request.method, url, headers=request.headers.raw, content=request.read())
        )
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()
