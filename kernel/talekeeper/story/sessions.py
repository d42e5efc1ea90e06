"""Rows of workspaces and sessions: making, finding, naming, setting. Deleting is in `deletion`."""

from __future__ import annotations

from collections.abc import Sequence

from talekeeper.db import Row, Tx, dumps, stored
from talekeeper.errors import Conflict, NotFound
from talekeeper.story.core import Core
from talekeeper.story.names import check_line, check_name, check_workspace
from talekeeper.story.views import Address, Coordinate, Session, Workspace

_COLUMNS = (
    "workspace, id, title, preset, owner, channel, locale, plugins, settings, head_branch, head_depth, messages, "
    "branches, revision, created, updated"
)


def create_workspace(core: Core, tx: Tx, name: str, title: str = "") -> Workspace:
    """Makes the workspace, or finds it as it is."""
    tx.run(
        "INSERT INTO workspace(workspace, title, created) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (check_workspace(name), check_line(title or name, "title"), core.now()),
    )
    return workspace(tx, name)


def workspace(tx: Tx, name: str) -> Workspace:
    """Raises `NotFound`."""
    row = tx.one("SELECT workspace, title, created FROM workspace WHERE workspace = ? AND deleting = 0", (name,))
    if row is None:
        raise NotFound(f"there is no workspace {name!r}")
    return Workspace(*row)


def workspaces(tx: Tx) -> list[Workspace]:
    """All of the home, by name."""
    rows = tx.rows("SELECT workspace, title, created FROM workspace WHERE deleting = 0 ORDER BY workspace")
    return [Workspace(*row) for row in rows]


def rename_workspace(tx: Tx, name: str, title: str) -> None:
    """Changes the title; the name is a folder's and stays."""
    if not tx.run(
        "UPDATE workspace SET title = ? WHERE workspace = ? AND deleting = 0", (check_line(title, "title"), name)
    ):
        raise NotFound(f"there is no workspace {name!r}")


def create_session(
    core: Core,
    tx: Tx,
    address: Address,
    *,
    title: str = "",
    preset: str = "",
    channel: str = "local",
    locale: str = "en",
    plugins: Sequence[str] = (),
) -> Session:
    """Makes an empty session and, when it is new, its workspace; raises `Conflict` when the id is taken."""
    create_workspace(core, tx, address.workspace)
    check_name(address.session, "session")
    now = core.now()
    values = (
        check_line(title, "title"),
        check_name(preset, "preset", empty=True),
        check_name(channel, "channel"),
        check_name(locale, "locale"),
        dumps(list(plugins), "plugins"),
    )
    made = tx.run(
        f"INSERT INTO session({_COLUMNS}) VALUES (?, ?, ?, ?, '', ?, ?, ?, '{{}}', 0, -1, 0, 1, 0, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (address.workspace, address.session, *values, now, now),
    )
    if not made:
        raise Conflict(f"there is already a session {address.session!r}", where=address.workspace)
    tx.run(
        "INSERT INTO branch(workspace, session, id, parent, fork_depth, name, created) VALUES (?, ?, 0, 0, -1, '', ?)",
        (address.workspace, address.session, now),
    )
    tx.run(
        "INSERT INTO lineage(workspace, session, branch, upto) VALUES (?, ?, 0, -1)",
        (address.workspace, address.session),
    )
    return session(tx, address)


def session(tx: Tx, address: Address) -> Session:
    """Raises `NotFound`, also for one that is being deleted."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM session WHERE workspace = ? AND id = ? AND deleting = 0",
        (address.workspace, address.session),
    )
    if row is None:
        raise NotFound(f"there is no session {address.session!r}", where=address.workspace)
    return _view(row)


def sessions(tx: Tx, name: str) -> list[Session]:
    """All of a workspace, the one used last first."""
    rows = tx.rows(
        f"SELECT {_COLUMNS} FROM session WHERE workspace = ? AND deleting = 0 ORDER BY updated DESC, id", (name,)
    )
    return [_view(row) for row in rows]


def update(core: Core, tx: Tx, address: Address, **changes: object) -> Session:
    """Sets columns of a session; the caller has checked the values."""
    assignments = ", ".join(f"{column} = ?" for column in changes)
    _touch(core, tx, address, assignments, tuple(changes.values()))
    return session(tx, address)


def mark_deleting(core: Core, tx: Tx, address: Address) -> None:
    """Hides the session from everybody; raises `NotFound`."""
    _touch(core, tx, address, "deleting = 1", ())


def _touch(core: Core, tx: Tx, address: Address, assignments: str, values: tuple[object, ...]) -> None:
    touched = tx.run(
        f"UPDATE session SET {assignments}, revision = revision + 1, updated = ? "
        "WHERE workspace = ? AND id = ? AND deleting = 0",
        (*values, core.now(), address.workspace, address.session),
    )
    if not touched:
        raise NotFound(f"there is no session {address.session!r}", where=address.workspace)


def redo_tip(tx: Tx, address: Address) -> Coordinate | None:
    """The tip last left by an undo or a retry."""
    row = tx.one(
        "SELECT redo_branch, redo_depth FROM session WHERE workspace = ? AND id = ?",
        (address.workspace, address.session),
    )
    return None if row is None or row[0] is None else Coordinate(row[0], row[1])


def _view(row: Row) -> Session:
    return Session(
        workspace=row[0],
        id=row[1],
        title=row[2],
        preset=row[3],
        owner=row[4],
        channel=row[5],
        locale=row[6],
        plugins=tuple(stored(row[7])),
        settings=stored(row[8]),
        head=Coordinate(row[9], row[10]),
        messages=row[11],
        branches=row[12],
        revision=row[13],
        created=row[14],
        updated=row[15],
    )
