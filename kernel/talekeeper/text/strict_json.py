"""JSON of files that come with a plugin, read as strictly as the store writes: what passes here can be kept there."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, NoReturn, TypeGuard

from talekeeper.text.wording import quoted

JSON_DEPTH_LIMIT = 64
EXACT_INTEGER = 2**53 - 1
"""JSON readers that keep numbers as doubles carry whole numbers up to this one exactly (RFC 8259, section 6)."""

_LONGEST_NUMBER = 20
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_SYNTAX = (
    ("Expecting property name", "expected a key in double quotes"),
    ("Expecting value", "expected a value"),
    ("Expecting ',' delimiter", "expected a comma or a closing bracket"),
    ("Expecting ':' delimiter", "expected a colon after the key"),
    ("Illegal trailing comma", "a comma stands before a closing bracket"),
    ("Unterminated string", "the text that begins here has no closing quote"),
    ("Invalid control character", "text has a line break or another control character; write it as an escape"),
    ("Invalid \\", "a backslash here begins no escape that JSON has"),
    ("Extra data", "something follows the end of the value"),
)


class NotJson(ValueError):
    """Why bytes are refused, as a sentence goes on after the file's name; `place` is `:line:column` if there is one."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(reason)
        self.place = place


def is_table(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a parsed value is an object of JSON or a table of TOML, whose keys are always texts."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Whether a parsed value is an array."""
    return isinstance(value, list)


def read_json(raw: bytes) -> Any:
    """The value of a document. Raises NotJson, also for what is JSON and could not be stored.

    That is: a key given twice, NaN and numbers beyond those of doubles, whole numbers beyond ±(2^53 - 1), NUL and half
    surrogate pairs. Nesting is for the caller to limit, with `json_depth`.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise NotJson("is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise NotJson("begins with a byte order mark; save it as UTF-8 without one")
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_constant, parse_int=_whole, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        said = next((words for start, words in _SYNTAX if error.msg.startswith(start)), "the JSON ends or goes wrong")
        raise NotJson(f"is not JSON: {said}", f":{error.lineno}:{error.colno}") from None
    except RecursionError:
        raise NotJson("is nested too deeply") from None
    if "\\u" in text:
        _refuse_unstorable(value)
    return value


def json_depth(value: Any) -> int:
    """How many lists and objects stand within one another."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        here, level = waiting.pop()
        if isinstance(here, (dict, list)):
            deepest = max(deepest, level)
            waiting.extend((item, level + 1) for item in _inside(here))
    return deepest


def json_fault(value: Any) -> str:
    """Why a scalar that TOML has cannot stand in JSON; nothing when it can, or is no scalar."""
    if isinstance(value, float) and not abs(value) < float("inf"):
        return f"{value} is not a number that JSON has"
    if isinstance(value, int) and abs(value) > EXACT_INTEGER:
        return f"a whole number beyond ±{EXACT_INTEGER:,}"
    if isinstance(value, (bool, int, float, str, dict, list)):
        return ""
    return "a date or time; write it as text in quotes"


def _inside(value: Any) -> list[Any]:
    return list(value.values()) if is_table(value) else value if is_array(value) else []


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise NotJson(f"has the key {quoted(twice)} twice in one object")
    return found


def _constant(name: str) -> NoReturn:
    raise NotJson(f"has {name}, which is not JSON")


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER or abs(int(digits)) > EXACT_INTEGER:
        raise NotJson(f"has a whole number beyond ±{EXACT_INTEGER:,}; write it as text")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if abs(value) == float("inf"):
        raise NotJson(f"has the number {digits[:_LONGEST_NUMBER]}, which is larger than computers count")
    return value


def _refuse_unstorable(value: Any) -> None:
    waiting = [value]
    while waiting:
        here = waiting.pop()
        texts = list(here) if is_table(here) else [here] if isinstance(here, str) else []
        found = next(filter(None, map(_UNSTORABLE.search, texts)), None)
        if found:
            what = "a NUL character" if found[0] == "\0" else f"half a surrogate pair, \\u{ord(found[0]):04x}"
            raise NotJson(f"has {what} in a text")
        waiting.extend(_inside(here))
