"""What is wrong with a value by its JSON Schema, in words of our own; jsonschema's are written for programmers.

Schema files, seeds, stored records and the arguments of tools are all refused in these sentences.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Protocol

from talekeeper.manifest.plain_value import plainly_fits
from talekeeper.manifest.wording import counted, quoted, visible

_KEPT = 64
_CHOICES = 12

# By the identity of the schema, which is kept beside its validator so that the identity stays taken.
_validators: OrderedDict[int, tuple[Mapping[str, Any], Any]] = OrderedDict()


class _Fault(Protocol):
    """What is used of a `jsonschema.ValidationError`, whose own types are half unknown."""

    validator: str | None
    validator_value: Any
    instance: Any
    schema: Any
    context: list[Any]

    @property
    def absolute_path(self) -> Iterable[str | int]: ...

    @property
    def absolute_schema_path(self) -> Iterable[str | int]: ...


def schema_fault(schema: Mapping[str, Any], value: Any) -> tuple[str, str] | None:
    """Where plain JSON does not fit a JSON Schema, as property/property, '' for the whole, and a sentence of how."""
    if plainly_fits(schema, value):
        return None
    # Imported late: only who has a value that does not plainly fit pays for jsonschema.
    best_match = import_module("jsonschema").exceptions.best_match
    try:
        fault: _Fault | None = best_match(_validator(schema).iter_errors(value))
    except RecursionError:
        # Value and schema are each nested within their limits, and the schema asks about every level many times over.
        return "", "is nested too deeply to be held against the schema"
    return None if fault is None else (_place(fault), sentence(fault))


def schema_faults(validator: Any, value: Any) -> Iterator[tuple[str, str]]:
    """As `schema_fault`, every one of them, for a validator that is there already."""
    yield from ((_place(fault), sentence(fault)) for fault in validator.iter_errors(value))


def sentence(fault: _Fault) -> str:
    """What one error of jsonschema means, without the place."""
    say = _SENTENCES.get(fault.validator or "")
    said = say(fault.validator_value, fault) if say else f"does not hold the schema's rule '{fault.validator}'"
    if fault.validator is None:
        # jsonschema gives no path here.
        said = f"{_json(fault.instance)} is not allowed by the schema"
    path = list(fault.absolute_schema_path)
    if "propertyNames" in path[-2:] and path[-3:-2] != ["properties"] and isinstance(fault.instance, str):
        return f"the name of the property {_name(fault.instance)} {said}"
    return said


def _place(fault: _Fault) -> str:
    return visible("/".join(map(str, fault.absolute_path)))


def _validator(schema: Mapping[str, Any]) -> Any:
    known = _validators.get(id(schema))
    if known is None:
        known = (schema, import_module("jsonschema").Draft202012Validator(schema))
        _validators[id(schema)] = known
        if len(_validators) > _KEPT:
            _validators.popitem(last=False)
    return known[1]


def _name(name: str) -> str:
    return f"'{quoted(name)[1:-1]}'"


def _json(value: Any) -> str:
    return _name(value) if isinstance(value, str) else quoted(value)


def _missing(names: Any, fault: _Fault) -> str:
    return f"the property {_name(next(name for name in names if name not in fault.instance))} is missing"


def _needed(needs: Any, fault: _Fault) -> str:
    pairs = ((name, other) for name, others in needs.items() for other in others if name in fault.instance)
    name, other = next(pair for pair in pairs if pair[1] not in fault.instance)
    return f"the property {_name(other)} is missing, which goes with {_name(name)}"


def _unknown(_: Any, fault: _Fault) -> str:
    known = fault.schema.get("properties", {})
    strangers = [name for name in fault.instance if name not in known]
    # Parts of the schema elsewhere may know some of them, and one that is known but wrong counts as well.
    if fault.validator == "unevaluatedProperties" and len(strangers) != 1:
        return "has a property that is not in the schema"
    return f"the property {_name(strangers[0])} is not in the schema"


def _type(wanted: Any, _: _Fault) -> str:
    return f"must be of type {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"


def _choices(choices: Any, _: _Fault) -> str:
    more = [f"{len(choices) - _CHOICES} more"] if len(choices) > _CHOICES else []
    return f"must be one of {', '.join([*map(_json, choices[:_CHOICES]), *more])}"


def _fixed(said: str) -> Callable[[Any, _Fault], str]:
    return lambda _rule, _fault: said


def _least(noun: str) -> Callable[[Any, _Fault], str]:
    return lambda least, _: f"must have at least {counted(least, noun)}"


def _most(noun: str) -> Callable[[Any, _Fault], str]:
    return lambda most, fault: f"has {counted(len(fault.instance), noun)}, and at most {most:,.0f} are allowed"


def _one(choices: Any, fault: _Fault) -> str:
    # Without a context each choice by itself was content.
    return f"must fit one of {len(choices)} schemas, and fits {'none' if fault.context else 'several'}"


_SENTENCES: Mapping[str, Callable[[Any, _Fault], str]] = MappingProxyType(
    {
        "required": _missing,
        "dependentRequired": _needed,
        "additionalProperties": _unknown,
        "unevaluatedProperties": _unknown,
        "type": _type,
        "enum": _choices,
        "const": lambda only, _: f"must be {_json(only)}",
        "minLength": _least("character"),
        "maxLength": _most("character"),
        "minItems": _least("item"),
        "maxItems": _most("item"),
        "minProperties": _least("property"),
        "maxProperties": _most("property"),
        "minimum": lambda least, _: f"must be at least {quoted(least)}",
        "maximum": lambda most, _: f"must be at most {quoted(most)}",
        "exclusiveMinimum": lambda least, _: f"must be more than {quoted(least)}",
        "exclusiveMaximum": lambda most, _: f"must be less than {quoted(most)}",
        "multipleOf": lambda step, _: f"must be a multiple of {quoted(step)}",
        "uniqueItems": _fixed("has an item twice"),
        "items": _fixed("has more items than the schema allows"),
        "unevaluatedItems": _fixed("has more items than the schema allows"),
        "contains": _fixed("has too few or too many of the items the schema asks for"),
        "anyOf": lambda choices, _: f"must fit one of {len(choices)} schemas, and fits none",
        "oneOf": _one,
        "not": _fixed("is what the schema rules out"),
        "format": lambda name, _: f"must have the format {_json(name)}",
    }
)
