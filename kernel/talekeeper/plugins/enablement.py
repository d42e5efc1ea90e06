"""Rows that say which plugins are on: home < workspace < session, the narrowest row counts."""

from __future__ import annotations

from collections.abc import Iterable

from talekeeper.db import Tx


def enabled(tx: Tx, workspace: str = "", session: str = "") -> dict[str, bool]:
    """What the rows say for a scope; a plugin without a row is absent."""
    rows = tx.rows(
        "SELECT plugin, enabled FROM plugin_switch"
        " WHERE (workspace = '' AND session = '') OR (workspace = ? AND session IN ('', ?))"
        " ORDER BY workspace <> '', session <> ''",
        (workspace, session),
    )
    return {plugin: bool(on) for plugin, on in rows}


def switch(tx: Tx, plugin: str, *, on: bool, at: str, workspace: str = "", session: str = "") -> None:
    """Writes the row of one scope."""
    tx.run(
        "INSERT INTO plugin_switch (workspace, session, plugin, enabled, changed) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, session, plugin)"
        " DO UPDATE SET enabled = excluded.enabled, changed = excluded.changed",
        (workspace, session, plugin, int(on), at),
    )


def begun(tx: Tx) -> bool:
    """Whether the home has any row: a new one has none."""
    return tx.one("SELECT 1 FROM plugin_switch WHERE workspace = '' AND session = ''") is not None


def enable_bundled(tx: Tx, plugins: Iterable[str], at: str) -> None:
    """Enables the bundled plugins in a new home; what a person decided since stays."""
    if not begun(tx):
        for plugin in plugins:
            switch(tx, plugin, on=True, at=at)
