"""Long work that is due: remembered in the store, so that a process that dies leaves it to the next.

`reindex` brings one namespace of a workspace to a changed search table, `delete` takes away the rows of a deleted
session or workspace. `StoryIndex.maintain` does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

from talekeeper.db import Tx
from talekeeper.story.core import Core

Kind = Literal["reindex", "delete"]

_AT_ONCE = 2_000  # rows deleted in a transaction
# The primary keys of the tables with a session's rows, children before their parents.
_OF_SESSION = {
    "usage": ("workspace", "session", "seq"),
    "use": ("workspace", "session", "plugin", "namespace", "key", "branch", "depth"),
    "decision": ("workspace", "session", "id"),
    "message_text": ("workspace", "session", "message", "revision"),
    "message": ("workspace", "session", "id"),
    "job": ("workspace", "session", "id"),
    "lineage": ("workspace", "session", "branch"),
    "record": ("workspace", "preset", "session", "plugin", "namespace", "key", "revision"),
    "tally": ("workspace", "preset", "session", "plugin", "namespace"),
    "branch": ("workspace", "session", "id"),
}
_OF_WORKSPACE = {
    "record": _OF_SESSION["record"],
    "tally": _OF_SESSION["tally"],
    "declared": ("workspace", "plugin", "namespace"),
}


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


def is_due(tx: Tx) -> bool:
    """Whether any process left a task, or removed words that must still be wiped out of the index."""
    sql = "SELECT 1 WHERE EXISTS (SELECT 1 FROM upkeep) OR EXISTS (SELECT 1 FROM part WHERE purge = 1)"
    return tx.one(sql) is not None


def sweep(core: Core, task: Task) -> None:
    """Does a `delete` task; it may be stopped anywhere and started again."""
    (_sweep_session if task.session else _sweep_workspace)(core, task)


def _sweep_session(core: Core, task: Task) -> None:
    place = (task.workspace, task.session)
    core.db.write(partial(_drop_part, core, task.workspace, task.session, ""), name="drop an index")
    for table, key in _OF_SESSION.items():
        _empty(core, table, key, "workspace = ? AND session = ?", place)

    def end(tx: Tx) -> None:
        tx.run("DELETE FROM session WHERE workspace = ? AND id = ?", place)
        done(tx, task)

    core.db.write(end, name="delete a session")


def _sweep_workspace(core: Core, task: Task) -> None:
    workspace = (task.workspace,)
    for other in core.db.read(due):
        if other.workspace == task.workspace and other.kind == "delete" and other.session:
            _sweep_session(core, other)
    presets = core.db.read(
        lambda tx: tx.rows("SELECT DISTINCT preset FROM tally WHERE workspace = ? AND session = ''", workspace)
    )
    for (preset,) in presets:
        core.db.write(partial(_drop_part, core, task.workspace, "", preset), name="drop an index")
    for table, key in _OF_WORKSPACE.items():
        _empty(core, table, key, "workspace = ?", workspace)

    def end(tx: Tx) -> None:
        tx.run("DELETE FROM upkeep WHERE workspace = ?", workspace)
        tx.run("DELETE FROM workspace WHERE workspace = ?", workspace)

    core.db.write(end, name="delete a workspace")


def _drop_part(core: Core, workspace: str, session: str, preset: str, tx: Tx) -> None:
    part = core.index.find_part(tx, workspace, session, preset)
    if part is not None:
        core.index.drop_part(tx, part)


def _empty(core: Core, table: str, key: tuple[str, ...], where: str, params: tuple[str, ...]) -> None:
    """Deletes rows in batches, cut by the primary key, which every engine has, and not by a row number."""
    columns = ", ".join(key)
    sql = f"DELETE FROM {table} WHERE ({columns}) IN (SELECT {columns} FROM {table} WHERE {where} LIMIT {_AT_ONCE})"
    while core.db.write(lambda tx: tx.run(sql, params), name="delete rows"):
        pass
