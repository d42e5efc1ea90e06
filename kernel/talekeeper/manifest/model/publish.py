"""The published schema, made from the model of the manifest, and its page for readers.

pydantic's own export is looser than pydantic: tables of named tables stay open, and optional keys accept null, which
TOML does not have. Both are closed here, so that an editor and the host give the same verdict.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from talekeeper.json_schema import DIALECT
from talekeeper.manifest.limits import LEVEL
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


_SCHEMA = f"v{LEVEL}/plugin.schema.json"
_INTRODUCTION = f"""# plugin.toml, key by key

Generated from the model that the host itself uses, like [`{_SCHEMA}`]({_SCHEMA}).
What a schema cannot say is in the [list of diagnostics](../docs/reference/diagnostics.md); the
[manifest reference](../docs/reference/manifest.md) explains the tables with an example.
"""


def reference_text(schema: Mapping[str, Any]) -> str:
    """The page of a published schema."""
    return "\n".join([_INTRODUCTION, *_tables(schema)])


def _tables(schema: Mapping[str, Any]) -> Iterator[str]:
    definitions: Mapping[str, Any] = schema["$defs"]
    yield from _section("[plugin]", definitions["Plugin"])
    for point, table in definitions["Contributes"]["properties"].items():
        if "patternProperties" in table:
            header, entry = f"[contributes.{point}.<name>]", next(iter(table["patternProperties"].values()))
        else:
            header, entry = f"[[contributes.{point}]]", table["items"]
        inner = _definition(definitions, entry)
        yield from _section(header, inner)
        for key, value in inner["properties"].items():
            if "$ref" in value:
                yield from _section(f"{header} {key}", _definition(definitions, value))
    yield from _section("[permissions]", definitions["Permissions"])
    yield "## `[x]`\n\nFree notes, never read by the host.\n"


def _definition(definitions: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = definitions[value["$ref"].rsplit("/", 1)[-1]]
    return found


def _section(header: str, table: Mapping[str, Any]) -> Iterator[str]:
    yield f"## `{header}`\n\n{table['description']}\n"
    yield "| key | value | without it | meaning |\n| --- | --- | --- | --- |"
    needed = table.get("required", ())
    for key, value in table["properties"].items():
        absent = "an error" if key in needed else _default(value)
        yield f"| `{key}` | {_kind(value)} | {absent} | {value.get('description', '')} |"
    yield ""


def _default(value: Mapping[str, Any]) -> str:
    default = value.get("default")
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, str):
        return f'`"{default}"`'
    if is_array(default):
        return f"`{default}`"
    return "" if default is None else f"`{default:g}`"


def _kind(value: Mapping[str, Any]) -> str:
    if "anyOf" in value:
        return " or ".join(_kind(it) for it in value["anyOf"])
    if "enum" in value:
        return " · ".join(f'`"{it}"`' for it in value["enum"])
    if "$ref" in value:
        return "table"
    if value["type"] == "array":
        return f"list of {_kind(value['items'])}"
    return f"{_WORDS[value['type']]}{_bounds(value)}"


def _bounds(value: Mapping[str, Any]) -> str:
    if value["type"] == "string":
        return f" of at most {value['maxLength']:,} characters" if "maxLength" in value else ""
    low, high = value.get("minimum"), value.get("maximum")
    if low is not None and high is not None:
        return f" from {low:,} to {high:,}"
    above = value.get("exclusiveMinimum")
    return f" above {above:g}, at most {high:g}" if above is not None and high is not None else ""


_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
