"""Texts of others on a terminal, in a prompt, and as values in a message: nothing in them acts where it is shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

_LAST_OF_PLANE_0 = 0xFFFF
_WHOLE_BITS = 64
_LONGEST_QUOTED = 60
# Controls, direction marks, tags, soft hyphens; and private characters, which each font draws otherwise.
_TERMINAL_HIDDEN = frozenset({"Cc", "Cf", "Co"})
# Signs of numbers and verses that Unicode calls format characters and that are drawn all the same.
_DRAWN = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"

BREAK = "⏎"
"""Stands for a line break in a prompt."""
# Every line break that `str.splitlines` knows.
_BREAKS = "\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]"


def terminal_text(text: str) -> str:
    """`text` without what a terminal would obey or not show; line feeds and tabs stay, half surrogates become U+FFFD.

    The joiners of emoji and of Persian go as well: they are direction marks' neighbours, and terminals differ on them.
    """
    return text if text.isprintable() else text.translate(_terminal)


def terminal_line(text: str) -> str:
    """The same on one line, without blanks around it."""
    return " ".join(terminal_text(text).split())


def prompt_line(text: str) -> str:
    """The text in NFC on one line: line breaks as ⏎, tabs as blanks, everything that cannot be seen left out."""
    flat = re.sub(_BREAKS, BREAK, text).replace("\t", " ")
    if not flat.isascii() or not flat.isprintable():
        flat = unicodedata.normalize("NFC", _unseen().sub("", flat))
    return flat


def quoted(value: object) -> str:
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
        return "null" if value is None else visible(str(value))[:_LONGEST_QUOTED]
    short = value if len(value) <= _LONGEST_QUOTED else value[: _LONGEST_QUOTED - 1] + "…"
    return f'"{visible(short)}"'


def counted(number: int, noun: str) -> str:
    """`1 item`, `5,000 items`, `2 properties`, `3 branches`."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
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


class _Terminal(dict[int, str | None]):
    """Code point → what a terminal is given for it, for `str.translate`."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        hidden = category in _TERMINAL_HIDDEN and character not in _DRAWN
        return None if hidden else "\ufffd" if category == "Cs" else character


_terminal = _Terminal({ord("\n"): "\n", ord("\t"): "\t", 0x2028: "\n", 0x2029: "\n"})


@cache
def _unseen() -> regex.Pattern:
    """Everything that draws nothing: control, format, half surrogates, and letters and marks without a glyph."""
    import regex  # noqa: PLC0415 - English needs none of it

    return regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]")
