"""A card's value, and the placeholders filled in when one is imported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

# Front ends write {{char}} and {{user}} in any case, some with spaces; <BOT> and <USER> are the older spelling.
_CHARACTER = re.compile(r"\{\{\s*char\s*\}\}|<bot>", re.IGNORECASE)
_PLAYER = re.compile(r"\{\{\s*user\s*\}\}|<user>", re.IGNORECASE)

NAME_LIMIT = 200


class Names:
    """Who `{{user}}` and `{{char}}` stand for in one import; an unknown one stays as it is written."""

    def __init__(self, *, player: str = "", character: str = "") -> None:
        self._player = player
        self._character = character

    def fill(self, text: str) -> str:
        """The text with the names it can be given."""
        if self._character:
            text = _CHARACTER.sub(lambda _match: self._character, text)
        if self._player:
            text = _PLAYER.sub(lambda _match: self._player, text)
        return text


def words(value: object) -> list[str]:
    """Trigger words in their order, once each: from a list, or from one string with commas as older files have it."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return []
    found = (item.strip() for item in cast("list[object]", value) if isinstance(item, str))
    return list(dict.fromkeys(item for item in found if item))


def table_of(value: object) -> Mapping[str, Any] | None:
    """A JSON object as it is; None for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def text_of(value: object) -> str:
    """A string without outer white space; anything else is empty."""
    return value.strip() if isinstance(value, str) else ""


def whole(value: object, default: int) -> int:
    """An integer from a number or a numeric string, kept within what the store can hold."""
    try:
        number = int(float(value)) if isinstance(value, (int, float, str)) else default
    except (ValueError, OverflowError):
        return default
    return number if abs(number) < 2**53 else default


def unique(name: str, taken: set[str]) -> str:
    """The name cut to its limit, with a number behind it when another card of the same file has it already."""
    base = name[:NAME_LIMIT].strip()
    candidate, number = base, 2
    while candidate in taken:
        tail = f" ({number})"
        candidate, number = base[: NAME_LIMIT - len(tail)] + tail, number + 1
    taken.add(candidate)
    return candidate


def card(name: str, body: str, **more: Any) -> dict[str, Any]:
    """A record value for `cards`; fields that are empty or at their default are left out."""
    value: dict[str, Any] = {"name": name, "body": body}
    defaults: dict[str, Any] = {
        "kind": "lore",
        "keys": [],
        "secondary_keys": [],
        "constant": False,
        "enabled": True,
        "order": 100,
    }
    value.update({field: item for field, item in more.items() if item != defaults[field]})
    return value
