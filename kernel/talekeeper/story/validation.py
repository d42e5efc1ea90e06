"""Checks a record against its namespace's JSON Schema and says in one sentence which property is wrong."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from talekeeper.db import dumps
from talekeeper.errors import ParameterError
from talekeeper.manifest.declared import Namespace

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

_KEPT = 64
_SHOWN = 80

# By the identity of the schema, which is kept beside its validator so that the identity stays taken.
_validators: OrderedDict[int, tuple[Mapping[str, Any], Draft202012Validator]] = OrderedDict()


def check_value(namespace: Namespace, value: object) -> str:
    """The record's canonical JSON; raises `ParameterError` whose field is `plugin/namespace/property`."""
    if not isinstance(value, Mapping):
        raise ParameterError(namespace.path, "a record is a JSON object", cure='write it as {"name": value, …}')
    document = dumps(value, namespace.path)
    if namespace.schema:
        _check_schema(namespace, value)
    return document


def _check_schema(namespace: Namespace, value: object) -> None:
    from jsonschema.exceptions import best_match  # noqa: PLC0415 -- only who writes records pays for it

    error = best_match(_validator(namespace.schema).iter_errors(_listed(value)))
    if error is not None:
        place = "/".join([namespace.path, *(str(step) for step in error.absolute_path)])
        raise ParameterError(place, _sentence(error), cure=f"see the record schema of {namespace.path}")


def _validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 -- only who writes records pays for it

    known = _validators.get(id(schema))
    if known is None:
        known = (schema, Draft202012Validator(schema))
        _validators[id(schema)] = known
        if len(_validators) > _KEPT:
            _validators.popitem(last=False)
    return known[1]


def _listed(value: object) -> Any:
    """Tuples and read-only mappings as the lists and dicts that jsonschema knows."""
    if isinstance(value, Mapping):
        return {key: _listed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_listed(item) for item in value]
    return value


def _sentence(error: ValidationError) -> str:
    limit = error.validator_value
    match error.validator:
        case "required":
            missing = [name for name in limit if name not in error.instance]
            return f"the property {missing[0]!r} is missing"
        case "additionalProperties" | "unevaluatedProperties":
            known = error.schema.get("properties", {})
            return f"the property {next(name for name in error.instance if name not in known)!r} is not in the schema"
        case "type":
            wanted = limit if isinstance(limit, str) else " or ".join(limit)
            return f"must be of type {wanted}"
        case "minLength" | "minItems" if limit == 1:
            return "must not be empty"
        case "maxLength":
            return f"has {len(error.instance)} characters, and at most {limit} are allowed"
        case "enum":
            return f"must be one of {', '.join(repr(item) for item in limit)}"[: _SHOWN * 2]
        case "pattern":
            return "does not have the form the schema asks for"
        case "minimum" | "maximum":
            return f"must be at {'least' if error.validator == 'minimum' else 'most'} {limit}"
        case _:
            return (
                error.message if len(error.message) <= _SHOWN else f"does not hold the schema's rule {error.validator}"
            )
