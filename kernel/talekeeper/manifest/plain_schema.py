"""Schemas that are plainly valid: nothing in them but common keywords with values of the right kind.

Saying so takes microseconds, while loading jsonschema takes 60 ms, a fifth of a whole run of `validate-plugin` and as
much of every start of a host. Whatever is not plain goes to jsonschema, which alone says that a schema is wrong; a test
holds that nothing plain is refused by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from talekeeper.manifest.table import is_array, is_table

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def plainly_valid(schema: Any) -> bool:
    """True only for schemas that the 2020-12 metaschema accepts; False says nothing."""
    if isinstance(schema, bool):
        return True
    if not is_table(schema):
        return False
    return all(keyword in _CHECKS and _CHECKS[keyword](value) for keyword, value in schema.items())


def _is_type(value: Any) -> bool:
    if is_array(value):
        return (
            bool(value) and all(isinstance(it, str) and it in _TYPES for it in value) and len(set(value)) == len(value)
        )
    return isinstance(value, str) and value in _TYPES


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _are_names(value: Any) -> bool:
    return is_array(value) and all(isinstance(it, str) for it in value) and len(set(value)) == len(value)


def _are_schemas(value: Any) -> bool:
    return is_table(value) and all(plainly_valid(it) for it in value.values())


def _is_choice(value: Any) -> bool:
    return is_array(value) and bool(value) and all(plainly_valid(it) for it in value)


def _is_anything(_value: Any) -> bool:
    return True


_CHECKS: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "$comment": _is_text,
        "$ref": _is_text,
        "$schema": _is_text,
        "$defs": _are_schemas,
        "additionalProperties": plainly_valid,
        "allOf": _is_choice,
        "anyOf": _is_choice,
        "const": _is_anything,
        "default": _is_anything,
        "deprecated": _is_flag,
        "description": _is_text,
        "else": plainly_valid,
        "enum": is_array,
        "examples": is_array,
        "exclusiveMaximum": _is_number,
        "exclusiveMinimum": _is_number,
        "format": _is_text,
        "if": plainly_valid,
        "items": plainly_valid,
        "maxItems": _is_count,
        "maxLength": _is_count,
        "maxProperties": _is_count,
        "maximum": _is_number,
        "minItems": _is_count,
        "minLength": _is_count,
        "minProperties": _is_count,
        "minimum": _is_number,
        "not": plainly_valid,
        "oneOf": _is_choice,
        "prefixItems": _is_choice,
        "properties": _are_schemas,
        "propertyNames": plainly_valid,
        "required": _are_names,
        "then": plainly_valid,
        "title": _is_text,
        "type": _is_type,
        "uniqueItems": _is_flag,
    }
)
