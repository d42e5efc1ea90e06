"""The published JSON Schema of manifests: whether a manifest fits it, and its defaults.

`plugin.schema.json` beside this module is generated from the model by `model.manifest`, as its copy in `schema/` is.
Importing pydantic and building the model takes longer than all the rest of a start, so the model is loaded only to say
what is wrong with a manifest that does not fit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from talekeeper.json_schema import fits, resolve
from talekeeper.manifest.rules.contributions import POINTS
from talekeeper.manifest.rules.point import Point
from talekeeper.text import is_array, is_table

PUBLISHED_SCHEMA = Path(__file__).with_name("plugin.schema.json")


def published_text() -> str:
    """The text of the file."""
    return PUBLISHED_SCHEMA.read_text(encoding="utf-8")


def schema_of(points: Mapping[str, Point] = POINTS) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a manifest: the published one, unless the points are others than this host's.

    It is not to be changed.
    """
    if points is POINTS:
        return _published()
    from talekeeper.manifest.model.manifest import generated_schema  # noqa: PLC0415 - it brings pydantic

    return generated_schema(points)


@lru_cache(maxsize=1)
def _published() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(published_text())
    return schema


def fits_schema(data: Mapping[str, Any], points: Mapping[str, Point] = POINTS) -> bool:
    """Whether the shape of a manifest is sound."""
    # The notes may hold anything, dates of TOML included.
    without_notes: Mapping[str, Any] = {**data, "x": {}} if is_table(data.get("x")) else data
    try:
        return fits(schema_of(points), without_notes)
    except ValueError:
        return False  # a date elsewhere is no value of JSON


def filled(data: Mapping[str, Any], points: Mapping[str, Point] = POINTS) -> dict[str, Any]:
    """A manifest of sound shape with its defaults, its keys in the order of the model."""
    whole = schema_of(points)

    def value_of(schema: Any, value: Any) -> Any:
        if "$ref" in schema:
            schema = resolve(whole, schema["$ref"])
        elif "anyOf" in schema:
            schema = next(it for it in schema["anyOf"] if fits(it, value))
        elif schema.get("type") == "number":
            return float(value)
        elif schema.get("type") == "integer":
            return int(value)
        if is_table(value):
            return table_of(schema, value)
        return [value_of(schema["items"], it) for it in value] if is_array(value) else value

    def table_of(schema: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
        if "patternProperties" in schema:
            (named,) = schema["patternProperties"].values()
            return {name: value_of(named, it) for name, it in value.items()}
        if "properties" not in schema:
            return dict(value)
        return {
            key: value_of(inner, value[key] if key in value else inner["default"])
            for key, inner in schema["properties"].items()
            if key in value or "default" in inner
        }

    return table_of(whole, data)
