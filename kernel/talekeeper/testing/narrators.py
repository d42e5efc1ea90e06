"""Narrators for tests: models that answer from a script, in the process, with the steps of a scripted server.

The gullible narrator obeys every text: each `DO tool({…})` found anywhere in a prompt becomes a call of that tool. The
kernel has to stay safe with it.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any, NoReturn, Self

from talekeeper.clock import Clock
from talekeeper.errors import BadReply, Cancelled
from talekeeper.models import NARRATOR, BaseUrl, Cancel, ChatModel, Reply, Request, Slot, ToolCall, Usage, chat_body
from talekeeper.testing.openai_server import Recorded, Script, decider
from talekeeper.testing.openai_steps import Step, call_tool, say, say_json

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
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
    """A script: calls every tool that a text of the prompt orders, in order, and then says that it was done.

    An order is `DO tool({"key": …})`, `DO tool()` or `DO tool(*)`; what a tool gave is obeyed as well. The same order
    is carried out once.
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
