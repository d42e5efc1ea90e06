"""The way from the root to a coordinate: as SQL to join with, and as kept for a session's head.

A lineage is a table branch → deepest depth on it. Along it branch ids rise, and every depth has exactly one message.
"""

from __future__ import annotations

from dataclasses import dataclass

from talekeeper.db import Tx
from talekeeper.errors import NotFound
from talekeeper.story.views import ROOT, Address, Coordinate


@dataclass(frozen=True, slots=True)
class Line:
    """A `WITH` clause defining `line(branch, upto)`, and its parameters, which come first in the statement."""

    sql: str
    params: tuple[object, ...]


_KEPT = "WITH line(branch, upto) AS (SELECT branch, upto FROM lineage WHERE workspace = ? AND session = ?) "
_WALKED = (
    "WITH RECURSIVE line(branch, upto) AS (VALUES (CAST(? AS INTEGER), CAST(? AS INTEGER)) UNION ALL "
    "SELECT b.parent, b.fork_depth FROM line JOIN branch b "
    "ON b.workspace = ? AND b.session = ? AND b.id = line.branch WHERE line.branch > 0 AND b.fork_depth > ?) "
)
_ROOT_ONLY = Line("WITH line(branch, upto) AS (VALUES (0, -1)) ", ())


def line_to(address: Address, at: Coordinate | None, *, below: int = -2) -> Line:
    """The lineage of `at`, or of the head when it is None; a branch that ends no deeper than `below` may be missing."""
    if at is None:
        return Line(_KEPT, (address.workspace, address.session))
    if at == ROOT:
        return _ROOT_ONLY
    return Line(_WALKED, (at.branch, at.depth, address.workspace, address.session, below))


def upto(tx: Tx, address: Address, at: Coordinate | None) -> dict[int, int]:
    """The lineage as a mapping branch → deepest depth on it."""
    line = line_to(address, at)
    return dict(tx.rows(f"{line.sql} SELECT branch, upto FROM line", line.params))


def place_on(tx: Tx, address: Address, at: Coordinate, depth: int) -> Coordinate:
    """The coordinate of the message at a depth, not below `at`, of the lineage of `at`."""
    return Coordinate(min(branch for branch, reach in upto(tx, address, at).items() if reach >= depth), depth)


def fork_of(tx: Tx, address: Address, branch: int) -> Coordinate:
    """The coordinate a branch grows from; raises `NotFound`."""
    row = tx.one(
        "SELECT parent, fork_depth FROM branch WHERE workspace = ? AND session = ? AND id = ?",
        (address.workspace, address.session, branch),
    )
    if row is None:
        raise NotFound(f"there is no branch {branch}", where=address.session)
    return Coordinate(row[0], row[1])


def has_message(tx: Tx, address: Address, at: Coordinate) -> bool:
    """Whether a message is exactly there."""
    row = tx.one(
        "SELECT 1 FROM message WHERE workspace = ? AND session = ? AND branch = ? AND depth = ?",
        (address.workspace, address.session, at.branch, at.depth),
    )
    return row is not None


def anchor(tx: Tx, address: Address, at: Coordinate) -> Coordinate:
    """The coordinate of the message a place means; `ROOT` when it is before the first.

    The start of a branch means the message it grows from, and that is always a message or the root.
    Raises `NotFound` for a place that does not exist.
    """
    if at == ROOT or has_message(tx, address, at):
        return at
    fork = fork_of(tx, address, at.branch)
    if at.depth != fork.depth:
        raise NotFound(f"there is nothing at {at.branch}:{at.depth}", where=address.session)
    return fork


def keep(tx: Tx, address: Address, head: Coordinate) -> None:
    """Makes the kept lineage that of `head`, touching only where it differs."""
    place = (address.workspace, address.session)
    joined = "SELECT 1 FROM lineage WHERE workspace = ? AND session = ? AND branch = ?"
    rows = [(*place, head.branch, head.depth)]
    branch = head.branch
    while tx.one(joined, (*place, branch)) is None:
        fork = fork_of(tx, address, branch)
        branch = fork.branch
        rows.append((*place, fork.branch, fork.depth))
    tx.run("DELETE FROM lineage WHERE workspace = ? AND session = ? AND branch >= ?", (*place, branch))
    tx.run_many("INSERT INTO lineage(workspace, session, branch, upto) VALUES (?, ?, ?, ?)", rows)


def extend(tx: Tx, address: Address, head: Coordinate) -> None:
    """`keep` for a head that moved on along its own branch."""
    tx.run(
        "UPDATE lineage SET upto = ? WHERE workspace = ? AND session = ? AND branch = ?",
        (head.depth, address.workspace, address.session, head.branch),
    )


def branches_below(tx: Tx, address: Address, at: Coordinate) -> set[int]:
    """Every branch whose lineages hold the message at `at`: its own and those that grow at it or deeper."""
    rows = tx.rows(
        "WITH RECURSIVE holding(id) AS (VALUES (CAST(? AS INTEGER)) UNION "
        "SELECT b.id FROM holding JOIN branch b ON b.workspace = ? AND b.session = ? AND b.parent = holding.id "
        "WHERE b.id > 0 AND b.fork_depth >= ?) SELECT id FROM holding",
        (at.branch, address.workspace, address.session, at.depth),
    )
    return {row[0] for row in rows}
