"""Character cards → cards: the character itself, then the entries of its book.

V1 has its fields at the top, V2 and V3 under `data` with a `spec`. Greetings, example dialogue and prompts for other
programs are not lore and stay out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from talekeeper_memory.card_import import Skipped, cards_of, entries_of
from talekeeper_memory.card_values import Names, card, table_of, text_of, unique, words

_LABELLED = (("personality", "Personality"), ("scenario", "Scenario"))
_SPECS = ("chara_card_v2", "chara_card_v3")
_MARKS = ("description", "personality", "scenario", "first_mes")


def character_of(data: object) -> Mapping[str, Any] | None:
    """The table with the character's fields, or None when `data` is not a card."""
    fields = table_of(data)
    if fields is not None and fields.get("spec") in _SPECS:
        fields = table_of(fields.get("data")) or fields
    if (
        fields is None
        or not text_of(fields.get("name"))
        or not any(isinstance(fields.get(mark), str) for mark in _MARKS)
    ):
        return None
    return fields


def cards_of_character(data: Mapping[str, Any], player: str, skipped: Skipped) -> Iterator[dict[str, Any]]:
    """The character's own card first, then one for each entry of its book."""
    name = text_of(data["name"])
    nickname = text_of(data.get("nickname"))
    # A card V3 with a nickname means that by {{char}}.
    names = Names(player=player, character=nickname or name)
    taken: set[str] = set()
    body = names.fill(_body(data))
    if body:
        keys = [name, *words(nickname)]
        yield card(unique(name, taken), body, kind="character", keys=list(dict.fromkeys(keys)))
    else:
        skipped(name, "it has no description, personality or scenario")
    book = entries_of(data.get("character_book"))
    yield from cards_of(book or [], names, skipped, taken)


def _body(data: Mapping[str, Any]) -> str:
    parts = [text_of(data.get("description"))]
    parts += [f"{label}: {text}" for field, label in _LABELLED if (text := text_of(data.get(field)))]
    return "\n\n".join(part for part in parts if part)
