"""What is wrong with a value by its JSON Schema, in words of our own; a library's are written for programmers.

Schema files, seeds, stored records and the arguments of tools are all refused in these sentences. Of several errors
the one is chosen that jsonschema's `best_match` chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from talekeeper.json_schema.structure import resolve, type_of
from talekeeper.text import counted, is_array, is_table, quoted, visible

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

Step = str | int
_CHOICES = 12
_WEAK = frozenset({"anyOf", "oneOf"})
_SUBSCHEMA_OF_A_PART = frozenset({"patternProperties", "prefixItems", "properties"})


def explain(schema: Mapping[str, Any], value: Any, errors: Iterable[ValidationError]) -> tuple[str, str]:
    """The place and the sentence of the most telling of one or more errors."""
    # jsonschema-rs 0.61 calls a required property missing that is there, but that no property is allowed to be.
    error = _best_match(schema, [it for it in errors if not _is_there(it)])
    return place_of(error), sentence(schema, value, error)


def _is_there(missing: ValidationError) -> bool:
    return is_table(missing.instance) and getattr(missing.kind, "property", None) in missing.instance


def place_of(error: ValidationError) -> str:
    """Where in the value the error is, as property/property."""
    return visible("/".join(map(str, _path(error))))


def sentence(schema: Mapping[str, Any], value: Any, error: ValidationError) -> str:
    """What one error means, without its place; `schema` and `value` are the whole ones, an empty schema is unknown."""
    kind: Any = error.kind
    if kind.name == "propertyNames":
        inner: ValidationError = kind.error
        return f"the name of the property {_name(str(inner.instance))} {sentence(schema, value, inner)}"
    keyword = _keyword(error)
    say = _SENTENCES.get(keyword)
    if say:
        return say(_Facts(error, kind, _parent(schema, error), _at(value, error.instance_path)))
    if kind.name == "falseSchema":
        return f"{_json(error.instance)} is not allowed by the schema"
    return f"does not hold the schema's rule '{keyword}'"


class _Facts(NamedTuple):
    """An error, what the library says of it, the part of the schema with the broken keyword, the part of the value."""

    error: ValidationError
    kind: Any
    schema: Mapping[str, Any]
    value: Any


def _at(value: Any, path: list[Step]) -> Any:
    for step in path:
        value = value[step]
    return value


def _best_match(schema: Mapping[str, Any], errors: Iterable[ValidationError]) -> ValidationError:
    best = max(_in_order(schema, errors), key=lambda it: _relevance(schema, it))
    while inner := _in_order(schema, _context(best)):
        ranked = sorted(inner, key=lambda it: _relevance(schema, it))
        if len(ranked) > 1 and _relevance(schema, ranked[0]) == _relevance(schema, ranked[1]):
            # The branches are equally far off, so none of them is what was meant.
            return best
        best = ranked[0]
    return best


def _relevance(schema: Mapping[str, Any], error: ValidationError) -> tuple[Any, ...]:
    """Sorts by: nearer the top, later siblings, not a choice between schemas, not the type that was meant."""
    path = _path(error)
    return -len(path), path, _keyword(error) not in _WEAK, not _has_wanted_type(schema, error)


def _has_wanted_type(schema: Mapping[str, Any], error: ValidationError) -> bool:
    wanted = _parent(schema, error).get("type")
    kinds: list[Any] = wanted if is_array(wanted) else [wanted]
    instance: Any = error.instance
    found = type_of(instance)
    return found in kinds or ("integer" in kinds and found == "number" and instance == instance // 1)


def _context(error: ValidationError) -> Iterator[ValidationError]:
    branches: list[list[ValidationError]] = [] if _fits_several(error.kind) else getattr(error.kind, "context", [])
    for branch in branches:
        yield from branch


def _in_order(schema: Mapping[str, Any], errors: Iterable[ValidationError]) -> list[ValidationError]:
    """The errors as the schema's keywords are written."""
    return sorted(errors, key=lambda it: [step for step, _ in _walk(schema, it)])


def _walk(schema: Mapping[str, Any], error: ValidationError) -> Iterator[tuple[int, Any]]:
    """Down to the broken keyword: its index among its siblings, and the value or subschema it has."""
    here: Any = schema
    for step in error.evaluation_path:
        if is_array(here) and isinstance(step, int):
            index, here = step, here[step]
        elif is_table(here) and step in here:
            index, here = list(here).index(str(step)), here[str(step)]
        else:
            return
        if step in {"$ref", "$dynamicRef"} and isinstance(here, str):
            here = resolve(schema, here)
        yield index, here


def _parent(schema: Mapping[str, Any], error: ValidationError) -> Mapping[str, Any]:
    parts = [schema, *(part for _, part in _walk(schema, error))]
    reached = len(parts) == len(error.evaluation_path) + 1 and len(parts) > 1
    return parts[-2] if reached and is_table(parts[-2]) else {}


