"""What a scripted model answers: steps, functions that make them, and narrators that take them in the process."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Self

from talekeeper.clock import Clock
from talekeeper.errors import BadReply, Cancelled
from talekeeper.models import NARRATOR, BaseUrl, Cancel, ChatModel, Reply, Request, Slot, ToolCall, Usage, chat_body


@dataclass(frozen=True, slots=True)
class Step:
    """One answer. Made by the functions below; `with_` changes a copy.

    `text` is streamed in deltas of `piece` characters, the first after `wait` seconds and each next one `gap` later;
    `pings` comments that keep the connection alive come before it, `gap` apart as well. `calls` are (name, arguments
    as text) pairs. `keep` is how many deltas are sent before the connection is dropped, None for all of them. A `raw`
    body is sent as it is.
    """

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    finish: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    raw: bytes | None = None
    wait: float = 0.0
    gap: float = 0.0
    piece: int = 8
    keep: int | None = None
    pings: int = 0
    usage: bool = True
    key_in_text: bool = False

    def with_(self, **changes: Any) -> Step:
        """A copy with some fields changed."""
        return replace(self, **changes)


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


def decider(script: Script, at_end: Callable[[], Step]) -> Callable[[Recorded], Step]:
    """What answers each request: the script itself, or its steps in order and then whatever `at_end` gives."""
    if callable(script):
        return script
    steps = iter(script)

    def decide(_: Recorded) -> Step:
        step = next(steps, None)
        return at_end() if step is None else step

    return decide


def say(text: str, *, wait: float = 0.0, gap: float = 0.0, piece: int = 8, finish: str = "stop") -> Step:
    """A text, slowly when `wait` or `gap` say so."""
    return Step(text, wait=wait, gap=gap, piece=piece, finish=finish)


def say_json(value: object) -> Step:
    """A JSON value as text, as a model answers that was given a schema."""
    return Step(json.dumps(value, ensure_ascii=False), finish="stop")


def call_tool(name: str, arguments: Mapping[str, Any] | str, *, text: str = "") -> Step:
    """A tool call, after some text if any; arguments given as a string are sent as they are, broken or not."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return Step(text, calls=((name, written),), finish="tool_calls")


def fail(status: int, message: str = "scripted failure", *, code: str = "", retry_after: float | None = None) -> Step:
    """An HTTP error in the form OpenAI gives it."""
    headers = {"content-type": "application/json"}
    if retry_after is not None:
        headers["retry-after"] = f"{retry_after:g}"
    error = {"message": message, "type": "error", "code": code or None}
    return Step(status=status, headers=headers, raw=json.dumps({"error": error}).encode())


def overflow(context: int = 4096) -> Step:
    """The refusal of a prompt that is longer than the context."""
    message = f"This model's maximum context length is {context} tokens. Please reduce the length of the messages."
    return fail(400, message, code="context_length_exceeded")


def stop_short(text: str, after: int, *, piece: int = 8) -> Step:
    """A stream whose connection is dropped after so many deltas; 0: before the first."""
    return Step(text, keep=after, piece=piece, finish="stop")


def raw(body: bytes | str, content_type: str = "text/event-stream", *, status: int = 200, **headers: str) -> Step:
    """Any bytes at all."""
    all_headers = {"content-type": content_type} | {name.replace("_", "-"): value for name, value in headers.items()}
    return Step(raw=body.encode() if isinstance(body, str) else body, status=status, headers=all_headers)


def echo_key(status: int = 401) -> Step:
    """What no endpoint should do: the request's key in the answer, in an error's message or in a text with 200."""
    return Step("Your key is ", status=status, key_in_text=True, finish="stop")


SLOT = Slot(NARRATOR, BaseUrl("http", "127.0.0.1", 9, "/v1"), model="scripted", network="loopback")
"""The slot a narrator in the process stands for; nothing is ever sent there."""

