"""Models that write down every question and its answer, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from talekeeper.clock import Clock
from talekeeper.models import Cancel, ChatModel, ModelSource, Reply, ReplyStream, Request, Slot
from talekeeper.text import estimate_tokens


@dataclass(frozen=True)
class ModelCall:
    """One question with its answer; `turn` is the one being played, counted over the whole run."""

    turn: int
    slot: str
    request: Request
    reply: Reply

    @property
    def tokens(self) -> int:
        """Of the prompt: as the endpoint counted them, else as estimated."""
        estimated = sum(estimate_tokens(message.content) for message in self.request.messages)
        return max(estimated, self.reply.usage.prompt if self.reply.usage else 0)

    def as_json(self) -> dict[str, Any]:
        """A line of the artefacts."""
        return {
            "turn": self.turn,
            "slot": self.slot,
            "tokens": self.tokens,
            "messages": [{"role": each.role, "content": each.content} for each in self.request.messages],
            "tools": [tool.name for tool in self.request.tools],
            "reply": self.reply.text,
            "calls": [{"name": call.name, "arguments": call.arguments} for call in self.reply.tool_calls],
        }


@dataclass
class Recording:
    """A `ModelSource` in front of another."""

    source: ModelSource
    turn: int = 0
    asked: list[ModelCall] = field(default_factory=list[ModelCall])

    def slot(self, name: str) -> Slot | None:
        """The other's."""
        return self.source.slot(name)

    def missing(self, name: str) -> str:
        """The other's."""
        return self.source.missing(name)

    def client(self, name: str, *, clock: Clock) -> ChatModel:
        """The other's, listened to."""
        return _Client(self, name, self.source.client(name, clock=clock))

    def note(self, slot: str, request: Request, reply: Reply) -> None:
        """Writes one down."""
        self.asked.append(ModelCall(self.turn, slot, request, reply))


class _Client:
    def __init__(self, recording: Recording, slot: str, inner: ChatModel) -> None:
        self._recording, self._slot, self._inner = recording, slot, inner

    def complete(self, request: Request, *, cancel: Cancel | None = None) -> Reply:
        """As the inner one."""
        reply = self._inner.complete(request, cancel=cancel)
        self._recording.note(self._slot, request, reply)
        return reply

    def stream(self, request: Request, *, cancel: Cancel | None = None) -> ReplyStream:
        """As the inner one."""
        return _Stream(self._inner.stream(request, cancel=cancel), self._recording, self._slot, request)


class _Stream:
    def __init__(self, inner: ReplyStream, recording: Recording, slot: str, request: Request) -> None:
        self._inner, self._recording, self._slot, self._request = inner, recording, slot, request

    def __iter__(self) -> Iterator[str]:
        yield from self._inner
        self._recording.note(self._slot, self._request, self._inner.reply)

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._inner.__exit__(kind, error, trace)

    @property
    def reply(self) -> Reply:
        """Of the inner one."""
        return self._inner.reply
