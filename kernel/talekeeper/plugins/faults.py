"""Rows about plugins whose code did not load, so that the next process can say so without trying."""

from __future__ import annotations

from pathlib import Path

from talekeeper.db import Tx
from talekeeper.plugins.states import Plugin


def stamp(plugin: Plugin) -> str:
    """Changes when the plugin's version or any of its Python files does."""
    root = plugin.declared.root
    changed = [path.stat().st_mtime_ns for path in root.rglob("*.py")] if root != Path() else []
    return f"{plugin.declared.version} {len(changed)} {max(changed, default=0)}"


def recorded(tx: Tx) -> dict[str, tuple[str, str]]:
    """(stamp, reason) by plugin."""
    rows = tx.rows("SELECT plugin, stamp, reason FROM plugin_fault WHERE workspace = ''")
    return {plugin: (at, reason) for plugin, at, reason in rows}


def record(tx: Tx, plugin: str, at: str, reason: str, now: str) -> None:
    """Notes why the plugin with this stamp did not load."""
    tx.run(
        "INSERT INTO plugin_fault (workspace, plugin, stamp, reason, changed) VALUES ('', ?, ?, ?, ?)"
        " ON CONFLICT (workspace, plugin) DO UPDATE"
        " SET stamp = excluded.stamp, reason = excluded.reason, changed = excluded.changed",
        (plugin, at, reason, now),
    )


def clear(tx: Tx, plugin: str) -> None:
    """Forgets the note: the code loaded, or a person enabled the plugin again."""
    tx.run("DELETE FROM plugin_fault WHERE workspace = '' AND plugin = ?", (plugin,))
