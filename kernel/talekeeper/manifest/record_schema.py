"""What a record schema says of a property: is it there, and of what type. Used for the properties `search` names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from talekeeper.json_schema import resolve
from talekeeper.text import is_array, is_table

_MOST_STEPS = 32


def properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The declared properties of a record, those of `allOf` parts and local references included."""
    found: dict[str, Any] = {}
    for part in _parts(schema, schema):
        declared = part.get("properties")
        if is_table(declared):
            found.update(declared)
    return found


def required(schema: Mapping[str, Any]) -> set[str]:
    """The properties every record has."""
    return {name for part in _parts(schema, schema) for name in part.get("required", ()) if isinstance(name, str)}


def types(schema: Mapping[str, Any], declared: Any) -> set[str]:
    """The JSON types a property may have, as far as the schema says; empty when it says nothing."""
    for part in _parts(schema, declared):
        said = _said(schema, part)
        if said:
            return said
    return set()


def item_types(schema: Mapping[str, Any], declared: Any) -> set[str]:
    """The types the items of an array property may have."""
    for part in _parts(schema, declared):
        if "items" in part:
            return types(schema, part["items"])
    return set()


def _said(schema: Mapping[str, Any], part: Mapping[str, Any]) -> set[str]:
    kind = part.get("type")
    if isinstance(kind, str):
        return {kind}
    if is_array(kind):
        return {it for it in kind if isinstance(it, str)}
    enum = part.get("enum")
    if is_array(enum):
        return {_type_of(value) for value in enum}
    if "const" in part:
        return {_type_of(part["const"])}
    choices: list[Any] = part.get("anyOf") or part.get("oneOf") or []
    return {kind for choice in choices for kind in types(schema, choice)}


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = ((str, "string"), (dict, "object"), (list, "array"), ((int, float), "number"))
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def _parts(schema: Mapping[str, Any], start: Any) -> Iterator[Mapping[str, Any]]:
    """The subschema and everything that holds beside it: what it refers to, and its `allOf`."""
    waiting, steps = [start], 0
    while waiting and steps < _MOST_STEPS:
        steps += 1
        part = waiting.pop(0)
        if is_table(part):
            yield part
            reference = part.get("$ref")
            if isinstance(reference, str):
                waiting.append(resolve(schema, reference))
            waiting.extend(part.get("allOf") or [])
