"""Workspaces and their sessions: making, finding, naming, setting and deleting them.

A deleted one is gone at once for everybody; `upkeep` takes its rows away in short transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from talekeeper.db import Tx, dumps
from talekeeper.errors import Conflict, NotFound
from talekeeper.story.checks import check_line, check_name, check_workspace
from talekeeper.story.core import Core
from talekeeper.story.messages import rows
from talekeeper.story.upkeep import Task, mark
from talekeeper.story.views import Address, Session, Workspace

_LOCAL = "local"


def is_owner(tx: Tx, address: Address) -> bool:
    """Whether the one who asks owns the session: asked in the transaction that reads what it protects, never cached.

    Whoever has the home owns the sessions of the local channel; a session of any other channel has no owner, since
    nothing vouches for who speaks there. A session that does not exist is not owned either.
    """
    row = tx.one(
        "SELECT channel FROM session WHERE workspace = ? AND id = ? AND deleting = 0",
        (address.workspace, address.session),
    )
    return row is not None and row[0] == _LOCAL


class Workspaces:
    """The workspaces of the home."""

    def __init__(self, core: Core, maintain: Callable[[], None]) -> None:
        self._core = core
        self._maintain = maintain

    def create(self, workspace: str, *, title: str = "", tx: Tx | None = None) -> Workspace:
        """Makes the workspace, or finds it as it is."""
        return self._core.write(lambda tx: _create_workspace(self._core, tx, workspace, title), tx, "make a workspace")

    def all(self, *, tx: Tx | None = None) -> list[Workspace]:
        """All of the home, by name."""
        return self._core.read(rows.workspaces, tx)

    def rename(self, workspace: str, title: str, *, tx: Tx | None = None) -> None:
        """Changes the title; the name is also a folder's and stays."""

        def rename(tx: Tx) -> None:
            sql = "UPDATE workspace SET title = ? WHERE workspace = ? AND deleting = 0"
            if not tx.run(sql, (check_line(title, "title"), workspace)):
                raise NotFound(f"there is no workspace {workspace!r}")

        self._core.write(rename, tx, "rename a workspace")

    def delete(self, workspace: str) -> None:
        """Deletes the workspace with all that is in it. If interrupted, the next `maintain` finishes it."""

        def delete(tx: Tx) -> None:
            rows.workspace(tx, workspace)
            for session in rows.sessions(tx, workspace):
                _delete_session(self._core, tx, session.address)
            self._delete_unfinished(tx, workspace)
            tx.run("UPDATE workspace SET deleting = 1 WHERE workspace = ?", (workspace,))
            mark(self._core, tx, Task("delete", workspace))

        self._core.db.write(delete, name="delete a workspace")
        self._maintain()

    def unfinished(self) -> list[str]:
        """Workspaces with a session that an import has begun and not completed; the import may still be running."""
        return self._core.db.read(lambda tx: [one.id for one in rows.workspaces(tx) if _unfinished(tx, one.id)])

    def delete_unfinished(self, workspace: str) -> None:
        """Deletes the sessions that such imports left; the caller has made sure that no import is running."""
        if workspace in self.unfinished():
            self._core.db.write(
                lambda tx: self._delete_unfinished(tx, workspace), name="take away an unfinished session"
            )
        self._maintain()

    def _delete_unfinished(self, tx: Tx, workspace: str) -> None:
        for session in _unfinished(tx, workspace):
            mark(self._core, tx, Task("delete", workspace, session=session))


