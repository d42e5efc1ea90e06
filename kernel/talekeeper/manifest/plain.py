"""Manifests that plainly hold to the published schema: nothing is to be said of their shape, and no model is needed.

Importing pydantic and building the model takes longer than all the rest of a start. So who has a manifest asks here
first, and the model is imported for those that have, or may have, something wrong with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from talekeeper.json_schema import fits, resolve
from talekeeper.manifest.points import POINTS, Point
from talekeeper.manifest.published import json_schema
from talekeeper.text import is_array, is_table


def plainly_holds(data: Mapping[str, Any], points: Mapping[str, Point] = POINTS) -> bool:
    """True only for manifests whose shape the model accepts; False says nothing. Other points are in no file."""
    # Anything may stand in the notes, dates of TOML included.
    without_notes = {**data, "x": {}} if is_table(data.get("x")) else data
    try:
        return points is POINTS and fits(json_schema(), without_notes)
    except ValueError:
        return False  # a date elsewhere is no value of JSON


def filled(data: Mapping[str, Any], points: Mapping[str, Point] = POINTS) -> dict[str, Any]:
    """A manifest of sound shape with its defaults, its keys in the order of the model."""
    if plainly_holds(data, points):
        made: dict[str, Any] = _filled(json_schema(), data)
        return made
    from talekeeper.manifest.model.whole import model  # noqa: PLC0415 - what this module is there to avoid

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
