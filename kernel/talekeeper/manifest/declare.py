"""A manifest that holds → the frozen values that the rooms above work with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from talekeeper.config import Table
from talekeeper.manifest import schema_file
from talekeeper.manifest.declared import Namespace, PluginManifest, SearchTable
from talekeeper.manifest.package import Package
from talekeeper.manifest.plain import filled
from talekeeper.manifest.points import POINTS, Point
from talekeeper.text import is_array


def declare(
    data: Mapping[str, Any], package: Package, root: Path, points: Mapping[str, Point] = POINTS
) -> PluginManifest:
    """The values of a manifest that has no error and no unknown key."""
    whole = filled(data, points)
    plugin, contributes = whole["plugin"], whole.get("contributes", {})
    tables = {name: Table(it) for name, it in contributes.get("data", {}).items()}
    return PluginManifest(
        id=plugin["id"],
        version=plugin["version"],
        api=plugin["api"],
        summary=plugin.get("summary", ""),
        module=plugin.get("module"),
        requires=tuple(plugin["requires"]),
        optional=tuple(plugin["optional"]),
        requires_host=plugin.get("requires-host"),
        data=tuple(_namespace(plugin["id"], name, it, package, root) for name, it in tables.items()),
        contributes={
            name: tuple(_entry(it, points[name], package) for it in entries)
            for name, entries in contributes.items()
            if is_array(entries)
        },
        permissions={key: tuple(it) for key, it in whole.get("permissions", {}).items()},
        root=root,
    )


def _namespace(plugin: str, name: str, table: Table, package: Package, root: Path) -> Namespace:
    raw = table.raw
    seed = package.matching(raw["seed"]) if "seed" in raw else []
    return Namespace(
        plugin=plugin,
        name=name,
        version=raw["version"],
        schema=schema_file.load(package, table, "schema").schema or {},
        scope=raw["scope"],
        append_only=raw["append-only"],
        limit=raw.get("limit"),
        on_limit=raw["on-limit"],
        seed=tuple(root / it for it in seed),
        search=_search(raw["search"]) if "search" in raw else None,
    )


def _search(raw: Mapping[str, Any]) -> SearchTable:
    text = raw["text"]
    given: dict[str, Any] = {**raw, "text": (text,) if isinstance(text, str) else tuple(text)}
    return SearchTable(**given)


def _entry(raw: Mapping[str, Any], point: Point, package: Package) -> Mapping[str, Any]:
    if point.schema_key not in raw:
        return raw
    return {**raw, point.schema_key: schema_file.load(package, Table(raw), point.schema_key).schema}
