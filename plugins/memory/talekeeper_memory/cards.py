"""Cards and the player: what the story knows by name, the segment `cards`, and the cast for the writer of a memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from talekeeper.api import Considered, Json, Line, MessageView, PluginContext, Recalled, Record, TurnView

from talekeeper_memory.prompts import prompts_for
from talekeeper_memory.truncate import cut_at_sentence, first_tokens, one_line
from talekeeper_memory.visibility import every

_PLACES = {"player": "the player's message of turn", "narrator": "the narration of turn"}


@dataclass(frozen=True, slots=True)
class Card:
    """A card as the code reads it; `names` are its name and the words that call it up."""

    key: str
    name: str
    kind: str
    keys: tuple[str, ...]
    secondary: tuple[str, ...]
    constant: bool
    order: int
    body: str

    @property
    def names(self) -> tuple[str, ...]:
        """The name and its aliases, each once."""
        return tuple(dict.fromkeys((self.name, *self.keys)))

    @property
    def line(self) -> str:
        """The card in one line."""
        return f"{self.name}: {one_line(self.body)}"


def enabled_cards(ctx: PluginContext) -> list[Card]:
    """The enabled cards in the order of the prompt."""
    found = [_card(record) for record in every(ctx.data["cards"]) if record.value.get("enabled", True)]
    return sorted(found, key=lambda card: (card.order, card.name, card.key))


def _card(record: Record) -> Card:
    value = record.value
    return Card(
        key=record.key,
        name=str(value["name"]),
        kind=str(value.get("kind", "lore")),
        keys=tuple(map(str, value.get("keys", ()))),
        secondary=tuple(map(str, value.get("secondary_keys", ()))),
        constant=bool(value.get("constant", False)),
        order=int(value.get("order", 100)),
        body=str(value["body"]),
    )


def cards_segment(ctx: PluginContext, turn: TurnView) -> Recalled:
    """Constant cards, and those whose keys the latest messages hold, each with the word and its message."""
    recent = _recent(ctx, turn)
    called = [(card, why) for card in enabled_cards(ctx) if (why := _called_by(card, recent))]
    return Recalled(
        tuple(Line(f"{card.name}: {card.body}", card.key, None, "stated", "cards") for card, _ in called),
        tuple(Considered(card.key, "cards", because=why) for card, why in called),
    )


def _recent(ctx: PluginContext, turn: TurnView) -> list[tuple[str, str]]:
    """The latest messages, newest first: what each is called, and its text."""
    own = turn.player_message
    latest = [one for one in ctx.history.messages(last=ctx.settings["cards_look_back"]) if not own or one.id != own.id]
    named = [(f"{_PLACES.get(one.role, 'a message of turn')} {one.turn}", one.text) for one in reversed(latest)]
    return [("the player's message", own.text), *named] if own else named


def _called_by(card: Card, recent: Sequence[tuple[str, str]]) -> str:
    """The word that calls the card up and its message; empty when none does."""
    if card.constant:
        return "always shown"
    first = _first(card.keys or (card.name,), recent)
    if not first or not card.secondary:
        return first
    second = _first(card.secondary, recent)
    return second and f"{first}, {second}"


def _first(words: Sequence[str], recent: Sequence[tuple[str, str]]) -> str:
    for place, text in recent:
        if word := name_in(text, words):
            return f"{word!r} in {place}"
    return ""


def cast_brief(ctx: PluginContext, messages: Sequence[MessageView]) -> list[str]:
    """The protagonist, then the cards the whole block names, then other characters; lines of a bounded length.

    All descriptions are fixed ones: a model wrote none of them.
    """
    text = "\n".join(f"{message.speaker}\n{message.text}" for message in messages)
    characters = [card for card in enabled_cards(ctx) if card.kind == "character"]
    named = [card for card in characters if name_in(text, card.names)]
    ordered = [*named, *(card for card in characters if card not in named)]
    player = player_name(ctx)
    own = [card for card in ordered if player and player in card.names]
    protagonist = (confirmed_line(ctx), one_line(" ".join(card.body for card in own)))
    lines = [" — ".join(filter(None, protagonist)), *(card.line for card in ordered if card not in own)]
    length = ctx.settings["cast_characters"]
    return [cut_at_sentence(line, length) for line in list(filter(None, lines))[: ctx.settings["cast_lines"]]]


def setting_brief(ctx: PluginContext, messages: Sequence[MessageView]) -> str:
    """Constant cards of this world, then the places and the lore the block names."""
    text = "\n".join(message.text for message in messages)
    found = [card for card in enabled_cards(ctx) if card.kind != "character"]
    always = [card for card in found if card.constant]
    named = [card for card in found if not card.constant and name_in(text, card.names)]
    return first_tokens("\n".join(card.line for card in [*always, *named]), ctx.settings["setting_tokens"])


def player_name(ctx: PluginContext) -> str:
    """The name of the player's character; empty when the session has none."""
    name = ctx.session.player.get("name", "")
    return name.strip() if isinstance(name, str) else ""


def confirmed_line(ctx: PluginContext, locale: str | None = None) -> str:
    """The session's own data about the player in one line behind a label; empty when there are none."""
    in_order = sorted(ctx.session.player.items(), key=lambda item: item[0] != "name")
    said = [f"{key}: {_plain(value)}" for key, value in in_order if _plain(value)]
    label = prompts_for(ctx.session.locale if locale is None else locale).texts["player_label"]
    return f"{label} {'; '.join(said)}" if said else ""


def _plain(value: Json) -> str:
    """A value as people read it; empty for what says nothing."""
    if value is None or value is False:
        return ""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(item) for item in cast("Iterable[Json]", value))
    return "yes" if value is True else str(value) if isinstance(value, (int, float)) else ""


def known_names(ctx: PluginContext, cards: Iterable[Card]) -> frozenset[str]:
    """Names of the cards' characters, the speakers and the player, to tell texts apart by in any script."""
    found = {name for card in cards if card.kind == "character" for name in card.names}
    return frozenset(name for name in {*found, *ctx.history.speakers(), player_name(ctx)} if name.strip())


def name_terms(cards: Iterable[Card], player: str, terms: Callable[[str], Sequence[str]]) -> frozenset[str]:
    """The terms of the names and aliases of characters, without those of the player's own name."""
    named = {
        term
        for card in cards
        if card.kind == "character" and not (player and player in card.names)
        for name in card.names
        for term in terms(name)
    }
    return frozenset(named - set(terms(player)))


def name_in(text: str, names: Iterable[str]) -> str:
    """The first of the names that the text has, as a word of its own, in scripts without spaces anywhere; or empty."""
    folded = text.casefold()
    return next((name for name in names if name.strip() and _is_word(folded, name.casefold())), "")


def _is_word(text: str, name: str) -> bool:
    if name not in text:
        return False
    before = r"(?<!\w)" if name[0].isalnum() and name[0] < "\u3040" else ""
    after = r"(?!\w)" if name[-1].isalnum() and name[-1] < "\u3040" else ""
    return re.search(f"{before}{re.escape(name)}{after}", text) is not None
