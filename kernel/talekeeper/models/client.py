"""The client of one slot, an OpenAI-compatible endpoint over HTTP.

This room knows no database, so it cannot see whether a write is open: whoever calls `complete`, `stream`, `embed` or
`list_models` calls `db.ensure_outside_write` before. A client holds no connection and may be shared by threads.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Self

from talekeeper.clock import Clock
from talekeeper.models.chat import Cancel, Reply, Request, chat_body, embeddings_body
from talekeeper.models.http import Call, Means
from talekeeper.models.network import Watch
from talekeeper.models.reasoning import Thoughts, without_orphan
from talekeeper.models.replies import (
    Assembly,
    chat_texts,
    model_names,
    pick_model,
    vectors_in,
)
from talekeeper.models.secrets import Redactor, StreamMask
from talekeeper.models.slots import EMBEDDING, Slot


class Client:
    """Asks the endpoint of a slot. Every method raises a `ModelError`, or `Cancelled` once `cancel` is set.

    The caller makes sure that no write transaction is open (`db.ensure_outside_write`).
    """

    def __init__(self, slot: Slot, *, clock: Clock, means: Means | None = None) -> None:
        self.slot = slot
        self._clock = clock
        self._means = means or Means()
        self._model = slot.model
        self.thinks = slot.thinks
        """Whether answers begin inside thoughts; learnt from one that closes what none opened, until one does not."""

    def complete(self, request: Request, *, cancel: Cancel | None = None) -> Reply:
        """The whole answer without the model's thoughts; keys are masked in it, should the endpoint repeat one."""
        with self.stream(request, cancel=cancel) as pieces:
            for _ in pieces:
                pass
            return pieces.reply

    def stream(self, request: Request, *, cancel: Cancel | None = None) -> ClientStream:
        """The answer as it comes. Nothing is sent before the first piece is read."""
        return ClientStream(self, request, cancel or threading.Event())

    def embed(self, texts: Sequence[str], *, cancel: Cancel | None = None) -> list[list[float]]:
        """One vector for each text, in order; requested in batches of the slot's size, each with the time of a call."""
        model = self.model(cancel=cancel) if texts else ""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self.slot.batch):
            batch = texts[start : start + self.slot.batch]
            parse = partial(vectors_in, count=len(batch), width=len(vectors[0]) if vectors else 0)
            vectors += self.call(cancel).ask("POST", "/embeddings", parse, embeddings_body(batch, model))
        return vectors

    def list_models(self, *, cancel: Cancel | None = None) -> list[str]:
        """The names the endpoint lists at `/models`; raises `BadReply` when the answer is no such list."""
        return self.call(cancel).ask("GET", "/models", model_names)

    def model(self, *, cancel: Cancel | None = None) -> str:
        """The model's name; where the slot has none, the first of its sort that the endpoint lists, requested once."""
        if not self._model:
            parse = partial(pick_model, embedding=self.slot.name == EMBEDDING)
            self._model = self.call(cancel).ask("GET", "/models", parse)
        return self._model

    def call(self, cancel: Cancel | None) -> Call:
        """A call of the slot's whose time begins now."""
        watch = Watch(self.slot.limits, cancel or threading.Event(), self._means.now)
        return Call(self.slot, watch, self._clock, self._means)


class ClientStream:
    """One answer on its way, for one thread; made by `Client.stream`."""

    def __init__(self, client: Client, request: Request, cancel: Cancel) -> None:
        self._client = client
        self._request = request
        self._cancel = cancel
        self._reply: Reply | None = None
        self._pieces = self._run()

    def __iter__(self) -> Iterator[str]:
        return self._pieces

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._pieces.close()

    @property
    def reply(self) -> Reply:
        """The whole answer; raises `RuntimeError` before the pieces have come to their end."""
        if self._reply is None:
            raise RuntimeError("the answer has not come to its end")
        return self._reply

    def _run(self) -> Generator[str]:
        client = self._client
        body = chat_body(self._request, client.slot, client.model(cancel=self._cancel))
        call = client.call(self._cancel)
        yield from call.repeated(lambda number: self._attempt(call, body, number))

    def _attempt(self, call: Call, body: bytes, number: int) -> Iterator[str]:
        expected = self._client.thinks
        assembly, mask, thoughts = Assembly(), StreamMask(call.redactor), Thoughts(expected=expected)
        shown: list[str] = []
        with call.open("POST", "/chat/completions", body) as answer:
            for text in chat_texts(answer, assembly, call.watch):
                shown.append(mask.feed(thoughts.feed(text)))
                yield shown[-1]
        reply = _masked(assembly.reply(), call.redactor)
        shown.append(mask.feed(thoughts.end(cut=reply.finish == "length")) + mask.end())
        yield shown[-1]
        # A closing tag that comes alone tells too late that what was shown were thoughts: they are not kept.
        whole = "".join(shown)
        text = without_orphan(whole)
        self._client.thinks = self._client.slot.thinks or text != whole or (expected and thoughts.found)
        self._reply = replace(reply, text=text, attempts=number)


def _masked(reply: Reply, redactor: Redactor) -> Reply:
    calls = tuple(
        replace(call, name=redactor.mask(call.name), arguments=redactor.mask(call.arguments))
        for call in reply.tool_calls
    )
    return replace(reply, tool_calls=calls, finish=redactor.mask(reply.finish), model=redactor.mask(reply.model))
