"""What goes to a model and what comes back: the types the rooms above use, whoever answers.

`Client` implements `ChatModel` and `Embedder` over HTTP; a test or a verifier passes a narrator of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol, Self

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


class Embedder(Protocol):
    """Turns texts into vectors; raises as a `ChatModel` does."""

    def embed(self, texts: Sequence[str], *, cancel: Cancel | None = None) -> list[list[float]]:
        """One vector for each text, in order, all of one length, every number finite."""
        ...
