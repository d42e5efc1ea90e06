"""Long work that is due: remembered in the store, so that a process that dies leaves it to the next.

`reindex` brings one namespace of a workspace to a changed search table, `delete` takes away the rows of a deleted
session or workspace. `maintenance` does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from talekeeper.db import Tx
from talekeeper.story.core import Core

Kind = Literal["reindex", "delete"]


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of due work; the parts a kind of task does not need are empty."""

    kind: Kind
    workspace: str
    session: str = ""
    plugin: str = ""
    namespace: str = ""

    @property
    def params(self) -> tuple[str, str, str, str, str]:
        """The values of the table's key."""
        return self.workspace, self.kind, self.session, self.plugin, self.namespace


def mark(core: Core, tx: Tx, task: Task) -> None:
    """Makes the task due; marking it twice is once."""
    tx.run(
        "INSERT INTO upkeep(workspace, task, session, plugin, namespace, since) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (*task.params, core.now()),
    )


def done(tx: Tx, task: Task) -> None:
    """Takes the task off the list."""
    tx.run(
        "DELETE FROM upkeep WHERE workspace = ? AND task = ? AND session = ? AND plugin = ? AND namespace = ?",
        task.params,
    )


def due(tx: Tx) -> list[Task]:
    """What is to be done in the whole home, the longest due first."""
    rows = tx.rows("SELECT task, workspace, session, plugin, namespace FROM upkeep ORDER BY since, workspace, task")
    return [Task(*row) for row in rows]
