"""Which properties of each namespace are indexed in a workspace, as the index stands and not as a manifest says.

Every write of a record is indexed by this table. A manifest that changed is declared once; from then on the new table
counts, and `upkeep` brings the passages written before to it.
"""

from __future__ import annotations

from typing import Any

from talekeeper.db import Tx, dumps, stored
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.story import upkeep
from talekeeper.story.core import Core

_INDEXED = ("text", "title", "speaker", "time", "tags", "when")
"""The entries of a search table that change what is indexed; the rest is read when a question is asked."""


def search_table(tx: Tx, workspace: str, namespace: Namespace) -> SearchTable | None:
    """What the namespace is indexed by; the first to write to it declares it."""
    document = _declared(tx, workspace, namespace)
    if document is not None:
        return _parse(document)
    _write(tx, workspace, namespace)
    return namespace.search


def is_declared(tx: Tx, workspace: str, namespace: Namespace) -> bool:
    """Whether the manifest's table is the one that counts already."""
    return _declared(tx, workspace, namespace) == _document(namespace.search)


def declare(core: Core, tx: Tx, workspace: str, namespace: Namespace) -> bool:
    """Makes the manifest's table the one that counts; True when stored records are to be indexed anew."""
    if is_declared(tx, workspace, namespace):
        return False
    _write(tx, workspace, namespace)
    stored = tx.one(
        "SELECT 1 FROM tally WHERE workspace = ? AND plugin = ? AND namespace = ? LIMIT 1",
        (workspace, namespace.plugin, namespace.name),
    )
    if stored is None:
        return False
    upkeep.mark(core, tx, upkeep.Task("reindex", workspace, plugin=namespace.plugin, namespace=namespace.name))
    return True


def tables(tx: Tx, workspace: str) -> dict[tuple[str, str], SearchTable]:
    """Every searched namespace of the workspace, by plugin and name."""
    rows = tx.rows("SELECT plugin, namespace, search FROM declared WHERE workspace = ? AND search <> ''", (workspace,))
    return {(plugin, name): table for plugin, name, text in rows if (table := _parse(text))}


def _declared(tx: Tx, workspace: str, namespace: Namespace) -> str | None:
    row = tx.one(
        "SELECT search FROM declared WHERE workspace = ? AND plugin = ? AND namespace = ?",
        (workspace, namespace.plugin, namespace.name),
    )
    return None if row is None else str(row[0])


def _write(tx: Tx, workspace: str, namespace: Namespace) -> None:
    tx.run(
        "INSERT INTO declared(workspace, plugin, namespace, search) VALUES (?, ?, ?, ?) "
        "ON CONFLICT(workspace, plugin, namespace) DO UPDATE SET search = excluded.search",
        (workspace, namespace.plugin, namespace.name, _document(namespace.search)),
    )


def _document(table: SearchTable | None) -> str:
    if table is None:
        return ""
    return dumps({name: getattr(table, name) for name in _INDEXED}, "search")


def _parse(document: str) -> SearchTable | None:
    if not document:
        return None
    entries: dict[str, Any] = stored(document)
    entries["text"] = tuple(entries["text"])
    return SearchTable(**entries)
