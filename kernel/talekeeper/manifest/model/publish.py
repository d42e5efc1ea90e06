"""The published schema, made from the model of the manifest, and its page for readers.

pydantic's own export is looser than pydantic: tables of named tables stay open, and optional keys accept null, which
TOML does not have. Both are closed here, so that an editor and the host give the same verdict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from talekeeper.json_schema import DIALECT
from talekeeper.manifest.model.whole import model
from talekeeper.manifest.rules.contributions import POINTS
from talekeeper.manifest.rules.point import Point
from talekeeper.text import is_array, is_table


def generated_schema(points: Mapping[str, Point] = POINTS) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a manifest of this level."""
    generated = model(points).model_json_schema(by_alias=True, schema_generator=GenerateJsonSchema)
    closed = _closed(generated)
    about = {"$schema": DIALECT, "title": "Talekeeper plugin manifest (plugin.toml)"}
    return {**about, **{key: it for key, it in closed.items() if key not in about}}


def generated_text(points: Mapping[str, Point] = POINTS) -> str:
    """The file as it is published."""
    return json.dumps(generated_schema(points), ensure_ascii=False, indent=2) + "\n"


def _closed(value: Any) -> Any:
    if is_array(value):
        return [_closed(it) for it in value]
    if not is_table(value):
        return value
    found = {key: _closed(it) for key, it in value.items() if not _is_noise(key, it, value)}
    if "patternProperties" in found:
        found["additionalProperties"] = False
    return _without_null(found)


def _is_noise(key: str, item: Any, schema: Mapping[str, Any]) -> bool:
    """Titles repeat the key in capitals, and a null default says only that the key may be absent."""
    is_schema = "type" in schema or "anyOf" in schema or "$ref" in schema
    return is_schema and ((key == "title" and isinstance(item, str)) or (key == "default" and item is None))


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    branches = schema.get("anyOf")
    if not is_array(branches):
        return schema
    kept = [it for it in branches if it != {"type": "null"}]
    rest = {key: it for key, it in schema.items() if key != "anyOf"}
    # What is written beside a single branch holds together with it.
    return {**kept[0], **rest} if len(kept) == 1 else {"anyOf": kept, **rest}
