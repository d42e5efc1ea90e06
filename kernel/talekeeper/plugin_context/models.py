"""`ctx.models`: a plugin asks the home's models, within what its manifest permits and for as long as its call lives.

Every call of a model leaves a row of usage, written by itself once the answer is there, and two events.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from talekeeper.api import Completion, Json
from talekeeper.db import ensure_outside_write
from talekeeper.errors import ModelError, ParameterError, PluginError, StoreError
from talekeeper.models import ChatMessage, ChatModel, Reply, Request, Slot, Usage, ask_structured
from talekeeper.plugin_context.bound import Bound
from talekeeper.story import ModelUse
from talekeeper.text import freeze, thaw

Said = Sequence[tuple[Literal["system", "user", "assistant"], str]]

MOST_CALLS = 100
"""Questions to models in one call of a plugin; a job that catches up with five blocks of story needs ten."""

_ROLES = frozenset({"system", "user", "assistant"})
_log = logging.getLogger("talekeeper.plugins")


class CallModels:
    """See `protocols.Models`."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._asked = 0
        self._lock = threading.Lock()

    def missing(self, slot: str) -> str:
        """Why the slot's model cannot be used."""
        bound = self._bound.live()
        bound.permit_model(slot)
        return bound.services.models.missing(slot)

    def complete(
        self, slot: str, messages: Said, *, schema: Mapping[str, Json] | None = None, reply: int = 0
    ) -> Completion:
        """The whole answer, or with a schema the object it gives."""
        client = self._client(slot)
        request = Request(_checked(messages), reply=reply)
        life = self._bound.life
        with self._counted(slot, request) as answer, life.asking():
            if schema is None:
                answer.reply = client.complete(request, cancel=life)
                return Completion(answer.reply.text)
            found = ask_structured(client, request, thaw(schema), cancel=life)
            answer.reply, answer.usage = found.reply, found.usage
            return Completion(found.reply.text, freeze(found.value))

    def stream(self, slot: str, messages: Said, *, reply: int = 0) -> Iterator[str]:
        """The answer in pieces."""
        return self._pieces(slot, self._client(slot), Request(_checked(messages), reply=reply))

    def _pieces(self, slot: str, client: ChatModel, request: Request) -> Iterator[str]:
        life = self._bound.life
        with self._counted(slot, request) as answer, client.stream(request, cancel=life) as stream:
            pieces = iter(stream)
            while True:
                # What the plugin does between two pieces is its own time.
                with life.asking():
                    piece = next(pieces, None)
                if piece is None:
                    break
                yield piece
            answer.reply = stream.reply

    def _client(self, slot: str) -> ChatModel:
        bound = self._bound.live()
        bound.permit_model(slot)
        ensure_outside_write(f"a question of plugin {bound.plugin.id} to the model {slot}")
        with self._lock:
            self._asked += 1
            if self._asked > MOST_CALLS:
                raise PluginError(
                    f"it asked models more than {MOST_CALLS} times in one call",
                    where=bound.plugin.id,
                    cure="do less at once",
                    plugin=bound.plugin.id,
                )
        return bound.services.models.client(slot, clock=bound.services.clock)

    @contextmanager
    def _counted(self, slot: str, request: Request) -> Generator[_Answer]:
        """Reports the question and its outcome, and counts its tokens, also those of an answer that was no use."""
        bodies = [{"role": message.role, "content": message.content} for message in request.messages]
        self._report("model.called", bodies, slot=slot)
        answer = _Answer()
        try:
            yield answer
        except ModelError as error:
            spent = error.data.get("usage")
            answer.usage = spent if isinstance(spent, Usage) else None
            self._report("model.answered", slot=slot, error=error.sentence())
            if answer.usage is not None:
                self._spend(slot, answer)
            raise
        prompt, completion = answer.tokens
        said = None if answer.reply is None else answer.reply.text
        self._report("model.answered", said, slot=slot, model=answer.model, prompt=prompt, completion=completion)
        self._spend(slot, answer)

    def _spend(self, slot: str, answer: _Answer) -> None:
        bound = self._bound
        use = ModelUse(slot, answer.model, *answer.tokens, bound.turn_number, bound.plugin.id)
        try:
            bound.story.turn_log.spend(bound.address, [with_cost(use, bound.services.models.slot(slot))])
        except StoreError as error:
            # The answer is there and worth more than its count.
            _log.warning("what the model %s used was not counted: %s", slot, error)

    def _report(self, event: str, body: object = None, **facts: object) -> None:
        bound = self._bound
        bound.services.report(event, bound.address, turn=bound.turn_number, plugin=bound.plugin.id, body=body, **facts)


def with_cost(use: ModelUse, slot: Slot | None) -> ModelUse:
    """The use with what it cost, where its slot has a price."""
    price = None if slot is None else slot.price
    return use if price is None else replace(use, cost=price.cost(use.prompt, use.completion), currency=price.currency)


@dataclass(slots=True)
class _Answer:
    """What is known of an answer so far; `usage` where it is more than the last reply's own."""

    reply: Reply | None = None
    usage: Usage | None = None

    @property
    def model(self) -> str:
        return "" if self.reply is None else self.reply.model

    @property
    def tokens(self) -> tuple[int | None, int | None]:
        usage = self.usage or (None if self.reply is None else self.reply.usage)
        return (None, None) if usage is None else (usage.prompt, usage.completion)


def _checked(messages: Said) -> list[ChatMessage]:
    """Raises `ParameterError` for messages that no model takes."""
    given = [ChatMessage(role, text) for role, text in messages]
    for number, message in enumerate(given):
        if message.role not in _ROLES:
            what = f"{message.role!r} is not a role"
            raise ParameterError(f"messages/{number}", what, cure="use system, user or assistant")
    if not given:
        raise ParameterError("messages", "there is none", cure="give at least the question")
    return given
