"""Rows about plugins whose code did not load, so that the next process can say so without trying."""

from __future__ import annotations

from talekeeper.db import Tx


def recorded(tx: Tx) -> dict[tuple[str, str], str]:
    """Reasons by (plugin, version)."""
    return {
        (plugin, version): reason
        for plugin, version, reason in tx.rows("SELECT plugin, version, reason FROM plugin_fault WHERE workspace = ''")
    }


def record(tx: Tx, plugin: str, version: str, reason: str, at: str) -> None:
    """Notes why this version did not load."""
    tx.run(
        "INSERT INTO plugin_fault (workspace, plugin, version, reason, changed) VALUES ('', ?, ?, ?, ?)"
        " ON CONFLICT (workspace, plugin) DO UPDATE"
        " SET version = excluded.version, reason = excluded.reason, changed = excluded.changed",
        (plugin, version, reason, at),
    )


def clear(tx: Tx, plugin: str) -> None:
    """Forgets the note: the code loaded, or a person enabled the plugin again."""
    tx.run("DELETE FROM plugin_fault WHERE workspace = '' AND plugin = ?", (plugin,))
