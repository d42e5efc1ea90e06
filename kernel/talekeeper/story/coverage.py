"""How far a kind of derived work has come on a lineage: read from its succeeded jobs, kept nowhere else."""

from __future__ import annotations

from talekeeper.db import Tx
from talekeeper.story.lineage import line_to
from talekeeper.story.rows import NO_LIMIT, story_messages
from talekeeper.story.views import Address, Coordinate, Job, Message

Ranges = list[tuple[int, int]]

_DONE = "j.state = 'succeeded' AND "
_BY_MESSAGE = "line.branch = j.covered_branch AND j.covered_end <= line.upto"
_BY_JOB = "line.branch = j.branch AND j.range_end <= line.upto AND j.covered_end IS NOT NULL"


def covered(tx: Tx, address: Address, plugin: str, kind: str, at: Coordinate | None, *, own: bool = False) -> Ranges:
    """Inclusive ranges of depths that are done on the lineage, in order, merged where they touch.

    The messages are on the lineage in either case; with `own` the turn whose job did it is on it, too. So what a take
    that lost has paid for is covered, and not yet by the lineage's own turns.
    """
    return _ranges(tx, address, plugin, kind, at, _DONE + (_BY_JOB if own else _BY_MESSAGE))


def settled(tx: Tx, address: Address, plugin: str, kind: str, at: Coordinate | None) -> Ranges:
    """Ranges as of `covered` with `own`, and those that a job which has become due again had covered."""
    return _ranges(tx, address, plugin, kind, at, _BY_JOB)


def _ranges(tx: Tx, address: Address, plugin: str, kind: str, at: Coordinate | None, which: str) -> Ranges:
    line = line_to(address, at)
    rows = tx.rows(
        f"{line.sql} SELECT j.covered_start, j.covered_end FROM line CROSS JOIN job j ON {which} "
        "WHERE j.workspace = ? AND j.session = ? AND j.plugin = ? AND j.kind = ? "
        "ORDER BY j.covered_start, j.covered_end",
        (*line.params, address.workspace, address.session, plugin, kind),
    )
    merged: Ranges = []
    for start, end in rows:
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def superseded(tx: Tx, address: Address, job: Job) -> bool:
    """Whether a job of the same kind that ends further on along the head's lineage has succeeded."""
    line = line_to(address, None)
    row = tx.one(
        f"{line.sql} SELECT 1 FROM job j JOIN line ON line.branch = j.branch AND j.range_end <= line.upto "
        "WHERE j.workspace = ? AND j.session = ? AND j.plugin = ? AND j.kind = ? AND j.state = 'succeeded' "
        "AND j.range_end > ? LIMIT 1",
        (*line.params, address.workspace, address.session, job.plugin, job.kind, job.end),
    )
    return row is not None


def uncovered(
    tx: Tx,
    address: Address,
    plugin: str,
    kind: str,
    at: Coordinate | None,
    limit: int,
    *,
    hidden: bool = True,
    own: bool = False,
) -> list[Message]:
    """The first story messages that are not done, as `covered` tells it, at most `limit`, up to the next that is."""
    begin = 0
    for start, end in [*covered(tx, address, plugin, kind, at, own=own), (NO_LIMIT, NO_LIMIT)]:
        found = story_messages(tx, address, at, begin, start - 1, limit, hidden=hidden)
        if found:
            return found
        begin = end + 1
    return []
