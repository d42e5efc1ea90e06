"""Asks the model until it narrates: tool calls in between are run, and what they gave is shown to it.

An endpoint that cannot be offered tools gets the same offer as a JSON object to answer with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from talekeeper.db import ensure_outside_write
from talekeeper.errors import BadReply, ContextOverflow, ModelError
from talekeeper.models import ChatMessage, ChatModel, Reply, Request, Usage
from talekeeper.plugin_context import priced
from talekeeper.story import ModelUse
from talekeeper.turn import limits
from talekeeper.turn.actions import Actions
from talekeeper.turn.frame import clean
from talekeeper.turn.prompt import Prompt
from talekeeper.turn.turn_context import Scene
from talekeeper.turn.tools import Toolbox

OnText = Callable[[str], None]
_APART = "\n\n"
_REFUSED = frozenset({400, 404, 422, 500, 501})


@dataclass(slots=True)
class ToolLoop:
    """One turn's talk with the model. `shrink` gives a shorter prompt, once the endpoint said that one is too long."""

    scene: Scene
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
        self.used.append(priced(use, self.scene.slot))
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
