"""An OpenAI-compatible server on loopback that answers from a script and records what it was asked.

It has real sockets, real chunks and real drops, so that what is tested is what runs. It needs nothing but the standard
library and is no server to be left running: it checks no input and speaks to one machine.
"""

from __future__ import annotations

import json
import select
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast

from talekeeper.testing.openai_deltas import completion, stream_events
from talekeeper.testing.openai_steps import Step, fail
from talekeeper.testing.openai_vectors import hash_vector

_POLL = 0.01


@dataclass
class Recorded:
    """One request. `body` is its JSON, {} when it had none; `left` is set once the client closed before the end."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    left: threading.Event = field(default_factory=threading.Event)

    @property
    def key(self) -> str:
        """The bearer token it came with."""
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def prompt(self) -> str:
        """All message texts, one after the other."""
        return "\n".join(str(message.get("content") or "") for message in self.body.get("messages", []))


Script = Iterable[Step] | Callable[[Recorded], Step]


class ScriptedServer:
    """Answers `/v1/chat/completions` with the steps of `script`, in order, or with what it makes of each request.

    `/v1/embeddings` gives `hash_vector`s of `dimensions` numbers unless a step of `embeddings` stands first in line;
    `/v1/models` lists `models`. With `key`, a request without that bearer token gets 401. A script that has run out
    answers 500, so that a request too many is seen. Used as a context manager; `port` 0 takes a free one.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        embeddings: Sequence[Step] = (),
        models: Sequence[str] = ("scripted",),
        key: str = "",
        dimensions: int = 16,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[Recorded] = []
        self.models = tuple(models)
        self.key = key
        self.dimensions = dimensions
        self.closing = threading.Event()
        self._decide = script if callable(script) else _in_order(script)
        self._embeddings = iter(embeddings)
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", port), _Handler)
        self._http.scripted = self
        if tls is not None:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self._scheme = "http" if tls is None else "https"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(_POLL,), daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._http.server_address[1])

    @property
    def base_url(self) -> str:
        """What a model slot is given."""
        return f"{self._scheme}://127.0.0.1:{self.port}/v1"

    @property
    def chats(self) -> list[Recorded]:
        """The requests that asked for an answer."""
        return [request for request in self.requests if request.path.endswith("/chat/completions")]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def take(self, request: Recorded) -> Step:
        """Records a request and decides its answer; one at a time, whoever asks."""
        with self._lock:
            self.requests.append(request)
            if self.key and request.key != self.key:
                return fail(401, "Incorrect API key provided", code="invalid_api_key")
            if request.path.endswith("/chat/completions"):
                return self._decide(request)
            if request.path.endswith("/embeddings"):
                return next(self._embeddings, None) or self._vectors(request)
            if request.path.endswith("/models"):
                return _json({"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]})
            return fail(404, f"no such path: {request.path}")

    def _vectors(self, request: Recorded) -> Step:
        texts: list[str] = request.body["input"]
        data = [
            {"object": "embedding", "index": index, "embedding": hash_vector(text, self.dimensions)}
            for index, text in enumerate(texts)
        ]
        return _json({"object": "list", "data": data, "model": request.body.get("model", "")})


class _Server(ThreadingHTTPServer):
    scripted: ScriptedServer
    daemon_threads = True
    block_on_close = True

    def server_bind(self) -> None:
        # HTTPServer would look up the machine's name, which may take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _scripted(self) -> ScriptedServer:
        return cast("_Server", self.server).scripted

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        self._answer(json.loads(self.rfile.read(length) or b"{}"))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the standard library's name
        """Says nothing."""

    def _answer(self, body: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Recorded(self.command, self.path, headers, body)
        step = self._scripted.take(request)
        self.close_connection = True
        if not self._wait(step.wait, request):
            return
        if step.key_in_text:
            step = _with_key(step, request)
        if step.raw is not None:
            self._send(step.status, step.headers, step.raw)
        elif body.get("stream"):
            self._stream(step, request)
        else:
            payload = completion(step, str(body.get("model", "")))
            self._send(200, {"content-type": "application/json"}, json.dumps(payload).encode())

    def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, step: Step, request: Recorded) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for _ in range(step.pings):
                self._chunk(b": ping\n\n")
                if not self._wait(step.gap, request):
                    return
            for number, event in enumerate(stream_events(step, request.body)):
                if number == step.keep or (number and not self._wait(step.gap, request)):
                    return
                self._chunk(f"data: {event}\n\n".encode())
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            request.left.set()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _wait(self, seconds: float, request: Recorded) -> bool:
        """False once the client has gone or the server closes."""
        waited = 0.0
        while waited < seconds:
            if self._scripted.closing.wait(_POLL):
                return False
            if _has_left(cast("socket.socket", self.connection)):
                request.left.set()
                return False
            waited += _POLL
        return True


def _has_left(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    try:
        return bool(readable) and not connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


def _in_order(script: Iterable[Step]) -> Callable[[Recorded], Step]:
    steps: Iterator[Step] = iter(script)
    return lambda _: next(steps, None) or fail(500, "the script has no more steps")


def _json(value: object) -> Step:
    return Step(raw=json.dumps(value).encode(), headers={"content-type": "application/json"})


def _with_key(step: Step, request: Recorded) -> Step:
    text = f"{step.text}{request.key}"
    if step.status == 200:  # noqa: PLR2004 -- as HTTP numbers it
        return step.with_(text=text, headers={"x-debug": request.key})
    return fail(step.status, text).with_(headers={"content-type": "application/json", "x-debug": request.key})
