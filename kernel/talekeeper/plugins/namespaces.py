"""How far a workspace's stored records of each namespace have been brought: the version of its manifest's schema."""

from __future__ import annotations

from talekeeper.db import Tx
from talekeeper.manifest import Namespace


def versions(tx: Tx, workspace: str) -> dict[tuple[str, str], int]:
    """Of every namespace ever active in the workspace, by (plugin, namespace); one without has no records yet."""
    rows = tx.rows("SELECT plugin, namespace, version FROM plugin_namespace WHERE workspace = ?", (workspace,))
    return {(plugin, name): version for plugin, name, version in rows}


def store(tx: Tx, workspace: str, namespace: Namespace) -> None:
    """Notes that the records are at the manifest's version."""
    tx.run(
        "INSERT INTO plugin_namespace (workspace, plugin, namespace, version) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (workspace, plugin, namespace) DO UPDATE SET version = excluded.version",
        (workspace, namespace.plugin, namespace.name, namespace.version),
    )
