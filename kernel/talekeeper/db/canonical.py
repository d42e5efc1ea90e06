"""Documents as the store keeps them: JSON in one form, so that equal values are equal bytes on every engine.

Keys are sorted, nothing is padded, characters stay as they are. Refused, with the place named: NaN and infinities,
integers that a double cannot hold exactly, a key given twice, NUL and lone surrogates, nesting deeper than 64.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from talekeeper.db.transaction import undecodable
from talekeeper.errors import ParameterError
from talekeeper.text import EXACT_INTEGER, JSON_DEPTH_LIMIT, NotJson, check_text, read_json


def dumps(value: object, field: str) -> str:
    """The canonical text of plain JSON data; raises `ParameterError` naming `field` and the place inside it."""
    plain = _plain(value, field, 0)
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def loads(text: str, field: str) -> Any:
    """Reads a document from outside, as strictly as `dumps` writes; raises `ParameterError` naming `field`."""
    try:
        return read_json(text, depth_limit=JSON_DEPTH_LIMIT)
    except NotJson as fault:
        raise ParameterError(field, f"it {fault.with_place}") from fault


def stored(text: str) -> Any:
    """Reads a document that `dumps` made and a table kept; one that changed on the disk is reported as damage."""
    try:
        return json.loads(text)
    except (TypeError, ValueError) as error:
        raise undecodable() from error


def _plain(value: object, place: str, depth: int) -> Any:
    if isinstance(value, str):
        return check_text(value, place)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -EXACT_INTEGER <= value <= EXACT_INTEGER:
            raise ParameterError(
                place, "the integer is out of range", cure="keep it within ±(2^53 - 1), or use a string"
            )
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ParameterError(place, f"{value} is not allowed in JSON")
        return value
    if depth == JSON_DEPTH_LIMIT and isinstance(value, Mapping | list | tuple):
        raise ParameterError(place, f"the value is nested deeper than {JSON_DEPTH_LIMIT}")
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
