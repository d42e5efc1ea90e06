"""The tools of a turn as one JSON object to answer with, for endpoints that know no tools.

{"action": "narrate", "text": "The door opens."}
{"action": "search", "arguments": {"query": "Mara's key"}}       memory-search
{"action": "roll-dice", "arguments": {"sides": 6}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from talekeeper.errors import BadReply
from talekeeper.models import Cancel, ChatModel, Reply, Request, ToolCall, ask_structured
from talekeeper.turn.frame import escaped
from talekeeper.turn.tools import Offer
from talekeeper.turn.wording import Wording

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
