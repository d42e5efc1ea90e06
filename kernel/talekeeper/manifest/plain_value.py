"""Values that plainly fit a JSON Schema (2020-12): every keyword in it that bears on them is a common one and says yes.

Saying so takes microseconds and no library. Whatever does not plainly fit goes to who can say what is wrong with it:
a manifest to pydantic, a record to jsonschema; tests hold that neither refuses what fits plainly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from talekeeper.manifest.json_text import EXACT_INTEGER
from talekeeper.manifest.table import is_array, is_table

_Check = Callable[[Any, Any, Mapping[str, Any], Any], bool]
"""Of a keyword's value, the value to judge, the schema around the keyword, and the schema at the top."""

_DEFINITION = re.compile(r"#/\$defs/([^/~%]+)")


def plainly_fits(schema: Any, value: Any) -> bool:
    """True only for values of JSON or TOML that the schema, itself a valid one, accepts; False says nothing."""
    try:
        return _fits(schema, value, schema)
    except RecursionError:
        return False


def referred(schema: Mapping[str, Any], top: Any) -> Any:
    """The definition that the schema's `$ref` names, None when it names anything else."""
    named = _DEFINITION.fullmatch(schema["$ref"])
    return top.get("$defs", {}).get(named[1]) if named else None


def _fits(schema: Any, value: Any, top: Any) -> bool:
    if isinstance(schema, bool):
        return schema
    if not is_table(schema):
        return False
    for keyword, wanted in schema.items():
        if keyword not in _SILENT:
            check = _CHECKS.get(keyword)
            if check is None or not check(wanted, value, schema, top):
                return False
    return True


def _counts(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    # Beyond these, and for what is none, a whole number and a broken one are not the same to everybody.
    return _counts(value) and abs(value) <= EXACT_INTEGER


_TYPES: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "array": is_array,
        "boolean": lambda value: isinstance(value, bool),
        # 1.0 is a whole number as well, which is for others to say.
        "integer": lambda value: isinstance(value, int) and _is_number(value),
        "null": lambda value: value is None,
        "number": _is_number,
        "object": is_table,
        "string": lambda value: isinstance(value, str),
    }
)


def _type(wanted: Any, value: Any, _schema: Any, _top: Any) -> bool:
    return any(_TYPES[it](value) for it in (wanted if is_array(wanted) else (wanted,)))


def _same(one: Any, other: Any) -> bool:
    # In Python 1 == 1.0 == True, within lists and tables too; JSON Schema keeps true apart.
    return type(one) is type(other) and not isinstance(one, (dict, list)) and bool(one == other)


def _enum(wanted: Any, value: Any, _schema: Any, _top: Any) -> bool:
    return any(_same(it, value) for it in wanted)


def _const(wanted: Any, value: Any, _schema: Any, _top: Any) -> bool:
    return _same(wanted, value)


def _ref(_wanted: Any, value: Any, schema: Mapping[str, Any], top: Any) -> bool:
    return _fits(referred(schema, top), value, top)


def _id(_wanted: Any, _value: Any, schema: Any, top: Any) -> bool:
    # Within the schema, references would begin where it stands.
    return schema is top


def _any_of(wanted: Any, value: Any, _schema: Any, top: Any) -> bool:
    return any(_fits(it, value, top) for it in wanted)


def _all_of(wanted: Any, value: Any, _schema: Any, top: Any) -> bool:
    return all(_fits(it, value, top) for it in wanted)


def _bound(holds: Callable[[Any, Any], bool]) -> _Check:
    def check(wanted: Any, value: Any, _schema: Any, _top: Any) -> bool:
        return not _counts(value) or (_is_number(value) and holds(value, wanted))

    return check


def _size(of: type[Any], holds: Callable[[int, Any], bool]) -> _Check:
    return lambda wanted, value, _schema, _top: not isinstance(value, of) or holds(len(value), wanted)


def _unique(wanted: Any, value: Any, _schema: Any, _top: Any) -> bool:
    return not wanted or not is_array(value) or len({_mark(it) for it in value}) == len(value)


def _mark(value: Any) -> Any:
    """Equal for values that are one and the same to JSON Schema, which tells true from 1 and not 1.0 from 1."""
    if is_table(value):
        return "table", frozenset((name, _mark(it)) for name, it in value.items())
    if is_array(value):
        return "array", tuple(_mark(it) for it in value)
    return type(value) if isinstance(value, bool) else "", value


def _items(wanted: Any, value: Any, _schema: Any, top: Any) -> bool:
    return not is_array(value) or all(_fits(wanted, it, top) for it in value)


def _required(wanted: Any, value: Any, _schema: Any, _top: Any) -> bool:
    return not is_table(value) or all(name in value for name in wanted)


def _properties(wanted: Any, value: Any, _schema: Any, top: Any) -> bool:
    return not is_table(value) or all(_fits(wanted[name], it, top) for name, it in value.items() if name in wanted)


def _named_alike(wanted: Any, value: Any, _schema: Any, top: Any) -> bool:
    if not is_table(value):
        return True
    return all(_matches(it, name) and _fits(wanted[it], value[name], top) for it in wanted for name in value)


def _others(wanted: Any, value: Any, schema: Mapping[str, Any], top: Any) -> bool:
    # Beside patterns there are no others: `_named_alike` wants every name to match.
    if not is_table(value) or schema.get("patternProperties"):
        return True
    known = schema.get("properties", {})
    return all(_fits(wanted, it, top) for name, it in value.items() if name not in known)


def _names(wanted: Any, value: Any, _schema: Any, top: Any) -> bool:
    return not is_table(value) or all(_fits(wanted, name, top) for name in value)


def _pattern(wanted: Any, value: Any, _schema: Any, _top: Any) -> bool:
    return not isinstance(value, str) or _matches(wanted, value)


def _matches(pattern: str, text: str) -> bool:
    # From end to end, in which Python and the others are of one mind: its $ alone also stands before a last line feed.
    return _compiled(pattern).fullmatch(text) is not None


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_SILENT = frozenset({"$comment", "$defs", "$schema", "default", "deprecated", "description", "examples", "format"}) | {
    "readOnly",
    "title",
    "writeOnly",
}
"""They refuse nothing: `format` is a remark unless one asks for more, and nobody here does."""

_CHECKS: Mapping[str, _Check] = MappingProxyType(
    {
        "$id": _id,
        "$ref": _ref,
        "additionalProperties": _others,
        "allOf": _all_of,
        "anyOf": _any_of,
        "const": _const,
        "enum": _enum,
        "exclusiveMaximum": _bound(lambda value, most: value < most),
        "exclusiveMinimum": _bound(lambda value, least: value > least),
        "items": _items,
        "maxItems": _size(list, lambda length, most: length <= most),
        "maxLength": _size(str, lambda length, most: length <= most),
        "maxProperties": _size(dict, lambda length, most: length <= most),
        "maximum": _bound(lambda value, most: value <= most),
        "minItems": _size(list, lambda length, least: length >= least),
        "minLength": _size(str, lambda length, least: length >= least),
        "minProperties": _size(dict, lambda length, least: length >= least),
        "minimum": _bound(lambda value, least: value >= least),
        "pattern": _pattern,
        "patternProperties": _named_alike,
        "properties": _properties,
        "propertyNames": _names,
        "required": _required,
        "type": _type,
        "uniqueItems": _unique,
    }
)