class Sessions:
    """The sessions of every workspace."""

    def __init__(self, core: Core, maintain: Callable[[], None]) -> None:
        self._core = core
        self._maintain = maintain

    def create(
        self,
        workspace: str,
        *,
        session_id: str | None = None,
        title: str = "",
        preset: str = "",
        channel: str = "local",
        locale: str = "en",
        plugins: Sequence[str] = (),
        tx: Tx | None = None,
    ) -> Session:
        """Makes an empty session and, when it is new, its workspace; raises `Conflict` when the id is taken."""
        address = Address(workspace, self._core.ids.new() if session_id is None else session_id)

        def create(tx: Tx) -> Session:
            _create_workspace(self._core, tx, workspace)
            values = (
                check_name(address.session, "session"),
                check_line(title, "title"),
                check_name(preset, "preset", empty=True),
                check_name(channel, "channel"),
                check_name(locale, "locale"),
                dumps(list(plugins), "plugins"),
            )
            now, place = self._core.now(), (address.workspace, address.session)
            made = tx.run(
                f"INSERT INTO session({rows.SESSION_COLUMNS}) "
                "VALUES (?, ?, ?, ?, '', ?, ?, ?, '{}', 0, -1, 0, 1, 0, ?, ?) ON CONFLICT DO NOTHING",
                (workspace, *values, now, now),
            )
            if not made:
                raise Conflict(f"there is already a session {address.session!r}", where=workspace)
            tx.run(
                "INSERT INTO branch(workspace, session, id, parent, fork_depth, name, created) "
                "VALUES (?, ?, 0, 0, -1, '', ?)",
                (*place, now),
            )
            tx.run("INSERT INTO lineage(workspace, session, branch, upto) VALUES (?, ?, 0, -1)", place)
            return rows.session(tx, address)

        return self._core.write(create, tx, "make a session")

    def get(self, address: Address, *, tx: Tx | None = None) -> Session:
        """Raises `NotFound`, also for a session that is being deleted."""
        return self._core.read(lambda tx: rows.session(tx, address), tx)

    def all(self, workspace: str, *, tx: Tx | None = None) -> list[Session]:
        """All of a workspace, the one used last first."""
        return self._core.read(lambda tx: rows.sessions(tx, workspace), tx)

    def rename(self, address: Address, title: str, *, tx: Tx | None = None) -> Session:
        """Changes the title; the id stays."""
        line = check_line(title, "title")
        return self._core.write(lambda tx: rows.update(self._core, tx, address, title=line), tx, "rename a session")

    def configure(
        self,
        address: Address,
        *,
        preset: str | None = None,
        locale: str | None = None,
        plugins: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        tx: Tx | None = None,
    ) -> Session:
        """Sets what is given and leaves the rest; `settings` replaces the whole of them."""
        given = {
            "preset": None if preset is None else check_name(preset, "preset", empty=True),
            "locale": None if locale is None else check_name(locale, "locale"),
            "plugins": None if plugins is None else dumps(list(plugins), "plugins"),
            "settings": None if settings is None else dumps(settings, "settings"),
        }
        columns = {name: value for name, value in given.items() if value is not None}
        return self._core.write(lambda tx: rows.update(self._core, tx, address, **columns), tx, "configure a session")

    def delete(self, address: Address) -> None:
        """Deletes the session with all that is in it. If interrupted, the next `maintain` finishes it."""
        self._core.db.write(lambda tx: _delete_session(self._core, tx, address), name="delete a session")
        self._maintain()


def _create_workspace(core: Core, tx: Tx, name: str, title: str = "") -> Workspace:
    tx.run(
        "INSERT INTO workspace(workspace, title, created) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (check_workspace(name), check_line(title or name, "title"), core.now()),
    )
    return rows.workspace(tx, name)


def _delete_session(core: Core, tx: Tx, address: Address) -> None:
    """Hides the session from everybody and makes the deletion of its rows due; raises `NotFound`."""
    rows.touch(core, tx, address, "deleting = 1", ())
    mark(core, tx, Task("delete", address.workspace, session=address.session))


def _unfinished(tx: Tx, workspace: str) -> list[str]:
    """Sessions that are hidden while no task deletes them: an import is making them, or was killed while it did."""
    found = tx.rows(
        "SELECT s.id FROM session s WHERE s.workspace = ? AND s.deleting = 1 AND NOT EXISTS (SELECT 1 FROM upkeep u "
        "WHERE u.workspace = s.workspace AND u.task = 'delete' AND u.session = s.id) ORDER BY s.id",
        (workspace,),
    )
    return [row[0] for row in found]