def _keyword(error: ValidationError) -> str:
    path = error.evaluation_path
    return str(path[-1]) if path and not _is_part(path) else ""


def _is_part(path: list[Step]) -> bool:
    """Whether the path ends at a subschema, which is false, and not at a keyword."""
    return len(path) > 1 and path[-2] in _SUBSCHEMA_OF_A_PART


def _path(error: ValidationError) -> list[Step]:
    steps = error.instance_path
    about_a_part = error.kind.name == "falseSchema" and (
        _is_part(error.evaluation_path) or error.evaluation_path[-1:] == ["items"]
    )
    return steps[:-1] if about_a_part else steps


def _name(name: str) -> str:
    return f"'{quoted(name)[1:-1]}'"


def _json(value: Any) -> str:
    return _name(value) if isinstance(value, str) else quoted(value)


def _missing(facts: _Facts) -> str:
    name = facts.kind.property
    said = f"the property {_name(name)} is missing"
    needs: dict[str, list[str]] = facts.schema.get("dependentRequired", {})
    if _keyword(facts.error) != "dependentRequired":
        return said
    return f"{said}, which goes with {_name(next(it for it in needs if name in needs[it] and it in facts.value))}"


def _unknown(facts: _Facts) -> str:
    # Where the schema has no properties at all, the library names none: every one is a stranger.
    strangers = getattr(facts.kind, "unexpected", None) or list(facts.value)
    return f"the property {_name(strangers[0])} is not in the schema"


def _no_name(facts: _Facts) -> str:
    return f"the name of the property {_name(next(iter(facts.value)))} is not allowed by the schema"


def _type(facts: _Facts) -> str:
    wanted = facts.schema.get("type", facts.kind.types)
    return f"must be of type {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"


def _choices(facts: _Facts) -> str:
    choices = facts.kind.options
    more = [f"{len(choices) - _CHOICES} more"] if len(choices) > _CHOICES else []
    return f"must be one of {', '.join([*map(_json, choices[:_CHOICES]), *more])}"


def _fixed(said: str) -> Callable[[_Facts], str]:
    return lambda _facts: said


def _bound(words: str) -> Callable[[_Facts], str]:
    return lambda facts: f"must be {words} {quoted(facts.kind.limit)}"


def _least(noun: str) -> Callable[[_Facts], str]:
    return lambda facts: f"must have at least {counted(facts.kind.limit, noun)}"


def _most(noun: str) -> Callable[[_Facts], str]:
    return lambda it: f"has {counted(len(it.value), noun)}, and at most {it.kind.limit:,.0f} are allowed"


def _fits_several(kind: object) -> bool:
    return type(kind).__name__ == "OneOfMultipleValid"


def _one(facts: _Facts) -> str:
    fitting = "several" if _fits_several(facts.kind) else "none"
    return f"must fit one of {len(facts.kind.context)} schemas, and fits {fitting}"


_COUNT_OF_CONTAINED = _fixed("has too few or too many of the items the schema asks for")
_TOO_MANY_ITEMS = _fixed("has more items than the schema allows")
_SENTENCES: Mapping[str, Callable[[_Facts], str]] = MappingProxyType(
    {
        "required": _missing,
        "dependentRequired": _missing,
        "additionalProperties": _unknown,
        "unevaluatedProperties": _unknown,
        "propertyNames": _no_name,
        "type": _type,
        "enum": _choices,
        "const": lambda facts: f"must be {_json(facts.kind.expected_value)}",
        "minLength": _least("character"),
        "maxLength": _most("character"),
        "minItems": _least("item"),
        "maxItems": _most("item"),
        "minProperties": _least("property"),
        "maxProperties": _most("property"),
        "minimum": _bound("at least"),
        "maximum": _bound("at most"),
        "exclusiveMinimum": _bound("more than"),
        "exclusiveMaximum": _bound("less than"),
        "multipleOf": lambda facts: f"must be a multiple of {quoted(facts.kind.multiple_of)}",
        "uniqueItems": _fixed("has an item twice"),
        "items": _TOO_MANY_ITEMS,
        "unevaluatedItems": _TOO_MANY_ITEMS,
        "contains": _COUNT_OF_CONTAINED,
        "minContains": _COUNT_OF_CONTAINED,
        "maxContains": _COUNT_OF_CONTAINED,
        "anyOf": lambda facts: f"must fit one of {len(facts.kind.context)} schemas, and fits none",
        "oneOf": _one,
        "not": _fixed("is what the schema rules out"),
        "format": lambda facts: f"must have the format {_json(facts.kind.format)}",
    }
)
