"""The segments that need no recall: `cards`, `story-summary` and `blocks`."""

from __future__ import annotations

from collections.abc import Sequence

from talekeeper.api import Considered, Line, PluginContext, Recalled, TurnView

from talekeeper_memory.blocks import PROFILE, Block, in_prompt, with_player
from talekeeper_memory.cards import Card, cards, name_in, player_line
from talekeeper_memory.extraction import current_blocks
from talekeeper_memory.prompts import player_labels, prompts_for
from talekeeper_memory.summary import newest

_CONFIRMED = "what the session itself knows of the player"
_CALLED = {"player": "the player's message of turn", "narrator": "the narration of turn"}


def cards_segment(ctx: PluginContext, turn: TurnView) -> Recalled:
    """Constant cards, and those whose keys the latest messages hold, each with the word and where it stands."""
    recent = _recent(ctx, turn)
    called = [(card, why) for card in cards(ctx) if (why := _called_by(card, recent))]
    return Recalled(
        tuple(Line(f"{card.name}: {card.body}", card.key, None, "stated", "cards") for card, _ in called),
        tuple(Considered(card.key, "cards", because=why) for card, why in called),
    )


def summary_segment(ctx: PluginContext, turn: TurnView) -> Sequence[Line]:
    """The running summary, once the history in the prompt no longer begins where the summary does."""
    record = newest(ctx)
    if record is None or record.value.get("turn_from", 0) >= turn.history_from:
        return ()
    value = record.value
    authority = value.get("authority", "story")
    return (Line(str(value["text"]), record.key, value.get("turn"), authority, "summaries"),)


def blocks_segment(ctx: PluginContext, turn: TurnView) -> Recalled:
    """Every block that has a text, the profile under its confirmed line."""
    settings = ctx.settings
    line = player_line(ctx.session.player, prompts_for(turn.locale).word("player_label"))
    shown = [_with_line(block, line) for block in current_blocks(ctx).known.values()]
    fitting = in_prompt(shown, settings["blocks_in_prompt"], settings["block_characters"])
    because = {PROFILE: _CONFIRMED} if line else {}
    return Recalled(
        tuple(Line(f"{block.label}: {block.text}", block.label, block.turn, "story", "blocks") for block in fitting),
        tuple(Considered(block.label, "blocks", because=because.get(block.label, "")) for block in fitting),
    )


def _with_line(block: Block, line: str) -> Block:
    if block.label != PROFILE:
        return block
    return Block(block.label, block.about, block.limit, with_player(block.text, line, player_labels()), block.turn)


def _recent(ctx: PluginContext, turn: TurnView) -> list[tuple[str, str]]:
    """The latest messages, newest first: what each is called, and its text."""
    own = turn.player_message
    latest = [one for one in ctx.history.messages(last=ctx.settings["cards_look_back"]) if not own or one.id != own.id]
    told = [(f"{_CALLED.get(one.role, 'a message of turn')} {one.turn}", one.text) for one in reversed(latest)]
    return [("the player's message", own.text), *told] if own else told


def _called_by(card: Card, recent: Sequence[tuple[str, str]]) -> str:
    """The word that calls the card up and where it stands; empty when none does."""
    if card.constant:
        return "always shown"
    first = _first(card.keys or (card.name,), recent)
    second = _first(card.secondary, recent) if first and card.secondary else ""
    if card.secondary:
        return second and f"{first}, {second}"
    return first


def _first(words: Sequence[str], recent: Sequence[tuple[str, str]]) -> str:
    for place, text in recent:
        if word := name_in(text, words):
            return f"{word!r} in {place}"
    return ""
