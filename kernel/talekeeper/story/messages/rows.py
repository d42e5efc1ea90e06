"""Reads the rows of workspaces, sessions and messages; a lineage is joined in SQL."""

from __future__ import annotations

from collections.abc import Sequence

from talekeeper.db import Row, Tx, stored
from talekeeper.errors import NotFound
from talekeeper.story.core import Core
from talekeeper.story.messages.lineage import line_to
from talekeeper.story.views import Address, Coordinate, Message, Session, Workspace

SESSION_COLUMNS = (
    "workspace, id, title, preset, owner, channel, locale, plugins, settings, head_branch, head_depth, messages, "
    "branches, revision, created, updated"
)
_MESSAGE = (
    "m.id, m.branch, m.depth, m.seq, m.ref, m.turn, m.role, m.kind, m.speaker, m.text, m.time, m.origin, m.caption, "
    "m.extra, m.created, m.revision, m.hidden, m.deleted"
)
NO_LIMIT = 2**53
_AT_ONCE = 500  # names in a statement
IS_STORY = "m.role IN ('player', 'narrator') AND m.deleted = 0 AND trim(m.text) <> ''"
"""A story message: only these count for coverage."""


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


def session(tx: Tx, address: Address) -> Session:
    """Raises `NotFound`, also for one that is being deleted."""
    row = tx.one(
        f"SELECT {SESSION_COLUMNS} FROM session WHERE workspace = ? AND id = ? AND deleting = 0",
        (address.workspace, address.session),
    )
    if row is None:
        raise NotFound(f"there is no session {address.session!r}", where=address.workspace)
    return _session(row)


def sessions(tx: Tx, name: str) -> list[Session]:
    """All of a workspace, the one used last first."""
    rows = tx.rows(
        f"SELECT {SESSION_COLUMNS} FROM session WHERE workspace = ? AND deleting = 0 ORDER BY updated DESC, id", (name,)
    )
    return [_session(row) for row in rows]


def update(core: Core, tx: Tx, address: Address, **changes: object) -> Session:
    """Sets columns of a session; the caller has checked the values."""
    assignments = ", ".join(f"{column} = ?" for column in changes)
    touch(core, tx, address, assignments, tuple(changes.values()))
    return session(tx, address)


def touch(core: Core, tx: Tx, address: Address, assignments: str, values: tuple[object, ...]) -> None:
    """Sets columns and counts it as a change; raises `NotFound`."""
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


def _session(row: Row) -> Session:
    """A row of `SESSION_COLUMNS`; the numbers and times behind the head stand in the order of the fields."""
    workspace, key, title, preset, owner, channel, locale, plugins, settings, branch, depth, *rest = row
    names = tuple(stored(plugins))
    head = Coordinate(branch, depth)
    return Session(workspace, key, title, preset, owner, channel, locale, names, stored(settings), head, *rest)


def _message(row: Row) -> Message:
    """A row of `_MESSAGE`, whose columns stand in the order of the fields."""
    key, branch, depth, *columns = row
    columns[-2:] = map(bool, columns[-2:])  # hidden, deleted
    return Message(key, Coordinate(branch, depth), *columns)


def along(
    tx: Tx, address: Address, at: Coordinate | None, what: str, where: str, *params: object, below: int = -2
) -> list[Row]:
    """Rows of the messages `m` on a lineage; no line of it that ends at `below` or above is needed."""
    line = line_to(address, at, below=below)
    return tx.rows(
        f"{line.sql} SELECT {what} FROM line CROSS JOIN message m ON m.workspace = ? AND m.session = ? "
        f"AND m.branch = line.branch AND m.depth <= line.upto WHERE {where}",
        (*line.params, address.workspace, address.session, *params),
    )


