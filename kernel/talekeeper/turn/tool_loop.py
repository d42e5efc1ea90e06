"""Asks the model until it narrates: tool calls in between are run, and what they gave is shown to it.

An endpoint that cannot be offered tools gets the same offer as a JSON object to answer with.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from talekeeper.db import ensure_outside_write
from talekeeper.errors import BadReply, ContextOverflow, ModelError
from talekeeper.models import Cancel, ChatMessage, ChatModel, Reply, Request, ToolCall, Usage, ask_structured
from talekeeper.plugin_context import with_cost
from talekeeper.story import ModelUse
from talekeeper.turn import limits
from talekeeper.turn.frame import clean, escaped
from talekeeper.turn.prompt import Prompt
from talekeeper.turn.tools import Offer, Toolbox
from talekeeper.turn.turn_context import TurnContext
from talekeeper.turn.wording import Wording

OnText = Callable[[str], None]
_APART = "\n\n"
_REFUSED = frozenset({400, 404, 422, 500, 501})


@dataclass(slots=True)
class ToolLoop:
    """One turn's talk with the model. `shrink` gives a shorter prompt, once the endpoint said that one is too long."""

    scene: TurnContext
    model: ChatModel
    toolbox: Toolbox
    shrink: Callable[[], Prompt]
    on_text: OnText | None = None
    by_schema: bool = False
    used: list[ModelUse] = field(default_factory=list[ModelUse])
    _exchange: list[ChatMessage] = field(default_factory=list[ChatMessage])
    _texts: list[str] = field(default_factory=list[str])
    _shrunk: bool = False
    _cut_off: bool = False

    def narrate(self) -> str:
        """The narration; raises a `ModelError`, `BadReply` for one that is blank, or `Cancelled`."""
        try:
            self._rounds()
        except BadReply as fault:
            if self.by_schema or self._exchange or not _refuses_tools(fault):
                raise
            self.by_schema = True
            self._rounds()
        text = _APART.join(self._texts).strip()
        if not clean(text).strip():
            raise self._wordless()
        return text

    @property
    def usage(self) -> Usage | None:
        """Tokens of all questions together, as far as the endpoint counted them."""
        counted = [Usage(use.prompt or 0, use.completion or 0) for use in self.used if use.prompt is not None]
        return sum(counted, Usage(0, 0)) if counted else None

    def _wordless(self) -> BadReply:
        """Says what helps: a model that thinks first may have had no tokens left for the story."""
        name = self.scene.slot_name
        cure = f"give slot {name} a larger reply" if self._cut_off else "send the message again, or use another model"
        what = "the model answered without a word of narration"
        what += ", and its answer was cut off at the slot's length" if self._cut_off else ""
        return BadReply(what, where=f"model slot {name}", cure=cure, slot=name)

    def _rounds(self) -> None:
        for number in range(1, limits.ROUNDS + 1):
            last = number == limits.ROUNDS or bool(self.toolbox.spent())
            if (self._act if self.by_schema else self._tell)(last=last):
                return

    def _tell(self, *, last: bool) -> bool:
        """One question with the tools offered; whether it was the last."""
        tools = [] if last else [offer.told for offer in self.toolbox.offered.values()]
        reply = self._ask(Request((), tools=tools))
        if not reply.tool_calls or last:
            return True
        self._exchange.append(ChatMessage("assistant", reply.text, tool_calls=reply.tool_calls))
        for call in reply.tool_calls:
            self._exchange.append(ChatMessage("tool", self.toolbox.run(call), answers=call.id))
        return False

    def _act(self, *, last: bool) -> bool:
        """One question for a JSON object; whether that was the narration."""
        actions = Actions(self.toolbox.offered, self.scene.words)
        reply = self._ask(Request((), schema=actions.schema(narrate_only=last), schema_name="turn"))
        action = actions.read(reply)
        if action.text or action.call is None:
            self._say(action.text)
            return True
        self._exchange.append(ChatMessage("assistant", reply.text))
        self._exchange.append(ChatMessage("user", actions.told(action.call, self.toolbox.run(action.call))))
        return False

    def _ask(self, request: Request) -> Reply:
        try:
            return self._asked(request)
        except ContextOverflow:
            if self._shrunk:
                raise
            self._shrunk = True
            self.toolbox.prompt = self.shrink()
            return self._asked(request)

    def _asked(self, request: Request) -> Reply:
        scene, preset = self.scene, self.scene.preset
        scene.check()
        ensure_outside_write(f"a call of the model {scene.slot_name}")
        messages = [*self._messages(), *self._exchange]
        asked = Request(messages, request.tools, request.schema, request.schema_name, preset.reply, preset.sampling)
        scene.tell("model.called", _bodies(messages), slot=scene.slot_name, messages=len(messages))
        try:
            reply = self._answer(asked)
        except ModelError as fault:
            scene.tell("model.failed", slot=scene.slot_name, reason=str(fault))
            raise
        self._count(reply)
        return reply

    def _messages(self) -> tuple[ChatMessage, ...]:
        messages = self.toolbox.prompt.messages
        if not self.by_schema:
            return messages
        said = Actions(self.toolbox.offered, self.scene.words).explained()
        if messages and messages[0].role == "system":
            return (ChatMessage("system", f"{messages[0].content}{_APART}{said}"), *messages[1:])
        return (ChatMessage("system", said), *messages)

    def _answer(self, asked: Request) -> Reply:
        if self.by_schema:
            return Actions(self.toolbox.offered, self.scene.words).ask(self.model, asked, self.scene.cancel)
        begun = False
        with self.model.stream(asked, cancel=self.scene.cancel) as pieces:
            for piece in pieces:
                if self.on_text and piece:
                    self.on_text(piece if begun or not self._texts else _APART + piece)
                    begun = True
            reply = pieces.reply
        if reply.text.strip():
            self._texts.append(reply.text)
        return reply

    def _say(self, text: str) -> None:
        self._texts.append(text)
        if self.on_text and text:
            self.on_text(text)

    def _count(self, reply: Reply) -> None:
        self._cut_off = reply.finish == "length"
        slot, usage, model = self.scene.slot_name, reply.usage, reply.model or self.scene.model_name
        prompt, completion = (usage.prompt, usage.completion) if usage else (None, None)
        use = ModelUse(slot, model, prompt, completion, self.scene.number)
        self.used.append(with_cost(use, self.scene.slot))
        self.scene.tell(
            "model.answered",
            reply.text,
            slot=slot,
            model=model,
            finish=reply.finish,
            attempts=reply.attempts,
            prompt=prompt,
            completion=completion,
            calls=len(reply.tool_calls),
        )


