"""Asks the model until it narrates: tool calls in between are run, and their results are shown to it.

An endpoint that cannot be offered tools gets the same offer as a JSON object to answer with:

{"action": "narrate", "text": "The door opens."}
{"action": "search", "arguments": {"query": "Mara's key"}}       memory-search
{"action": "roll-dice", "arguments": {"sides": 6}}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from talekeeper.db import ensure_outside_write
from talekeeper.errors import BadReply, ContextOverflow, ModelError
from talekeeper.models import ChatMessage, ChatModel, Reply, Request, ToolCall, Usage, ask_structured
from talekeeper.plugin_context import with_cost
from talekeeper.story import ModelUse
from talekeeper.text import prompt_line
from talekeeper.turn.frame import escaped
from talekeeper.turn.prompt import Prompt, wording
from talekeeper.turn.tools import Offer, Toolbox
from talekeeper.turn.turn_context import TurnContext

OnText = Callable[[str], None]

ROUNDS = 8
"""Questions to the model in a turn, the last one without tools, so that it has to narrate."""

_APART = "\n\n"
_REFUSED = frozenset({400, 404, 422, 500, 501})
_NARRATE = "narrate"
_SEARCH = "search"


@dataclass(slots=True)
class ToolLoop:
    """One turn's talk with the model. `shrink` gives a shorter prompt, once the endpoint said that one is too long."""

    turn: TurnContext
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
        if prompt_line(text).strip():
            return text
        # A model that thinks first may have had no tokens left for the story.
        what, cure = "the model answered without a word of narration", "send the message again, or use another model"
        name = self.turn.slot_name
        if self._cut_off:
            what += ", and its answer was cut off at the slot's length"
            cure = f"give slot {name} a larger reply"
        raise BadReply(what, where=f"model slot {name}", cure=cure, slot=name)

    @property
    def usage(self) -> Usage | None:
        """Tokens of all questions together, as far as the endpoint counted them."""
        counted = [Usage(use.prompt or 0, use.completion or 0) for use in self.used if use.prompt is not None]
        return sum(counted, Usage(0, 0)) if counted else None

    def _rounds(self) -> None:
        for number in range(1, ROUNDS + 1):
            last = number == ROUNDS or bool(self.toolbox.spent())
            if (self._ask_for_action if self.by_schema else self._ask_with_tools)(last=last):
                return

    def _ask_with_tools(self, *, last: bool) -> bool:
        """One question with the tools offered; whether it was the last."""
        tools = [] if last else [offer.tool for offer in self.toolbox.offered.values()]
        reply = self._ask(Request((), tools=tools))
        if not reply.tool_calls or last:
            return True
        self._exchange.append(ChatMessage("assistant", reply.text, tool_calls=reply.tool_calls))
        for call in reply.tool_calls:
            self._exchange.append(ChatMessage("tool", self.toolbox.run(call), answers=call.id))
        return False

    def _ask_for_action(self, *, last: bool) -> bool:
        """One question for a JSON object; whether that was the narration."""
        reply = self._ask(Request((), schema=_action_schema(self.toolbox.offered, last=last), schema_name="turn"))
        action: dict[str, Any] = json.loads(reply.text)
        if action["action"] == _NARRATE:
            text = str(action.get("text", ""))
            self._texts.append(text)
            if self.on_text and text:
                self.on_text(text)
            return True
        name = _actions(self.toolbox.offered)[action["action"]].tool.name
        result = self.toolbox.run(ToolCall("", name, json.dumps(action.get("arguments", {}), ensure_ascii=False)))
        self._exchange.append(ChatMessage("assistant", reply.text))
        # One line, so that it cannot be taken for anybody's words.
        self._exchange.append(ChatMessage("user", f'{{"tool": {escaped(name)}, "result": {result}}}'))
        return False

    def _ask(self, request: Request) -> Reply:
        try:
            return self._ask_once(request)
        except ContextOverflow:
            if self._shrunk:
                raise
            self._shrunk = True
            self.toolbox.prompt = self.shrink()
            return self._ask_once(request)

    def _ask_once(self, request: Request) -> Reply:
        turn = self.turn
        turn.check()
        ensure_outside_write(f"a call of the model {turn.slot_name}")
        messages = [*self._messages(), *self._exchange]
        request = replace(request, messages=messages, reply=turn.preset.reply, sampling=turn.preset.sampling)
        bodies = [{"role": message.role, "content": message.content} for message in messages]
        turn.report("model.called", bodies, slot=turn.slot_name, messages=len(messages))
        try:
            reply = self._structured(request) if self.by_schema else self._streamed(request)
        except ModelError as fault:
            turn.report("model.failed", slot=turn.slot_name, reason=str(fault))
            raise
        self._count(reply)
        return reply

    def _messages(self) -> tuple[ChatMessage, ...]:
        messages = self.toolbox.prompt.messages
        if not self.by_schema:
            return messages
        said = describe_actions(self.turn, self.toolbox.offered)
        if messages and messages[0].role == "system":
            return (ChatMessage("system", f"{messages[0].content}{_APART}{said}"), *messages[1:])
        return (ChatMessage("system", said), *messages)

    def _structured(self, request: Request) -> Reply:
        """A reply whose text is one object of the schema; a second try where it is not, then `BadReply`."""
        cancel = self.turn.cancel
        found = ask_structured(self.model, request, request.schema or {}, name="turn", bounded=False, cancel=cancel)
        return replace(found.reply, text=json.dumps(found.value, ensure_ascii=False), usage=found.usage)

    def _streamed(self, request: Request) -> Reply:
        begun = False
        with self.model.stream(request, cancel=self.turn.cancel) as pieces:
            for piece in pieces:
                if self.on_text and piece:
                    self.on_text(piece if begun or not self._texts else _APART + piece)
                    begun = True
            reply = pieces.reply
        if reply.text.strip():
            self._texts.append(reply.text)
        return reply

    def _count(self, reply: Reply) -> None:
        self._cut_off = reply.finish == "length"
        turn, usage = self.turn, reply.usage
        # A slot may name no model; then the endpoint chooses, and says which.
        model = reply.model or (turn.slot.model if turn.slot else "")
        prompt, completion = (usage.prompt, usage.completion) if usage else (None, None)
        use = ModelUse(turn.slot_name, model, prompt, completion, turn.number)
        self.used.append(with_cost(use, turn.slot))
        turn.report(
            "model.answered",
            reply.text,
            slot=turn.slot_name,
            model=model,
            finish=reply.finish,
            attempts=reply.attempts,
            prompt=prompt,
            completion=completion,
            calls=len(reply.tool_calls),
        )


