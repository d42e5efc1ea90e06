"""Values as messages show them: shortened, and with nothing in them that could act on a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_LAST_OF_PLANE_0 = 0xFFFF
_WHOLE_BITS = 64


def quoted(value: object, limit: int = 60) -> str:
    """The value as TOML would write it, or what kind of thing it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and value.bit_length() > _WHOLE_BITS:
        return "a number of more than 64 bits"  # Python refuses to write out the longest
    if not isinstance(value, str):
        return "null" if value is None else visible(str(value))[:limit]
    short = value if len(value) <= limit else value[: limit - 1] + "…"
    return f'"{visible(short)}"'


def counted(number: int, noun: str) -> str:
    """`1 item`, `5,000 items`, `2 properties`."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,.0f} {noun if number == 1 else many}"


def visible(text: str) -> str:
    """The text with control, format and separator characters written as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(it if it == " " or unicodedata.category(it)[0] not in "CZ" else _escaped(it) for it in text)


def spelled(character: str) -> str:
    """A character, with its Unicode name when it is not plain ASCII: `"а" (CYRILLIC SMALL LETTER A)`."""
    if character == " ":
        return "a space"
    if character.isascii() and character.isprintable():
        return f'"{character}"'
    name = unicodedata.name(character, f"U+{ord(character):04X}")
    return f'"{visible(character)}" ({name})'


def listed(items: Sequence[str], last: str = "and") -> str:
    """`a, b and c`."""
    return f" {last} ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def _escaped(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point <= _LAST_OF_PLANE_0 else f"\\U{point:08x}"