def _refuses_tools(fault: BadReply) -> bool:
    """Whether an endpoint says that its model cannot be offered tools, as Ollama and vLLM do."""
    return fault.data.get("status") in _REFUSED and "tool" in fault.what.lower()


def _bodies(messages: list[ChatMessage]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


NARRATE = "narrate"
SEARCH = "search"


@dataclass(frozen=True, slots=True)
class Action:
    """What the model decided: `text`, else a call."""

    text: str = ""
    call: ToolCall | None = None


class Actions:
    """The offer in the words of one language."""

    def __init__(self, offered: Mapping[str, Offer], words: Wording) -> None:
        self._words = words
        self._offers = {_name(offer): offer for offer in offered.values()}

    def schema(self, *, narrate_only: bool = False) -> dict[str, Any]:
        """The form of the answer."""
        names = [NARRATE] if narrate_only else [NARRATE, *self._offers]
        return {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": names},
                "text": {"type": "string"},
                "arguments": {"type": "object"},
            },
            "required": ["action"],
            "additionalProperties": False,
        }

    def explained(self) -> str:
        """What the model is told: how to answer, and a line for each tool."""
        tools = [
            f"- {name}: {offer.told.description} {json.dumps(_plain(offer.told.parameters), ensure_ascii=False)}"
            for name, offer in self._offers.items()
        ]
        return "\n".join([self._words.actions, *tools])

    def ask(self, model: ChatModel, request: Request, cancel: Cancel | None) -> Reply:
        """An answer whose text is one object of the form; asked for once more where it is not, then `BadReply`."""
        found = ask_structured(model, request, request.schema or {}, name="turn", bounded=False, cancel=cancel)
        return Reply(
            json.dumps(found.value, ensure_ascii=False),
            finish=found.reply.finish,
            usage=found.usage,
            model=found.reply.model,
            attempts=found.reply.attempts,
        )

    def read(self, reply: Reply) -> Action:
        """What `ask` gave, taken apart."""
        value: dict[str, Any] = json.loads(reply.text)
        if value["action"] == NARRATE:
            return Action(text=str(value.get("text", "")))
        offer = self._offers.get(value["action"])
        if offer is None:
            raise BadReply(f"the model chose {value['action']!r}, which it was not offered")
        return Action(call=ToolCall("", offer.told.name, json.dumps(value.get("arguments", {}), ensure_ascii=False)))

    def told(self, call: ToolCall, text: str) -> str:
        """A result as the user's next message: one line, so that it cannot be taken for anybody's words."""
        return f'{{"tool": {escaped(call.name)}, "result": {text}}}'


def _name(offer: Offer) -> str:
    """`search` is the kernel's, and `narrate` nobody's: a plugin's tool of that name goes by `plugin/tool`."""
    if offer.plugin is None:
        return SEARCH
    name = offer.told.name
    return f"{offer.plugin.id}/{name}" if name in {NARRATE, SEARCH} else name


def _plain(schema: object) -> Any:
    """Schemas come frozen."""
    return json.loads(json.dumps(schema, default=lambda value: dict(cast("Mapping[str, Any]", value))))