def describe_actions(turn: TurnContext, offered: Mapping[str, Offer]) -> str:
    """The instructions in the session's language: how to answer, and a line for each tool."""
    tools = [
        f"- {name}: {offer.tool.description} {json.dumps(offer.tool.parameters, ensure_ascii=False, default=dict)}"
        for name, offer in _actions(offered).items()
    ]
    return "\n".join([wording(turn.session.locale).actions, *tools])


def _action_schema(offered: Mapping[str, Offer], *, last: bool) -> dict[str, Any]:
    names = [_NARRATE] if last else [_NARRATE, *_actions(offered)]
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


def _actions(offered: Mapping[str, Offer]) -> dict[str, Offer]:
    """Tools by action. `search` and `narrate` are the kernel's: a plugin's tool so called goes by `plugin/tool`."""
    return {_action_name(offer): offer for offer in offered.values()}


def _action_name(offer: Offer) -> str:
    if offer.plugin is None:
        return _SEARCH
    name = offer.tool.name
    return f"{offer.plugin.id}/{name}" if name in {_NARRATE, _SEARCH} else name


def _refuses_tools(fault: BadReply) -> bool:
    """Whether an endpoint says that its model cannot be offered tools, as Ollama and vLLM do."""
    return fault.data.get("status") in _REFUSED and "tool" in fault.what.lower()
