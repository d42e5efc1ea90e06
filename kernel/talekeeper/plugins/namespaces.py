"""How far a workspace's stored records of a namespace have been brought: their version and their search table."""

from __future__ import annotations

from dataclasses import dataclass

from talekeeper.db import Tx
from talekeeper.manifest.declared import Namespace


@dataclass(frozen=True, slots=True)
class Stored:
    """The row of a namespace; one without a row has neither records nor an index yet."""

    version: int
    fingerprint: str


def stored(tx: Tx, workspace: str) -> dict[tuple[str, str], Stored]:
    """Every namespace ever active in the workspace, by (plugin, namespace)."""
    rows = tx.rows(
        "SELECT plugin, namespace, version, fingerprint FROM plugin_namespace WHERE workspace = ?", (workspace,)
    )
    return {(plugin, name): Stored(version, fingerprint) for plugin, name, version, fingerprint in rows}


def store(tx: Tx, workspace: str, namespace: Namespace) -> None:
    """Notes that the records are at the manifest's version and search table."""
    tx.run(
        "INSERT INTO plugin_namespace (workspace, plugin, namespace, version, fingerprint) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, plugin, namespace)"
        " DO UPDATE SET version = excluded.version, fingerprint = excluded.fingerprint",
        (workspace, namespace.plugin, namespace.name, namespace.version, fingerprint(namespace)),
    )


def fingerprint(namespace: Namespace) -> str:
    """That of the search table; empty for a namespace that is not searched."""
    return namespace.search.fingerprint() if namespace.search else ""
