"""Deleting sessions and workspaces: gone at once for everybody, their rows taken away in short transactions."""

from __future__ import annotations

from functools import partial

from talekeeper.db import Tx
from talekeeper.story import sessions, upkeep
from talekeeper.story.core import Core
from talekeeper.story.upkeep import Task
from talekeeper.story.views import Address

_AT_ONCE = 2_000  # rows deleted in a transaction
# Children before their parents.
_OF_SESSION = ("usage", "use", "decision", "message_text", "message", "job", "lineage", "record", "tally", "branch")
_OF_WORKSPACE = ("record", "tally", "declared")


def delete_session(core: Core, tx: Tx, address: Address) -> None:
    """Hides the session and makes the taking away of its rows due; raises `NotFound`."""
    sessions.mark_deleting(core, tx, address)
    upkeep.mark(core, tx, Task("delete", address.workspace, session=address.session))


def delete_workspace(core: Core, tx: Tx, name: str) -> None:
    """The same for a workspace with all its sessions and records."""
    sessions.workspace(tx, name)
    for session in sessions.sessions(tx, name):
        delete_session(core, tx, session.address)
    take_away(core, tx, name)
    tx.run("UPDATE workspace SET deleting = 1 WHERE workspace = ?", (name,))
    upkeep.mark(core, tx, Task("delete", name))


def unfinished(tx: Tx, workspace: str) -> list[str]:
    """Sessions that are hidden while nothing says they are to go: an import makes them, or has been killed at it."""
    rows = tx.rows(
        "SELECT s.id FROM session s WHERE s.workspace = ? AND s.deleting = 1 AND NOT EXISTS (SELECT 1 FROM upkeep u "
        "WHERE u.workspace = s.workspace AND u.task = 'delete' AND u.session = s.id) ORDER BY s.id",
        (workspace,),
    )
    return [row[0] for row in rows]


def take_away(core: Core, tx: Tx, workspace: str) -> None:
    """Makes the taking away of a workspace's unfinished sessions due."""
    for session in unfinished(tx, workspace):
        upkeep.mark(core, tx, Task("delete", workspace, session=session))


def sweep(core: Core, task: Task) -> None:
    """Does a `delete` task; it may be stopped anywhere and begun again."""
    if task.session:
        _sweep_session(core, task)
    else:
        _sweep_workspace(core, task)


def _sweep_session(core: Core, task: Task) -> None:
    place = (task.workspace, task.session)
    core.db.write(partial(_drop_part, core, task.workspace, task.session, ""), name="drop an index")
    for table in _OF_SESSION:
        _empty(core, f"{table} WHERE workspace = ? AND session = ?", place)

    def end(tx: Tx) -> None:
        tx.run("DELETE FROM session WHERE workspace = ? AND id = ?", place)
        upkeep.done(tx, task)

    core.db.write(end, name="delete a session")


def _sweep_workspace(core: Core, task: Task) -> None:
    workspace = (task.workspace,)
    for other in core.db.read(upkeep.due):
        if other.workspace == task.workspace and other.kind == "delete" and other.session:
            _sweep_session(core, other)
    presets = core.db.read(
        lambda tx: tx.rows("SELECT DISTINCT preset FROM tally WHERE workspace = ? AND session = ''", workspace)
    )
    for (preset,) in presets:
        core.db.write(partial(_drop_part, core, task.workspace, "", preset), name="drop an index")
    for table in _OF_WORKSPACE:
        _empty(core, f"{table} WHERE workspace = ?", workspace)

    def end(tx: Tx) -> None:
        tx.run("DELETE FROM upkeep WHERE workspace = ?", workspace)
        tx.run("DELETE FROM workspace WHERE workspace = ?", workspace)

    core.db.write(end, name="delete a workspace")


def _drop_part(core: Core, workspace: str, session: str, preset: str, tx: Tx) -> None:
    part = core.index.find_part(tx, workspace, session, preset)
    if part is not None:
        core.index.drop_part(tx, part)


def _empty(core: Core, rows: str, params: tuple[str, ...]) -> None:
    """Deletes in batches what `rows` (a table and its condition) names.

    The batch is cut by the primary key's columns, which every engine has, and not by a row number.
    """
    table = rows.split(" ", 1)[0]
    key = ", ".join(_KEYS[table])
    sql = f"DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {rows} LIMIT {_AT_ONCE})"
    while core.db.write(lambda tx: tx.run(sql, params), name="delete rows"):
        pass


_KEYS = {
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
    "declared": ("workspace", "plugin", "namespace"),
}
