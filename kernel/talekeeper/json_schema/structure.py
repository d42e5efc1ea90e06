"""What a schema consists of: its subschemas, where references lead and whether they end, what it says of a property."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from talekeeper.text import is_array, is_table

_ONE = frozenset(
    {"additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
_SAME_PLACE = frozenset({"allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "then"})
"""The keywords whose subschemas judge the same value as the schema itself."""

Schema = Mapping[str, Any]


def subschemas(schema: Schema) -> Iterator[Schema]:
    """The schema itself and every schema within it, at any depth."""
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        yield here
        for keyword in here:
            waiting.extend(_under(here, keyword))


def references(schema: Schema) -> Iterator[str]:
    """Every `$ref` and `$dynamicRef`."""
    for part in subschemas(schema):
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(part.get(keyword), str):
                yield part[keyword]


def resolve(schema: Schema, reference: str) -> Schema | None:
    """The subschema that a reference within the same document leads to: a JSON pointer or an anchor, after `#`.

    None where nothing is, and where something is that is never used as a schema, such as an example.
    """
    fragment = reference.removeprefix("#")
    if fragment and not fragment.startswith("/"):
        return next(
            (it for it in subschemas(schema) if fragment in (it.get("$anchor"), it.get("$dynamicAnchor"))), None
        )
    steps = [_step(it) for it in fragment.split("/")[1:]]
    here: Any = schema
    for key in steps:
        if is_array(here):
            here = here[int(key)] if key.isdecimal() and int(key) < len(here) else None
        else:
            here = here.get(key) if is_table(here) else None
    if isinstance(here, bool):
        here = {} if here else {"not": {}}
    return here if is_table(here) and _leads_to_schemas(steps) else None


def _step(written: str) -> str:
    if "%" in written:
        from urllib.parse import unquote  # noqa: PLC0415 - few pointers have such characters

        written = unquote(written)
    return written.replace("~1", "/").replace("~0", "~")


def _leads_to_schemas(steps: list[str]) -> bool:
    at = 0
    while at < len(steps):
        if steps[at] not in _ONE | _MANY | _NAMED:
            return False
        at += 1 if steps[at] in _ONE else 2
    return at == len(steps)


def endless(schema: Schema) -> bool:
    """Whether some value would meet the same subschema again and again, without getting any smaller."""
    following = {id(part): [id(it) for it in _on_same_value(schema, part)] for part in subschemas(schema)}
    try:
        TopologicalSorter(following).prepare()
    except CycleError:
        return True
    return False


def _on_same_value(schema: Schema, part: Schema) -> Iterator[Schema]:
    for keyword in ("$ref", "$dynamicRef"):
        target = resolve(schema, part[keyword]) if isinstance(part.get(keyword), str) else None
        if target is not None:
            yield target
    for keyword in _SAME_PLACE:
        yield from _under(part, keyword)


def _under(part: Schema, keyword: str) -> Iterator[Schema]:
    value = part.get(keyword)
    inner: list[Any] = []
    if keyword in _ONE:
        inner = [value]
    elif keyword in _MANY and is_array(value):
        inner = value
    elif keyword in _NAMED and is_table(value):
        inner = list(value.values())
    yield from (it for it in inner if is_table(it))


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
        own = _own_types(schema, part)
        if own:
            return own
    return set()


def item_types(schema: Mapping[str, Any], declared: Any) -> set[str]:
    """The types the items of an array property may have."""
    for part in _parts(schema, declared):
        if "items" in part:
            return types(schema, part["items"])
    return set()


def _own_types(schema: Mapping[str, Any], part: Mapping[str, Any]) -> set[str]:
    kind = part.get("type")
    if isinstance(kind, str):
        return {kind}
    if is_array(kind):
        return {it for it in kind if isinstance(it, str)}
    enum = part.get("enum")
    if is_array(enum):
        return {type_of(value) for value in enum}
    if "const" in part:
        return {type_of(part["const"])}
    choices: list[Any] = part.get("anyOf") or part.get("oneOf") or []
    return {kind for choice in choices for kind in types(schema, choice)}


def type_of(value: Any) -> str:
    """The JSON type of a value; every number is a `number`."""
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
