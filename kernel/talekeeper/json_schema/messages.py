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
    every = list(errors)
    # jsonschema-rs 0.61 calls a required property missing that is there, but that no property is allowed to be.
    real = [it for it in every if not (is_table(it.instance) and getattr(it.kind, "property", None) in it.instance)]
    error = _best_match(schema, value, real or every)
    return place_of(error), sentence(schema, value, error)


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
        return say(_facts(schema, value, error))
    if kind.name == "falseSchema":
        return f"{_json(error.instance)} is not allowed by the schema"
    return f"does not hold the schema's rule '{keyword}'"


class _Facts(NamedTuple):
    """An error, what the library says of it, and the parts of schema and value that it is about.

    `schema` has the broken keyword; `order` leads to it from the top, as indexes among siblings.
    """

    error: ValidationError
    kind: Any
    schema: Mapping[str, Any]
    order: list[int]
    value: Any


def _facts(schema: Mapping[str, Any], value: Any, error: ValidationError) -> _Facts:
    above: Any = {}
    here: Any = schema
    order: list[int] = []
    path: list[Any] = error.evaluation_path
    for step in path:
        if not is_array(here) and not (is_table(here) and step in here):
            above = {}
            break
        order.append(list(here).index(step) if is_table(here) else step)
        above, here = here, here[step]
        if step in {"$ref", "$dynamicRef"}:
            here = resolve(schema, here)
    for step in error.instance_path:
        value = value[step]
    return _Facts(error, error.kind, above if is_table(above) else {}, order, value)


def _best_match(schema: Mapping[str, Any], value: Any, errors: list[ValidationError]) -> ValidationError:
    # As the schema's keywords are written, which decides between errors of the same relevance.
    ordered = sorted((_facts(schema, value, it) for it in errors), key=lambda it: it.order)
    best = max(ordered, key=_relevance)
    while inner := sorted((_facts(schema, value, it) for it in _context(best)), key=lambda it: it.order):
        ranked = sorted(inner, key=_relevance)
        if len(ranked) > 1 and _relevance(ranked[0]) == _relevance(ranked[1]):
            # The branches are equally far off, so none of them is what was meant.
            break
        best = ranked[0]
    return best.error


def _relevance(facts: _Facts) -> tuple[Any, ...]:
    """Sorts by: nearer the top, later siblings, not a choice between schemas, not the type that was meant."""
    wanted = facts.schema.get("type")
    kinds: list[Any] = wanted if is_array(wanted) else [wanted]
    value: Any = facts.kind.error.instance if facts.kind.name == "propertyNames" else facts.value
    found = type_of(value)
    of_type = found in kinds or ("integer" in kinds and found == "number" and value == value // 1)
    path = _path(facts.error)
    return -len(path), path, _keyword(facts.error) not in _WEAK, not of_type


def _context(facts: _Facts) -> Iterator[ValidationError]:
    branches: list[list[ValidationError]] = [] if _fits_several(facts.kind) else getattr(facts.kind, "context", [])
    for branch in branches:
        yield from branch


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
