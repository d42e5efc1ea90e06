"""What the narrator may do with the memory: read a block, rewrite one, and note a fact the player wants remembered."""

from __future__ import annotations

from collections.abc import Mapping

from talekeeper.api import Json, ParameterError, PluginContext

from talekeeper_memory.authority import authority_of
from talekeeper_memory.blocks import PROFILE, Block, with_player
from talekeeper_memory.cards import player_line
from talekeeper_memory.extraction import block_value, current_blocks
from talekeeper_memory.prompts import player_labels, prompts_for
from talekeeper_memory.truncate import cut_at_sentence, is_blank, one_line


def get_block(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """A block's text; raises `ParameterError` naming the labels there are."""
    block = _known(ctx, str(arguments["label"]))
    text = block.text
    if block.label == PROFILE:
        line = player_line(ctx.session.player, prompts_for(ctx.session.locale).word("player_label"))
        text = with_player(text, line, player_labels())
    return {"label": block.label, "text": text}


def update_block(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """Gives a block a whole new text; raises `ParameterError` for one that is blank or too long."""
    block, text = _known(ctx, str(arguments["label"])), str(arguments["text"]).strip()
    if is_blank(text):
        raise ParameterError("text", "it is blank", cure="give the whole new text of the block")
    if len(text) > block.limit:
        raise ParameterError("text", f"it has {len(text):,} characters, the block takes {block.limit:,}")
    with ctx.data.batch() as batch:
        batch.put("blocks", block.label, block_value(ctx, block.label, text, _turn(ctx)), covers=None)
    return {"label": block.label, "characters": len(text)}


def remember(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """Notes one fact, the same one in the same turn once; as stated by the player only where the player has said it."""
    text = cut_at_sentence(one_line(str(arguments["text"])), ctx.settings["fact_characters"])
    if is_blank(text):
        raise ParameterError("text", "it is blank", cure="say what is to be remembered, in one sentence with names")
    turn = _turn(ctx)
    with ctx.data.batch() as batch:
        authority = "stated" if _is_said(ctx, text) else authority_of(text)
        value = {"text": text, "turn": turn, "authority": authority}
        batch.add("facts", value, dedupe=f"remember {turn} {text}")
    return {"remembered": text}


def _known(ctx: PluginContext, label: str) -> Block:
    known = current_blocks(ctx).known
    if label not in known:
        raise ParameterError("label", f"there is no block {label!r}", cure=f"use one of {', '.join(known)}")
    return known[label]


def _is_said(ctx: PluginContext, text: str) -> bool:
    """Whether the player's typed message of this turn has half of the terms: any text of a prompt may ask for facts."""
    message = ctx.turn.player_message if ctx.turn else None
    if message is None or message.origin != "typed":
        return False
    terms = set(ctx.search.terms(text))
    return len(terms & set(ctx.search.terms(message.text))) * 2 >= max(1, len(terms))


def _turn(ctx: PluginContext) -> int:
    return ctx.turn.number if ctx.turn else 0
