"""What may stand in a column of an archive: each kind says what a value must be, or nothing when it is that.

The bounds are those of the store: coordinates, turns and revisions fit the four bytes the index has for them, and no
integer is larger than every reader of JSON keeps exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from talekeeper.db import MAX_INTEGER, loads
from talekeeper.errors import ParameterError
from talekeeper.exchange.lines import is_text_list
from talekeeper.story import check_name
from talekeeper.text import is_table

MAX_PLACE = 2**31 - 1

Kind = Callable[[object], str]
"""Gives what a value must be, as in "must be text"; empty when it is."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: its name, and what it may hold."""

    name: str
    kind: Kind


def text(value: object) -> str:
    """Any text."""
    return "" if isinstance(value, str) else "must be text"


def name(value: object) -> str:
    """What may name a session or a record."""
    try:
        return text(value) or (check_name(str(value), "name") and "")
    except ParameterError as fault:
        return f"must be a name: {fault.what}"


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def time(value: object) -> str:
    """A moment as `clock.iso` writes it."""
    if isinstance(value, str) and _TIME.fullmatch(value):
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return "must be a time that there is"
        return ""
    return "must be a time, such as 2024-03-05T12:00:00.000Z"


def number(low: int, high: int = MAX_PLACE) -> Kind:
    """A whole number in an inclusive range."""

    def fits(value: object) -> str:
        inside = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return "" if inside else f"must be a whole number from {low} to {high}"

    return fits


def one_of(*choices: str) -> Kind:
    """One of the texts listed."""
    return lambda value: "" if isinstance(value, str) and value in choices else f"must be one of {', '.join(choices)}"


def or_null(kind: Kind) -> Kind:
    """The kind, or null."""
    return lambda value: "" if value is None else (wanted := kind(value)) and f"{wanted}, or null"


def _document(wanted: str, fits: Callable[[Any], bool]) -> Kind:
    def check(value: object) -> str:
        try:
            return "" if isinstance(value, str) and fits(loads(value, "document")) else f"must be {wanted}, as text"
        except ParameterError as fault:
            return f"must be {wanted}, as text: {fault.what}"

    return check


def _is_search_table(value: object) -> bool:
    """What `story.declared` writes: `text` is the list of properties, `tags` and the others name one or none."""
    if not is_table(value) or value.keys() != {"text", "title", "speaker", "time", "tags", "when"}:
        return False
    texts = value.pop("text")
    return is_text_list(texts) and bool(texts) and all(isinstance(one, str | None) for one in value.values())


place = number(-1)
count = number(0)
large = number(0, MAX_INTEGER)
flag = number(0, 1)
json_any = _document("JSON", lambda _: True)
json_object = _document("a JSON object", is_table)
json_object_or_null = _document("a JSON object or null", lambda value: value is None or is_table(value))
json_names = _document("a JSON list of texts", is_text_list)
_search_table = _document("a search table", _is_search_table)


def search_table(value: object) -> str:
    """How a namespace is indexed; empty where it is not."""
    return "" if value == "" else _search_table(value)
