"""What goes to a model and what comes back, whoever answers; and the JSON that an endpoint is sent for a request.

`Client` is a `ChatModel` over HTTP; a test or a verifier passes a narrator of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, cast

if TYPE_CHECKING:
    from talekeeper.models.slots import Slot

Role = Literal["system", "user", "assistant", "tool"]


class Cancel(Protocol):
    """Says that a call shall end; a `threading.Event` is one. Asked about every 50 ms while a call waits."""

    def is_set(self) -> bool:
        """True from the moment the call shall end."""
        ...

    def wait(self, timeout: float | None = None, /) -> bool:
        """Waits that many seconds or until set, and says which."""
        ...


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool the model wants called. `arguments` is the text it wrote, which need not be JSON: `read_arguments`."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt. `tool_calls` belong to the assistant, `answers` is the id of the call a tool answers."""

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool the model may call; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    `schema` asks for one JSON object of that form, `schema_name` names it to the endpoint. `reply` is the most tokens
    of the answer, 0 for what the slot has. `sampling` goes into the request as it is and wins over the slot's.
    """

    messages: Sequence[ChatMessage]
    tools: Sequence[ToolOffer] = ()
    schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"
    reply: int = 0
    sampling: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counted them."""

    prompt: int
    completion: int

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.prompt + other.prompt, self.completion + other.completion)


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer.

    `finish` is the endpoint's word: `stop`, `length`, `tool_calls`, `content_filter`. `usage` is None when it counted
    nothing; `model` is the name it gave itself; `attempts` counts the requests it took, 1 when nothing went wrong.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    usage: Usage | None = None
    model: str = ""
    attempts: int = 1


class ReplyStream(Protocol):
    """An answer as it comes: iterate for pieces of text, then read `reply`. Leaving the block closes the connection."""

    def __iter__(self) -> Iterator[str]: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

    @property
    def reply(self) -> Reply:
        """The whole answer; there once the pieces have come to their end."""
        ...


class ChatModel(Protocol):
    """Answers requests; raises a `ModelError`, or `Cancelled` when `cancel` is set meanwhile."""

    def complete(self, request: Request, *, cancel: Cancel | None = None) -> Reply:
        """The whole answer."""
        ...

    def stream(self, request: Request, *, cancel: Cancel | None = None) -> ReplyStream:
        """The answer as it comes."""
        ...


RESERVED = frozenset({"messages", "model", "n", "response_format", "stream", "stream_options", "tool_choice", "tools"})
"""What `sampling` may not hold: the kernel says it itself."""
_BY_WORDS = "Answer with one JSON object that follows this JSON Schema, and with nothing else:\n"


def sampling_fault(sampling: Mapping[str, Any]) -> str:
    """Why these cannot go into a request as they are, behind the name of their table; empty when they can."""
    for key in sampling:
        if key in RESERVED:
            return f"may not hold {key!r}, which is said by other means"
    try:
        json.dumps(sampling, allow_nan=False)
    except (TypeError, ValueError):
        return "may hold only what JSON has: no dates, no nan or inf"
    return ""


def chat_body(request: Request, slot: Slot, model: str) -> bytes:
    """The body of `/chat/completions`; strings a model cannot be sent are replaced character by character."""
    body: dict[str, Any] = {key: value for key, value in slot.sampling.items() if key not in RESERVED}
    body |= {key: value for key, value in request.sampling.items() if key not in RESERVED}
    messages = [_message(message) for message in request.messages]
    if request.schema is not None and slot.json != "schema":
        _append(messages, _BY_WORDS + json.dumps(request.schema, ensure_ascii=False, default=_plain))
    body |= {"model": model, "messages": messages, slot.reply_parameter: request.reply or slot.reply}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.schema is not None and slot.json != "prompt":
        body["response_format"] = _response_format(request, slot)
    if slot.stream:
        body["stream"] = True
        if slot.usage:
            body["stream_options"] = {"include_usage": True}
    return encoded(body)


def embeddings_body(texts: Sequence[str], model: str) -> bytes:
    """The body of `/embeddings`."""
    return encoded({"model": model, "input": list(texts), "encoding_format": "float"})


def encoded(body: Mapping[str, Any]) -> bytes:
    """UTF-8; half a surrogate pair becomes a question mark, because it has no UTF-8."""
    return json.dumps(body, ensure_ascii=False, default=_plain).encode("utf-8", "replace")


def _plain(value: object) -> object:
    """Schemas may come frozen."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    raise TypeError(f"a value of type {type(value).__name__} is not JSON")


def _message(message: ChatMessage) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        written["content"] = message.content or None
        written["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        written["tool_call_id"] = message.answers
    return written


def _tool(tool: ToolOffer) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _response_format(request: Request, slot: Slot) -> dict[str, Any]:
    if slot.json == "object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": request.schema_name, "schema": request.schema}}


def _append(messages: list[dict[str, Any]], text: str) -> None:
    """Adds to the last message when it is the user's: many chat templates want the roles to take turns."""
    if messages and messages[-1]["role"] == "user":
        messages[-1]["content"] += "\n\n" + text
    else:
        messages.append({"role": "user", "content": text})
