"""The two short texts that memories are looked for with: what the player does, and the scene it is done in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from talekeeper.api import MessageView, PluginContext, TurnView

from talekeeper_memory.cards import Card, is_named
from talekeeper_memory.truncate import first_tokens, last_tokens, one_line

_LOOK_BACK = 12  # messages to find the newest narration in


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """`action` is empty in a turn that goes on by itself, `scene` before the story has begun."""

    action: str
    scene: str


def recall_query(ctx: PluginContext, turn: TurnView, known: Sequence[Card]) -> RecallQuery:
    """Both texts, each within its part of the tokens; `known` are the enabled cards."""
    settings = ctx.settings
    message = turn.player_message
    action = first_tokens(one_line(message.text), settings["action_tokens"]) if message else ""
    narration = _newest_narration(ctx, turn)
    end = last_tokens(one_line(narration.text), settings["narration_tokens"]) if narration else ""
    here = first_tokens(_here(ctx, end, known), settings["scene_tokens"])
    return RecallQuery(action, "\n".join(part for part in (here, end) if part))


def _here(ctx: PluginContext, narration: str, known: Sequence[Card]) -> str:
    """The places and the people of the scene by name, then what its block says."""
    block = ctx.data["blocks"].get("scene")
    scene = one_line(str(block.value["text"])) if block else ""
    present = [card for card in known if is_named(f"{scene}\n{narration}", card.names)]
    places = [card.name for card in present if card.kind == "place"]
    people = [card.name for card in present if card.kind == "character"][: ctx.settings["scene_people"]]
    return "; ".join(part for part in (", ".join([*places, *people]), scene) if part)


def _newest_narration(ctx: PluginContext, turn: TurnView) -> MessageView | None:
    recent: Sequence[MessageView] = ctx.history.messages(last=_LOOK_BACK)
    told = [message for message in recent if message.role == "narrator" and message.turn < turn.number]
    return told[-1] if told else None
