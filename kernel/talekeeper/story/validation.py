"""Checks a record against its namespace's JSON Schema and says in one sentence which property is wrong."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Protocol

from talekeeper.db import dumps
from talekeeper.errors import ParameterError
from talekeeper.manifest.declared import Namespace

_KEPT = 64
_SHOWN = 80

# By the identity of the schema, which is kept beside its validator so that the identity stays taken.
_validators: OrderedDict[int, tuple[Mapping[str, Any], Any]] = OrderedDict()


class _Fault(Protocol):
    """What is used of a `jsonschema.ValidationError`, whose own types are half unknown."""

    message: str
    validator: str
    validator_value: Any
    instance: Any
    schema: Any

    @property
    def absolute_path(self) -> Iterable[str | int]: ...


def check_value(namespace: Namespace, value: object) -> str:
    """The record's canonical JSON; raises `ParameterError` whose field is `plugin/namespace/property`."""
    document = dumps(value, namespace.path)
    plain = json.loads(document)
    if not isinstance(plain, dict):
        raise ParameterError(namespace.path, "a record is a JSON object", cure='write it as {"name": value, …}')
    fault = misfit(namespace.schema, plain) if namespace.schema else None
    if fault is not None:
        place = f"{namespace.path}/{fault[0]}".rstrip("/")
        raise ParameterError(place, fault[1], cure=f"see the record schema of {namespace.path}")
    return document


def misfit(schema: Mapping[str, Any], value: Any) -> tuple[str, str] | None:
    """Where plain JSON does not fit a JSON Schema, as property/property, '' for the whole, and a sentence of how."""
    faults = _validator(schema).iter_errors(value)
    # Imported late: only who writes records pays for jsonschema.
    fault: _Fault | None = import_module("jsonschema").exceptions.best_match(faults)
    return None if fault is None else ("/".join(map(str, fault.absolute_path)), _sentence(fault))


def _validator(schema: Mapping[str, Any]) -> Any:
    known = _validators.get(id(schema))
    if known is None:
        known = (schema, import_module("jsonschema").Draft202012Validator(schema))
        _validators[id(schema)] = known
        if len(_validators) > _KEPT:
            _validators.popitem(last=False)
    return known[1]


def _sentence(fault: _Fault) -> str:
    say = _SENTENCES.get(fault.validator)
    if say is not None:
        return say(fault.validator_value, fault)
    if len(fault.message) <= _SHOWN:
        return fault.message
    return f"does not hold the schema's rule '{fault.validator}'"


def _missing(names: Any, fault: _Fault) -> str:
    return f"the property {next(name for name in names if name not in fault.instance)!r} is missing"


def _unknown(_: Any, fault: _Fault) -> str:
    known = fault.schema.get("properties", {})
    strangers = [name for name in fault.instance if name not in known]
    return f"the property {strangers[0]!r} is not in the schema" if strangers else "has a property not in the schema"


_SENTENCES: dict[str, Callable[[Any, _Fault], str]] = {
    "required": _missing,
    "additionalProperties": _unknown,
    "unevaluatedProperties": _unknown,
    "type": lambda wanted, _: f"must be of type {wanted if isinstance(wanted, str) else ' or '.join(wanted)}",
    "minLength": lambda least, _: f"must have at least {least} characters",
    "maxLength": lambda most, fault: f"has {len(fault.instance)} characters, and at most {most} are allowed",
    "minItems": lambda least, _: f"must have at least {least} items",
    "maxItems": lambda most, _: f"must have at most {most} items",
    "minimum": lambda least, _: f"must be at least {least}",
    "maximum": lambda most, _: f"must be at most {most}",
    "enum": lambda choices, _: f"must be one of {', '.join(map(repr, choices))}",
}
