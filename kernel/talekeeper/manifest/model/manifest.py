"""The model of a whole manifest, put together from the contribution points, and the schema generated from it.

The model says what a JSON schema can say; everything else is a rule. pydantic's own export is looser than pydantic:
tables of named tables stay open, and optional keys accept null, which TOML does not have. Both are closed here, so that
an editor and the host give the same verdict.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from talekeeper.json_schema import DIALECT
from talekeeper.manifest.model.entries import (
    SHAPES,
    WHOLE,
    Entry,
    FilePath,
    HostName,
    Line,
    LocalName,
    ModuleName,
    PluginId,
    ReadTarget,
)
from talekeeper.manifest.rules.contributions import POINTS
from talekeeper.manifest.rules.point import Point
from talekeeper.text import is_array, is_table

_SWITCH = "PYDANTIC_DISABLE_PLUGINS"


class Plugin(Entry):
    """Who the plugin is."""

    id: Annotated[PluginId, Field(description="Equals the entry point's name or the folder's name.")]
    version: Annotated[Line, Field(description="The plugin's version (PEP 440), such as 0.1.0.")]
    api: Annotated[int, Field(ge=1, le=1000, description="The manifest level it is written for."), WHOLE]
    requires_host: Annotated[
        Line | None, Field(description="The Talekeeper versions it works with (PEP 440), such as >=0.1,<1.")
    ] = None
    summary: Annotated[Line | None, Field(description="One line for people who choose plugins.")] = None
    module: Annotated[
        ModuleName | None, Field(description="The module inside the package that registers code. Absent: data only.")
    ] = None
    requires: list[PluginId] = Field(default=[], max_length=100, description="Plugins that must be active.")
    optional: list[PluginId] = Field(default=[], max_length=100, description="Plugins used when present.")


class Permissions(Entry):
    """Declared intent, enforced at the kernel's own doors."""

    read: list[ReadTarget] = Field(
        default=[], max_length=200, description="Other plugins' namespaces, as plugin/namespace."
    )
    models: list[LocalName] = Field(default=[], max_length=50, description="Model slots.")
    files: list[FilePath] = Field(
        default=[], max_length=200, description="Paths and patterns inside the workspace folder."
    )
    http: list[HostName] = Field(default=[], max_length=200, description="Hosts.")


@lru_cache(maxsize=8)
def _model(points: tuple[Point, ...]) -> type[BaseModel]:
    shapes = {it.name: it.shape() if it.shape else SHAPES[it.name] for it in points}
    fields: Any = {it.name: (Annotated[shapes[it.name] | None, Field(description=it.about)], None) for it in points}
    contributes = create_model("Contributes", __base__=Entry, __doc__="What the plugin adds.", **fields)
    tables: Any = {
        "plugin": (Annotated[Plugin, Field(description="Who the plugin is.")], ...),
        "contributes": (Annotated[contributes | None, Field(description="What the plugin adds.")], None),
        "permissions": (Annotated[Permissions | None, Field(description="What its code may use.")], None),
        "x": (Annotated[dict[str, Any] | None, Field(description="Free notes, never read by the host.")], None),
    }
    about = "The manifest of a Talekeeper plugin, plugin.toml."
    made = create_model("Manifest", __base__=Entry, __doc__=about, **tables)
    # pydantic would look for plugins of its own in the entry points of the whole environment, where one malformed file
    # makes it raise.
    before = os.environ.get(_SWITCH)
    os.environ[_SWITCH] = "__all__"
    try:
        made.model_rebuild()
    finally:
        del os.environ[_SWITCH]
        if before is not None:
            os.environ[_SWITCH] = before
    return made


def model(points: Mapping[str, Point] = POINTS) -> type[BaseModel]:
    """The model for a set of contribution points; built once for each set."""
    return _model(tuple(points.values()))


def generated_schema(points: Mapping[str, Point] = POINTS) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a manifest of this level."""
    closed = _closed(model(points).model_json_schema())
    about = {"$schema": DIALECT, "title": "Talekeeper plugin manifest (plugin.toml)"}
    return {**about, **{key: it for key, it in closed.items() if key not in about}}


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
