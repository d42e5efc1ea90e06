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


@lru_cache(maxsize=1)
def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a manifest of this host's level; not to be changed."""
    schema: dict[str, Any] = json.loads(published_text())
    return schema


def fits_schema(data: Mapping[str, Any], points: Mapping[str, Point] = POINTS) -> bool:
    """Whether the shape of a manifest is sound by the published schema; False for points that are not in it."""
    # The notes may hold anything, dates of TOML included.
    without_notes: Mapping[str, Any] = {**data, "x": {}} if is_table(data.get("x")) else data
    try:
        return points is POINTS and fits(json_schema(), without_notes)
    except ValueError:
        return False  # a date elsewhere is no value of JSON


def filled(data: Mapping[str, Any], points: Mapping[str, Point] = POINTS) -> dict[str, Any]:
    """A manifest of sound shape with its defaults, its keys in the order of the model."""
    if fits_schema(data, points):
        made: dict[str, Any] = _filled(json_schema(), data)
        return made
    from talekeeper.manifest.model.manifest import model  # noqa: PLC0415 - it brings pydantic

    return model(points).model_validate(data).model_dump(by_alias=True, exclude_none=True)


def _filled(schema: Any, value: Any) -> Any:
    if "$ref" in schema:
        schema = resolve(json_schema(), schema["$ref"])
    elif "anyOf" in schema:
        schema = next(it for it in schema["anyOf"] if fits(it, value))
    elif schema.get("type") == "number":
        return float(value)
    elif schema.get("type") == "integer":
        return int(value)
    if is_table(value):
        return _table(schema, value)
    return [_filled(schema["items"], it) for it in value] if is_array(value) else value


def _table(schema: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    if "patternProperties" in schema:
        (named,) = schema["patternProperties"].values()
        return {name: _filled(named, it) for name, it in value.items()}
    if "properties" not in schema:
        return dict(value)
    return {
        key: _filled(inner, value[key] if key in value else inner["default"])
        for key, inner in schema["properties"].items()
        if key in value or "default" in inner
    }
