"""Who the story knows by name: the characters of the cards, and the player."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from talekeeper.api import Json, PluginContext, Record

from talekeeper_memory.pages import every


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


def cards(ctx: PluginContext) -> list[Card]:
    """The enabled cards in the order of the prompt."""
    found = [card_of(record) for record in every(ctx.data["cards"]) if record.value.get("enabled", True)]
    return sorted(found, key=lambda card: (card.order, card.name, card.key))


def card_of(record: Record) -> Card:
    """A record of the namespace `cards`, its defaults filled in."""
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


def player_name(ctx: PluginContext) -> str:
    """How the player's character is called; empty when nobody has said."""
    name = ctx.session.player.get("name", "")
    return name.strip() if isinstance(name, str) else ""


def player_line(player: Mapping[str, Json], label: str) -> str:
    """The confirmed data about the player in one line behind a label; empty when there are none."""
    in_order = sorted(player.items(), key=lambda item: item[0] != "name")
    said = [f"{key}: {_plain(value)}" for key, value in in_order if _plain(value)]
    return f"{label} {'; '.join(said)}" if said else ""


def name_terms(found: Iterable[Card], player: str, terms: Callable[[str], Sequence[str]]) -> frozenset[str]:
    """The terms of the names and aliases of characters, without those of the player's own name."""
    own = set(terms(player))
    named = {
        term
        for card in found
        if card.kind == "character" and not (player and player in card.names)
        for name in card.names
        for term in terms(name)
    }
    return frozenset(named - own)


def is_named(text: str, names: Iterable[str]) -> bool:
    """Whether one of the names stands in the text: as a word of its own, in scripts without spaces anywhere."""
    return bool(name_in(text, names))


def name_in(text: str, names: Iterable[str]) -> str:
    """The first of the names that stands in the text, as `is_named` takes it; empty when none does."""
    folded = text.casefold()
    return next((name for name in names if name.strip() and _stands(folded, name.casefold())), "")


def _stands(text: str, name: str) -> bool:
    if name not in text:
        return False
    before = r"(?<!\w)" if name[0].isalnum() and name[0] < "\u3040" else ""
    after = r"(?!\w)" if name[-1].isalnum() and name[-1] < "\u3040" else ""
    return re.search(f"{before}{re.escape(name)}{after}", text) is not None


def _plain(value: Json) -> str:
    """A value as people read it; empty for what says nothing."""
    if value is None or value is False:
        return ""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(item) for item in cast("Iterable[Json]", value))
    return "yes" if value is True else str(value) if isinstance(value, (int, float)) else ""
