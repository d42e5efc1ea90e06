"""Documents as the store keeps them: JSON in one form, so that equal values are equal bytes on every engine.

Keys are sorted, nothing is padded, characters stand as they are. Refused, with the place named: NaN and infinities,
integers that a double cannot hold exactly, a key given twice, NUL and lone surrogates, nesting deeper than 64.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

from talekeeper.db.faults import undecodable
from talekeeper.errors import ParameterError
from talekeeper.text import check_text

MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1  # the largest an IEEE double, and so every JSON reader, keeps exact (RFC 8259, section 6)
_LONGEST_INTEGER = 20  # what 64 bits need: other programs number their messages so
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)


def dumps(value: object, field: str) -> str:
    """The canonical text of plain JSON data; raises `ParameterError` naming `field` and the place inside it."""
    plain = _plain(value, field, 0)
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def loads(text: str, field: str) -> Any:
    """Reads a document from outside, as strictly as `dumps` writes; raises `ParameterError` naming `field`."""
    try:
        return _plain(parse(text), field, 0)
    except NotJson as fault:
        raise ParameterError(field, str(fault)) from fault


def stored(text: str) -> Any:
    """Reads a document that `dumps` made and a table kept; one that changed on the disk is reported as damage."""
    try:
        return json.loads(text)
    except (TypeError, ValueError) as error:
        raise undecodable() from error


class NotJson(ValueError):
    """Why `parse` refuses a text; a fault of syntax has the decoder's error as its cause."""


def parse(text: str, *, long_integers: bool = False) -> Any:
    """Reads JSON that may hold what no document here may, such as 64-bit numbers; raises `NotJson`.

    Refused are NaN and infinities, a key given twice, nesting deeper than 64 and integers of more than 64 bits' digits;
    with `long_integers` those are read as the text of their digits.
    """
    if _too_deep(text):
        raise NotJson(f"the JSON is nested deeper than {MAX_DEPTH}")
    try:
        return json.loads(
            text,
            parse_int=_integer_or_digits if long_integers else _integer,
            parse_float=_finite,
            parse_constant=_constant,
            object_pairs_hook=_unique,
        )
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER:
        raise NotJson(f"an integer of {len(digits)} digits is out of range")
    return int(digits)


def _integer_or_digits(digits: str) -> int | str:
    return digits if len(digits) > _LONGEST_INTEGER else int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _constant(str(value))


def _constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is not allowed in JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise NotJson(f"the key {twice!r} is given twice")
    return found


def _plain(value: object, place: str, depth: int) -> Any:
    if isinstance(value, str):
        return check_text(value, place)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise ParameterError(
                place, "the integer is out of range", cure="keep it within ±(2^53 - 1), or use a string"
            )
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ParameterError(place, f"{value} is not allowed in JSON")
        return value
    if depth == MAX_DEPTH and isinstance(value, Mapping | list | tuple):
        raise ParameterError(place, f"the value is nested deeper than {MAX_DEPTH}")
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {_key(key, place): _plain(item, f"{place}/{key}", depth + 1) for key, item in pairs}
    if isinstance(value, list | tuple):
        items = cast("Sequence[object]", value)
        return [_plain(item, f"{place}/{position}", depth + 1) for position, item in enumerate(items)]
    raise ParameterError(place, f"a value of type {type(value).__name__} is not JSON")


def _key(key: object, place: str) -> str:
    if not isinstance(key, str):
        raise ParameterError(place, f"the key {key!r} is not a string")
    return check_text(key, place)


def _too_deep(text: str) -> bool:
    """Counts brackets outside strings before any parser recurses over them."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        if found[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif found[0] in "]}":
            depth -= 1
    return False