_DONE = "Whatever was asked for has been done."
_DO = re.compile(r"DO ([A-Za-z0-9_-]{1,64})\(")


class ScriptedNarrator:
    """A `ChatModel` that takes the steps of a script; `requests` are as an endpoint would have got them."""

    def __init__(self, script: Script, slot: Slot = SLOT) -> None:
        self.requests: list[Recorded] = []
        self._slot = slot
        self._decide = decider(script, _no_more_steps)
        self._numbers = itertools.count(1)

    def complete(self, request: Request, *, cancel: Cancel | None = None) -> Reply:
        """The whole answer."""
        with self.stream(request, cancel=cancel) as pieces:
            for _ in pieces:
                pass
            return pieces.reply

    def stream(self, request: Request, *, cancel: Cancel | None = None) -> ScriptedReply:
        """The answer in the step's pieces."""
        body: dict[str, Any] = json.loads(chat_body(request, self._slot, self._slot.model))
        recorded = Recorded("POST", "/v1/chat/completions", {}, body)
        self.requests.append(recorded)
        return ScriptedReply(self._decide(recorded), self._numbers, cancel or threading.Event())


class ScriptedReply:
    """One answer of a `ScriptedNarrator`."""

    def __init__(self, step: Step, numbers: Iterator[int], cancel: Cancel) -> None:
        if step.status != 200 or step.raw is not None:  # noqa: PLR2004 - as HTTP numbers it
            raise BadReply(f"the script says status {step.status}", cure="play faults with a ScriptedServer")
        self._step = step
        self._cancel = cancel
        calls = tuple(ToolCall(f"call-{next(numbers)}", name, arguments) for name, arguments in step.calls)
        self.reply = Reply(step.text, calls, step.finish or "stop", Usage(1, 1) if step.usage else None)

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self._step.text), self._step.piece):
            if self._cancel.wait(self._step.gap):
                raise Cancelled("the call was cancelled")
            yield self._step.text[start : start + self._step.piece]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""


class OneModel:
    """Models of which each slot is the same `ChatModel`."""

    def __init__(self, model: ChatModel, slot: Slot = SLOT) -> None:
        self._model = model
        self._slot = slot

    def slot(self, name: str) -> Slot | None:  # noqa: ARG002 - whatever the work
        """The one slot."""
        return self._slot

    def missing(self, name: str) -> str:  # noqa: ARG002 - as above
        """Nothing is."""
        return ""

    def client(self, name: str, *, clock: Clock) -> ChatModel:  # noqa: ARG002 - as above
        """The one model."""
        return self._model


def gullible_narrator(request: Recorded) -> Step:
    """A script that obeys every text: calls each tool that the prompt orders, in order, and then says that it was done.

    The kernel has to stay safe with it. An order is `DO tool({"key": …})`, `DO tool()` or `DO tool(*)`, in a tool's
    result as well. The same order is carried out once.
    """
    messages: list[dict[str, Any]] = request.body.get("messages", [])
    calls: list[dict[str, Any]] = [call for message in messages for call in message.get("tool_calls") or ()]
    done = {(str(call["function"]["name"]), str(call["function"]["arguments"])) for call in calls}
    orders = [order for order in dict.fromkeys(_orders(_unescaped(request.prompt))) if order not in done]
    if orders and request.body.get("tools"):
        return call_tool(*orders[0])
    return say(_DONE) if "response_format" not in request.body else say_json({"action": "narrate", "text": _DONE})


def _orders(text: str) -> Iterator[tuple[str, str]]:
    for found in _DO.finditer(text):
        yield found[1], _arguments(text, found.end())


def _arguments(text: str, start: int) -> str:
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return "{}"
    return json.dumps(value)


def _unescaped(text: str) -> str:
    """It reads what stands in a record's JSON as if it were said to it."""
    return text.replace('\\"', '"').replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u0026", "&")


def _no_more_steps() -> NoReturn:
    raise BadReply("the narrator's script has no more steps", cure="give it one for each question")
