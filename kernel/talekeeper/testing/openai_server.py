"""An OpenAI-compatible server on loopback that answers from a script and records its requests.

It has real sockets, real chunks and real drops, so that what is tested is what runs. It needs nothing but the standard
library and is no server to be left running: it checks no input and speaks to one machine.
"""

from __future__ import annotations

import json
import math
import select
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

from talekeeper.testing.script import Recorded, Script, Step, decider, fail

_POLL = 0.01


class ScriptedServer:
    """Answers `/v1/chat/completions` with the steps of `script`, in order, or with what it makes of each request.

    `/v1/embeddings` gives `hash_vector`s of `dimensions` numbers unless a step of `embeddings` comes first;
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
        self._decide = decider(script, lambda: fail(500, "the script has no more steps"))
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
        """The requests for a chat answer."""
        return [request for request in self.requests if request.path.endswith("/chat/completions")]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
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


def hash_vector(text: str, dimensions: int = 16) -> list[float]:
    """A vector of length 1, the same for the same text everywhere; texts that share words lie close. Never all zeros.

    Each word adds or takes one at a place that its hash names.
    """
    vector = [0.0] * dimensions
    for word in text.lower().split() or [""]:
        number = int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest())
        vector[number % dimensions] += 1.0 if number >> 63 else -1.0
    if not any(vector):
        vector[0] = 1.0
    length = math.sqrt(sum(number * number for number in vector))
    return [number / length for number in vector]


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


def _json(value: object) -> Step:
    return Step(raw=json.dumps(value).encode(), headers={"content-type": "application/json"})


def _with_key(step: Step, request: Recorded) -> Step:
    text = f"{step.text}{request.key}"
    if step.status == 200:  # noqa: PLR2004 -- as HTTP numbers it
        return step.with_(text=text, headers={"x-debug": request.key})
    return fail(step.status, text).with_(headers={"content-type": "application/json", "x-debug": request.key})


def completion(step: Step, model: str) -> dict[str, Any]:
    """The answer to a request that does not stream."""
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if step.calls:
        message["tool_calls"] = [_call(number, *call) for number, call in enumerate(step.calls)]
    answer = {"id": "chat-1", "object": "chat.completion", "model": model}
    return answer | {"choices": [{"index": 0, "message": message, "finish_reason": step.finish}], "usage": _usage(step)}


def stream_events(step: Step, request: Mapping[str, Any]) -> Iterator[str]:
    """The data of each event: text in deltas, the calls cut in two, the finish, the usage if asked for, `[DONE]`."""
    head = {"id": "chat-1", "object": "chat.completion.chunk", "model": request.get("model", "")}
    for start in range(0, len(step.text), step.piece):
        yield _chunk(head, {"content": step.text[start : start + step.piece]})
    for number, (name, arguments) in enumerate(step.calls):
        middle = len(arguments) // 2
        whole = _call(number, name, arguments[:middle])
        yield _chunk(head, {"tool_calls": [{"index": number, **whole}]})
        yield _chunk(head, {"tool_calls": [{"index": number, "function": {"arguments": arguments[middle:]}}]})
    yield _chunk(head, {}, step.finish)
    options: Mapping[str, Any] = request.get("stream_options") or {}
    if step.usage and options.get("include_usage"):
        yield json.dumps(head | {"choices": [], "usage": _usage(step)})
    yield "[DONE]"


def _chunk(head: Mapping[str, Any], delta: Mapping[str, Any], finish: str | None = None) -> str:
    return json.dumps({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _call(number: int, name: str, arguments: str) -> dict[str, Any]:
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def _usage(step: Step) -> dict[str, int]:
    words = len(step.text.split())
    return {"prompt_tokens": 10, "completion_tokens": words, "total_tokens": 10 + words}