def between(
    tx: Tx,
    address: Address,
    at: Coordinate | None,
    first: int,
    last: int,
    where: str = "m.deleted = 0",
    limit: int = NO_LIMIT,
) -> list[Message]:
    """Messages at depths `first`..`last` of a lineage, in story order; of more than `limit` the deepest ones.

    The order of the join is that of its two indexes, so with a limit SQLite stops early instead of sorting.
    """
    which = f"line.upto >= ? AND m.depth >= ? AND m.depth <= ? AND {where}"
    order = "ORDER BY line.branch DESC, m.depth DESC LIMIT ?"
    rows = along(tx, address, at, _MESSAGE, f"{which} {order}", first, first, last, limit, below=first - 1)
    return [_message(row) for row in reversed(rows)]


def newest(
    tx: Tx, address: Address, at: Coordinate, count: int, where: str = "m.deleted = 0", *, kept: bool = False
) -> list[Message]:
    """The last `count` messages up to `at`, in story order; `kept` says that `at` is the session's head."""
    window = count
    while True:
        first = max(0, at.depth - window + 1)
        found = between(tx, address, None if kept else at, first, at.depth, where, count)
        if len(found) >= count or first == 0:
            return found
        window *= 2


def by_id(tx: Tx, address: Address, message_id: str) -> Message:
    """Raises `NotFound`."""
    row = tx.one(
        f"SELECT {_MESSAGE} FROM message m WHERE m.workspace = ? AND m.session = ? AND m.id = ?",
        (address.workspace, address.session, message_id),
    )
    if row is None:
        raise NotFound(f"there is no message {message_id!r}", where=address.session)
    return _message(row)


def at_place(tx: Tx, address: Address, at: Coordinate) -> Message | None:
    """The message exactly there."""
    row = tx.one(
        f"SELECT {_MESSAGE} FROM message m WHERE m.workspace = ? AND m.session = ? AND m.branch = ? AND m.depth = ?",
        (address.workspace, address.session, at.branch, at.depth),
    )
    return None if row is None else _message(row)


def appended_after(tx: Tx, address: Address, seq: int, limit: int) -> list[Message]:
    """Messages of every branch, deleted ones too, in the order they were appended."""
    rows = tx.rows(
        f"SELECT {_MESSAGE} FROM message m WHERE m.workspace = ? AND m.session = ? AND m.seq > ? "
        "ORDER BY m.seq LIMIT ?",
        (address.workspace, address.session, seq, limit),
    )
    return [_message(row) for row in rows]


def of_turns(
    tx: Tx, address: Address, at: Coordinate | None, turns: tuple[int, int], where: str = "m.deleted = 0"
) -> list[Message]:
    """Messages of a lineage whose turn lies in the inclusive range, in story order."""
    within = f"{where} AND m.turn BETWEEN ? AND ? ORDER BY line.branch, m.depth"
    return [_message(row) for row in along(tx, address, at, _MESSAGE, within, *turns)]


def by_ids(tx: Tx, address: Address, ids: Sequence[str], column: str = "id") -> dict[str, Message]:
    """Those of the ids that exist, by id; with `ref` as the column, by an importer's ids."""
    found: dict[str, Message] = {}
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        rows = tx.rows(
            f"SELECT {_MESSAGE} FROM message m WHERE m.workspace = ? AND m.session = ? "
            f"AND m.{column} IN ({', '.join('?' * len(some))})",
            (address.workspace, address.session, *some),
        )
        found |= {getattr(message, column): message for message in map(_message, rows)}
    return found


def story_messages(
    tx: Tx,
    address: Address,
    at: Coordinate | None,
    first: int,
    last: int,
    limit: int = NO_LIMIT,
    *,
    hidden: bool = True,
) -> list[Message]:
    """Story messages at depths `first`..`last` of a lineage; of more than `limit` the shallowest."""
    which = IS_STORY if hidden else f"{IS_STORY} AND m.hidden = 0"
    where = f"line.upto >= ? AND m.depth >= ? AND m.depth <= ? AND {which} ORDER BY line.branch, m.depth LIMIT ?"
    rows = along(tx, address, at, _MESSAGE, where, first, first, last, limit, below=first - 1)
    return [_message(row) for row in rows]
