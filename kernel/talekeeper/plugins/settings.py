"""A plugin's declared settings: their rows (home < workspace < session), their kinds and their checks."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from talekeeper.db import MAX_INTEGER, Tx, stored
from talekeeper.errors import NotFound, ParameterError
from talekeeper.manifest import PluginManifest
from talekeeper.plugin_types import FrozenDict, freeze


def resolved(manifest: PluginManifest, tx: Tx, workspace: str = "", session: str = "") -> FrozenDict:
    """Every declared setting with its value in a scope; a stored value that no longer fits gives way to the default."""
    rows = _stored(tx, manifest.id, workspace, session)
    values: dict[str, Any] = {}
    for entry in manifest.contributes.get("settings", ()):
        name = str(entry["key"])
        values[name] = rows[name] if name in rows and not _misfit(entry, rows[name]) else entry.get("default")
    return FrozenDict(freeze(values))


def store(
    tx: Tx, manifest: PluginManifest, name: str, value: Any, at: str, *, workspace: str = "", session: str = ""
) -> None:
    """Writes a setting in one scope; raises NotFound for an undeclared one, ParameterError for a misfit."""
    entry = declared(manifest, name)
    fault = _misfit(entry, value)
    if fault:
        raise ParameterError(name, fault)
    tx.run(
        "INSERT INTO plugin_setting (workspace, session, plugin, name, value, changed) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, session, plugin, name)"
        " DO UPDATE SET value = excluded.value, changed = excluded.changed",
        (workspace, session, manifest.id, name, json.dumps(value, ensure_ascii=False), at),
    )


def clear(tx: Tx, manifest: PluginManifest, name: str, *, workspace: str = "", session: str = "") -> None:
    """Takes a scope's value away, so that the wider scope's, or the default, counts again."""
    tx.run(
        "DELETE FROM plugin_setting WHERE workspace = ? AND session = ? AND plugin = ? AND name = ?",
        (workspace, session, manifest.id, name),
    )


def declared(manifest: PluginManifest, name: str) -> Mapping[str, Any]:
    """The manifest's table of one setting; raises NotFound with the names there are."""
    for entry in manifest.contributes.get("settings", ()):
        if entry["key"] == name:
            return entry
    names = ", ".join(sorted(str(entry["key"]) for entry in manifest.contributes.get("settings", ())))
    raise NotFound(f"plugin {manifest.id!r} has no setting {name!r}", cure=f"it has {names or 'none'}")


def _stored(tx: Tx, plugin: str, workspace: str, session: str) -> dict[str, Any]:
    rows = tx.rows(
        "SELECT name, value FROM plugin_setting"
        " WHERE plugin = ? AND ((workspace = '' AND session = '') OR (workspace = ? AND session IN ('', ?)))"
        " ORDER BY workspace <> '', session <> ''",
        (plugin, workspace, session),
    )
    return {name: stored(value) for name, value in rows}


def _misfit(entry: Mapping[str, Any], value: Any) -> str:
    """Why `value` is none of this setting's; empty when it is."""
    kind = entry["type"]
    if not _is(kind, value):
        return f"it is {kind}, {json.dumps(value, ensure_ascii=False, default=str)[:80]} is not"
    choices = entry.get("choices")
    if choices and value not in choices:
        return f"it is one of {', '.join(map(str, choices))}"
    if kind in {"integer", "number"}:
        least, most = entry.get("min"), entry.get("max")
        if (least is not None and value < least) or (most is not None and value > most):
            return f"it lies between {_bound(least)} and {_bound(most)}"
    return ""


def _is(kind: str, value: Any) -> bool:
    if isinstance(value, bool):
        return bool(kind == "boolean")
    if isinstance(value, int):
        return kind in {"integer", "number"} and abs(value) <= MAX_INTEGER
    if isinstance(value, float):
        return kind == "number" and math.isfinite(value)
    return kind == "string" and isinstance(value, str)


def _bound(limit: float | None) -> str:
    return "any" if limit is None else f"{limit:g}"
