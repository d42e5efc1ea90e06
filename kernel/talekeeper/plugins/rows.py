"""What the home's database keeps about plugins: which are on, their settings, why code did not load, data versions.

A row belongs to the home, a workspace or a session; the narrowest row that exists counts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from talekeeper.db import Tx, stored
from talekeeper.errors import NotFound, ParameterError
from talekeeper.manifest import Namespace, PluginManifest
from talekeeper.plugins.resolver import Plugin
from talekeeper.text import EXACT_INTEGER, FrozenDict, freeze

# Rows of the home, of a workspace and of one of its sessions, the narrowest last.
_IN_SCOPE = (
    "((workspace = '' AND session = '') OR (workspace = ? AND session IN ('', ?)))"
    " ORDER BY workspace <> '', session <> ''"
)


def enabled(tx: Tx, workspace: str = "", session: str = "") -> dict[str, bool]:
    """What the rows say for a scope; a plugin without a row is absent."""
    rows = tx.rows(f"SELECT plugin, enabled FROM plugin_switch WHERE {_IN_SCOPE}", (workspace, session))  # noqa: S608 -- a constant
    return {plugin: bool(on) for plugin, on in rows}


def enable(tx: Tx, plugin: str, *, on: bool, at: str, workspace: str = "", session: str = "") -> None:
    """Writes the row of one scope."""
    tx.run(
        "INSERT INTO plugin_switch (workspace, session, plugin, enabled, changed) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, session, plugin)"
        " DO UPDATE SET enabled = excluded.enabled, changed = excluded.changed",
        (workspace, session, plugin, int(on), at),
    )


def is_begun(tx: Tx) -> bool:
    """Whether any plugin was ever enabled or disabled in the home: a new one has no row."""
    return tx.one("SELECT 1 FROM plugin_switch WHERE workspace = '' AND session = ''") is not None


def enable_in_new_home(tx: Tx, plugins: Iterable[str], at: str) -> None:
    """Changes nothing in a home where anything was decided before."""
    if not is_begun(tx):
        for plugin in plugins:
            enable(tx, plugin, on=True, at=at)


def settings(tx: Tx, manifest: PluginManifest, workspace: str = "", session: str = "") -> FrozenDict:
    """Every declared setting with its value in a scope; a stored value that no longer fits gives way to the default."""
    rows = tx.rows(
        f"SELECT name, value FROM plugin_setting WHERE plugin = ? AND {_IN_SCOPE}",  # noqa: S608 -- a constant
        (manifest.id, workspace, session),
    )
    kept = {name: stored(value) for name, value in rows}
    values: dict[str, Any] = {}
    for entry in manifest.contributes.get("settings", ()):
        name = str(entry["key"])
        values[name] = kept[name] if name in kept and not _misfit(entry, kept[name]) else entry.get("default")
    return FrozenDict(freeze(values))


def store_setting(
    tx: Tx, manifest: PluginManifest, name: str, value: Any, at: str, *, workspace: str = "", session: str = ""
) -> None:
    """Writes a setting in one scope, or with None removes it there.

    Raises NotFound for an undeclared setting and ParameterError for a value that does not fit.
    """
    entry = setting_entry(manifest, name)
    if value is None:
        tx.run(
            "DELETE FROM plugin_setting WHERE workspace = ? AND session = ? AND plugin = ? AND name = ?",
            (workspace, session, manifest.id, name),
        )
        return
    if fault := _misfit(entry, value):
        raise ParameterError(name, fault)
    tx.run(
        "INSERT INTO plugin_setting (workspace, session, plugin, name, value, changed) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, session, plugin, name)"
        " DO UPDATE SET value = excluded.value, changed = excluded.changed",
        (workspace, session, manifest.id, name, json.dumps(value, ensure_ascii=False), at),
    )


def setting_entry(manifest: PluginManifest, name: str) -> Mapping[str, Any]:
    """The manifest's table of one setting; raises NotFound with the names there are."""
    entries = {str(entry["key"]): entry for entry in manifest.contributes.get("settings", ())}
    if name not in entries:
        cure = f"it has {', '.join(sorted(entries)) or 'none'}"
        raise NotFound(f"plugin {manifest.id!r} has no setting {name!r}", cure=cure)
    return entries[name]


def stamp(plugin: Plugin) -> str:
    """Changes when the plugin's version or any of its Python files does."""
    root = plugin.declared.root
    changed = [path.stat().st_mtime_ns for path in root.rglob("*.py")] if root != Path() else []
    return f"{plugin.declared.version} {len(changed)} {max(changed, default=0)}"


def faults(tx: Tx) -> dict[str, tuple[str, str]]:
    """(stamp, reason) by plugin, of those whose code did not load: a later process need not try again."""
    rows = tx.rows("SELECT plugin, stamp, reason FROM plugin_fault WHERE workspace = ''")
    return {plugin: (at, reason) for plugin, at, reason in rows}


def store_fault(tx: Tx, plugin: str, at: str, reason: str, now: str) -> None:
    """Notes why the plugin with the stamp `at` did not load."""
    tx.run(
        "INSERT INTO plugin_fault (workspace, plugin, stamp, reason, changed) VALUES ('', ?, ?, ?, ?)"
        " ON CONFLICT (workspace, plugin) DO UPDATE"
        " SET stamp = excluded.stamp, reason = excluded.reason, changed = excluded.changed",
        (plugin, at, reason, now),
    )


def clear_fault(tx: Tx, plugin: str) -> None:
    """Forgets the note: the code loaded, or a person enabled the plugin again."""
    tx.run("DELETE FROM plugin_fault WHERE workspace = '' AND plugin = ?", (plugin,))


def versions(tx: Tx, workspace: str) -> dict[tuple[str, str], int]:
    """The schema version of stored records by (plugin, namespace), for each namespace ever active in the workspace."""
    rows = tx.rows("SELECT plugin, namespace, version FROM plugin_namespace WHERE workspace = ?", (workspace,))
    return {(plugin, name): version for plugin, name, version in rows}


def store_version(tx: Tx, workspace: str, namespace: Namespace) -> None:
    """Notes that the records are at the manifest's version."""
    tx.run(
        "INSERT INTO plugin_namespace (workspace, plugin, namespace, version) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (workspace, plugin, namespace) DO UPDATE SET version = excluded.version",
        (workspace, namespace.plugin, namespace.name, namespace.version),
    )


def _misfit(entry: Mapping[str, Any], value: Any) -> str:
    """Why a setting cannot have this value; empty when it can."""
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
        return kind in {"integer", "number"} and abs(value) <= EXACT_INTEGER
    if isinstance(value, float):
        return kind == "number" and math.isfinite(value)
    return kind == "string" and isinstance(value, str)


def _bound(limit: float | None) -> str:
    return "any" if limit is None else f"{limit:g}"
