"""The JSON Schema of a structured answer: that it bounds the answer, and whether an object holds it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, Protocol, cast

from talekeeper.errors import ParameterError

_TOLD = 200
_DATA = frozenset({"enum", "const", "default", "examples", "required"})


class _Fault(Protocol):
    """What is used of a `jsonschema.ValidationError`, whose own types are half unknown."""

    message: str
    validator: str

    @property
    def absolute_path(self) -> Iterable[str | int]: ...


class Form:
    """A schema ready to check objects with; loads jsonschema. No schema is ever fetched."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        plain = json.loads(json.dumps(schema, default=dict))  # it may come frozen, and jsonschema wants dicts
        registry = import_module("jsonschema_specifications").REGISTRY
        self._validator: Any = import_module("jsonschema").Draft202012Validator(plain, registry=registry)

    def wrong(self, value: object) -> str:
        """What is wrong with the value, in words for the model that wrote it; empty when nothing is."""
        faults = self._validator.iter_errors(value)
        fault: _Fault | None = import_module("jsonschema").exceptions.best_match(faults)
        if fault is None:
            return ""
        place = "/".join(map(str, fault.absolute_path))
        told = fault.message if len(fault.message) <= _TOLD else f"does not hold the schema's {fault.validator!r}"
        return f"{place}: {told}" if place else told


def check_bounded(schema: Mapping[str, Any]) -> None:
    """Raises `ParameterError` naming the first part of a schema that would let an answer grow without limit."""
    if schema.get("type") != "object":
        raise ParameterError("schema", 'is not of type "object"', cure='add "type": "object"')
    for place, part in _parts(schema, ""):
        types = part.get("type")
        kinds = cast("Iterable[object]", types) if isinstance(types, list | tuple) else (types,)
        for kind in kinds:
            if kind == "string" and not {"maxLength", "enum", "const"} & part.keys():
                raise ParameterError(f"schema{place}", "is a string without an end", cure="add maxLength")
            if kind == "array" and "maxItems" not in part:
                raise ParameterError(f"schema{place}", "is an array without an end", cure="add maxItems")


def _parts(value: object, place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every table in a schema with its pointer; what stands under enum, const, default and examples is data."""
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        yield place, table
        for key, item in table.items():
            if key not in _DATA:
                yield from _parts(item, f"{place}/{key}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(cast("Iterable[object]", value)):
            yield from _parts(item, f"{place}/{number}")
