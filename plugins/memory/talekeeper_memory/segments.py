"""The segments that need no recall: `cards`, `story-summary` and `blocks`."""

from __future__ import annotations

from collections.abc import Sequence

from talekeeper.api import Line, PluginContext, TurnView

from talekeeper_memory.blocks import PROFILE, Block, in_prompt, with_player
from talekeeper_memory.extraction import current_blocks
from talekeeper_memory.people import Card, cards, is_named, player_line
from talekeeper_memory.prompts import player_labels, prompts_for
from talekeeper_memory.summary import newest


def cards_segment(ctx: PluginContext, turn: TurnView) -> Sequence[Line]:
    """Constant cards, and those whose keys the latest messages hold."""
    text = _recent(ctx, turn)
    called = [card for card in cards(ctx) if card.constant or _is_called(card, text)]
    return [Line(f"{card.name}: {card.body}", id=card.key, source="cards", authority="stated") for card in called]


def summary_segment(ctx: PluginContext, turn: TurnView) -> Sequence[Line]:
    """The running summary, once the history in the prompt no longer begins where the summary does."""
    record = newest(ctx)
    if record is None or record.value.get("turn_from", 0) >= turn.history_from:
        return ()
    value = record.value
    authority = value.get("authority", "story")
    return (Line(str(value["text"]), record.key, value.get("turn"), authority, "summaries"),)


def blocks_segment(ctx: PluginContext, turn: TurnView) -> Sequence[Line]:
    """Every block that has a text, the profile under its confirmed line."""
    settings = ctx.settings
    line = player_line(ctx.session.player, prompts_for(turn.locale).word("player_label"))
    shown = [_with_line(block, line) for block in current_blocks(ctx).known.values()]
    fitting = in_prompt(shown, settings["blocks_in_prompt"], settings["block_characters"])
    return [Line(f"{block.label}: {block.text}", block.label, block.turn, "story", "blocks") for block in fitting]


def _with_line(block: Block, line: str) -> Block:
    if block.label != PROFILE:
        return block
    return Block(block.label, block.about, block.limit, with_player(block.text, line, player_labels()), block.turn)


def _recent(ctx: PluginContext, turn: TurnView) -> str:
    messages = ctx.history.messages(last=ctx.settings["cards_look_back"])
    texts = [message.text for message in messages]
    own = turn.player_message
    if own is not None and all(message.id != own.id for message in messages):
        texts.append(own.text)
    return "\n".join(texts)


def _is_called(card: Card, text: str) -> bool:
    if not is_named(text, card.keys or (card.name,)):
        return False
    return not card.secondary or is_named(text, card.secondary)
