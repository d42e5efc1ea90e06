"""Strict JSON and texts that can be stored: what passes `read_json` or `check_text`, every database keeps alike.

Files that come with a plugin, values typed on a command line and documents of the store are read by `read_json`, files
that other programs wrote by `read_foreign_json`, answers of models by `scan_json`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, NoReturn, TypeGuard

from talekeeper.errors import ParameterError
from talekeeper.text.printing import quoted

JSON_DEPTH_LIMIT = 64
EXACT_INTEGER = 2**53 - 1
"""JSON readers that keep numbers as doubles carry whole numbers up to this one exactly (RFC 8259, section 6)."""

_LONGEST_INTEGER = 20  # digits of 64 bits: other programs number their messages so
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_STRING_OR_BRACKET = r'"(?:[^"\\]|\\.)*"?|[\[\]{}]'
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
    """Why a text is refused, as a sentence goes on after its name: `is not JSON: …`, `has NaN, …`.

    `syntax` is the decoder's error where the text breaks JSON's grammar, and `place` is then `:line:column`.
    """

    def __init__(self, reason: str, syntax: json.JSONDecodeError | None = None) -> None:
        super().__init__(reason)
        self.syntax = syntax
        self.place = f":{syntax.lineno}:{syntax.colno}" if syntax else ""

    @property
    def with_place(self) -> str:
        """The reason, with line and column where they are known."""
        return f"{self}, at line {self.syntax.lineno}, column {self.syntax.colno}" if self.syntax else str(self)


def is_table(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a parsed value is an object of JSON or a table of TOML, whose keys are always texts."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Whether a parsed value is an array."""
    return isinstance(value, list)


def read_json(source: bytes | str, *, depth_limit: int | None = None) -> Any:
    """The value of a document. Raises NotJson, also for JSON that could not be stored.

    That is: a key given twice, NaN and numbers beyond those of doubles, whole numbers beyond ±(2^53 - 1), NUL and half
    surrogate pairs. Without a `depth_limit` the caller limits nesting, with `json_depth`.
    """
    text = _decoded(source) if isinstance(source, bytes) else source
    value = _read(text, _exact, depth_limit)
    if "\\u" in text or isinstance(source, str):
        _refuse_unstorable(value)
    return value


def read_foreign_json(text: str, *, long_integers: bool = False) -> Any:
    """The value of a document that may hold what the store does not take: 64-bit integers, NUL, half surrogate pairs.

    Integers of more than 20 digits are refused, or with `long_integers` read as the text of their digits. NaN, a key
    given twice and nesting deeper than 64 are refused as in `read_json`.
    """
    return _read(text, _integer_or_digits if long_integers else _integer, JSON_DEPTH_LIMIT)


def scan_json(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `start`, and where it ends; what stands behind it is not read.

    Lenient as readers of model answers must be: of a key given twice the last counts. Raises NotJson, whose text does
    not begin with a verb, for broken syntax, NaN, nesting deeper than 64, and integers too long for Python.
    """
    try:
        value, end = json.JSONDecoder(parse_constant=_no_json).raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} at character {error.pos + 1}", error) from None
    except RecursionError:
        raise NotJson("it is nested too deep") from None
    except NotJson:
        raise
    except ValueError as error:
        raise NotJson(str(error).partition(";")[0]) from None
    if json_depth(value) > JSON_DEPTH_LIMIT:
        raise NotJson("it is nested too deep")
    return value, end


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


def check_text(value: str, field: str) -> str:
    """Gives `value` back, or raises `ParameterError` naming `field` where it holds NUL or half a surrogate pair.

    No database stores the two alike: SQLite would end some reads at a NUL, PostgreSQL refuses it, and neither takes a
    string that is not UTF-8.
    """
    if found := _UNSTORABLE.search(value):
        what = "a NUL character" if found[0] == "\0" else f"half a surrogate pair, U+{ord(found[0]):04X},"
        raise ParameterError(field, f"holds {what} at character {found.start() + 1}", cure="remove it and send again")
    return value


def digest(text: str) -> int:
    """64 bits of BLAKE2b as a signed integer, the same in every process; takes any string."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def _decoded(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise NotJson("is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise NotJson("begins with a byte order mark; save it as UTF-8 without one")
    return text


def _read(text: str, integer: Callable[[str], Any], depth_limit: int | None) -> Any:
    if depth_limit is not None and _is_deeper(text, depth_limit):
        raise NotJson(f"is nested more than {depth_limit} levels deep")
    try:
        return json.loads(
            text, object_pairs_hook=_unique, parse_constant=_constant, parse_int=integer, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        said = next((words for start, words in _SYNTAX if error.msg.startswith(start)), "the JSON ends or goes wrong")
        raise NotJson(f"is not JSON: {said}", error) from None
    except RecursionError:
        raise NotJson("is nested too deeply") from None


def _is_deeper(text: str, limit: int) -> bool:
    """Counts brackets outside strings, before any parser recurses over them."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    for found in re.finditer(_STRING_OR_BRACKET, text, re.DOTALL):
        if found[0] in "[{":
            depth += 1
            if depth > limit:
                return True
        elif found[0] in "]}":
            depth -= 1
    return False


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


def _no_json(name: str) -> NoReturn:
    raise NotJson(f"{name} is no JSON")


def _exact(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER or abs(int(digits)) > EXACT_INTEGER:
        raise NotJson(f"has a whole number beyond ±{EXACT_INTEGER:,}; write it as text")
    return int(digits)


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER:
        raise NotJson(f"has a whole number of {len(digits):,} digits")
    return int(digits)


def _integer_or_digits(digits: str) -> int | str:
    return digits if len(digits) > _LONGEST_INTEGER else int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if abs(value) == float("inf"):
        raise NotJson(f"has the number {digits[:_LONGEST_INTEGER]}, which is larger than computers count")
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
