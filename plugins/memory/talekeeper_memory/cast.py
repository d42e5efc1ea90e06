"""Who and where: the few fixed descriptions a memory is written with. Nothing in them was made by a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from talekeeper.api import MessageView, PluginContext

from talekeeper_memory.cards import Card, cards, is_named, player_line, player_name
from talekeeper_memory.prompts import prompts_for
from talekeeper_memory.truncate import cut_at_sentence, first_tokens, one_line


def cast_brief(ctx: PluginContext, messages: Sequence[MessageView]) -> list[str]:
    """The protagonist, then the cards the whole block names, then other characters; lines of a bounded length."""
    text = "\n".join(f"{message.speaker}\n{message.text}" for message in messages)
    found = cards(ctx)
    named = [card for card in found if card.kind == "character" and is_named(text, card.names)]
    others = [card for card in found if card.kind == "character" and card not in named]
    player = player_name(ctx)
    own = [card for card in [*named, *others] if player and player in card.names]
    lines = [*_protagonist(ctx, own), *(_line(card) for card in [*named, *others] if card not in own)]
    length = ctx.settings["cast_characters"]
    return [cut_at_sentence(line, length) for line in lines[: ctx.settings["cast_lines"]]]


def setting_brief(ctx: PluginContext, messages: Sequence[MessageView]) -> str:
    """What is always so in this world, then the places and the lore the block names."""
    text = "\n".join(message.text for message in messages)
    found = [card for card in cards(ctx) if card.kind != "character"]
    always = [card for card in found if card.constant]
    named = [card for card in found if not card.constant and is_named(text, card.names)]
    return first_tokens("\n".join(_line(card) for card in [*always, *named]), ctx.settings["setting_tokens"])


def _protagonist(ctx: PluginContext, own: Sequence[Card]) -> Iterator[str]:
    label = prompts_for(ctx.session.locale).word("player_label")
    line = player_line(ctx.session.player, label)
    described = one_line(" ".join(card.body for card in own))
    if line or described:
        yield " — ".join(part for part in (line, described) if part)


def _line(card: Card) -> str:
    return f"{card.name}: {one_line(card.body)}"
