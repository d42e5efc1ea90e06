"""What becomes of records and jobs when a message they were made from is edited or deleted.

A record whose range ends there is withdrawn at its place, and its job is due again; one that only covers the message
stays, and is marked after an edit. A job that is running and may have read the message begins again. A person's record
has no range and is never touched.
"""

from __future__ import annotations

from typing import Literal

from talekeeper.db import Row, Tx
from talekeeper.manifest import Namespace
from talekeeper.story.core import Core
from talekeeper.story.ledger import OPEN, reopen_where
from talekeeper.story.messages.lineage import branches_below
from talekeeper.story.records.versions import BLANK, COLUMNS, CURRENT_SOMEWHERE, Target, Version, view, write_version
from talekeeper.story.views import Address, Coordinate, Derived, JobState, Record

Change = Literal["edited", "deleted"]

_OF_KEY = "workspace = ? AND preset = ? AND session = ? AND plugin = ? AND namespace = ? AND key = ?"


def source_changed(core: Core, tx: Tx, address: Address, at: Coordinate, change: Change) -> None:
    """Follows up the change of the message at a coordinate, in the same transaction."""
    reason = f"its source was {change}"
    holding = branches_below(tx, address, at)
    for record in _made_from(tx, address, holding, "r.range_end = ?", (at.depth,)):
        _withdraw(core, tx, record)
        if record.derived is not None and record.derived.job:
            reopen_makers(core, tx, address, record.derived, at, reason)
    # Every succeeded job whose range, or what it covers, ends at the message.
    ends = "(branch = ? AND range_end = ? OR covered_branch = ? AND covered_end = ?)"
    reopen_where(core, tx, address, reason, ends, (at.branch, at.depth) * 2)
    _reopen_running(core, tx, address, holding, at.depth, reason)
    if change == "edited":
        for record in _made_from(tx, address, holding, "r.range_start <= ? AND r.range_end > ?", (at.depth, at.depth)):
            tx.run(
                f"UPDATE record SET source_edited = 1 WHERE {_OF_KEY} AND revision = ?",
                (*_name(record), record.revision),
            )


def reopen_makers(core: Core, tx: Tx, address: Address, derived: Derived, last: Coordinate, reason: str) -> None:
    """Reopens the job that made a record of messages up to `last`, and all of its kind that cover its whole range.

    Jobs of other takes have covered that by finding the record there; it would stay covered for them and be missing.
    """
    rows = tx.rows(
        "SELECT j.id, j.covered_branch FROM job made JOIN job j USING (workspace, session, plugin, kind) "
        "WHERE made.workspace = ? AND made.session = ? AND made.id = ? AND j.state = 'succeeded' "
        "AND j.covered_start <= ? AND j.covered_end >= ?",
        (address.workspace, address.session, derived.job, derived.start, derived.end),
    )
    holding = branches_below(tx, address, last)
    for found in {derived.job, *(row[0] for row in rows if row[1] in holding)}:
        reopen_where(core, tx, address, reason, "id = ?", (found,))


def _reopen_running(core: Core, tx: Tx, address: Address, holding: set[int], depth: int, reason: str) -> None:
    """Takes running jobs from their worker when the message at `depth` is one they may have read.

    `holding` are the branches whose lineages hold it. What such a job has not committed yet is refused.
    """
    rows = tx.rows(
        f"SELECT id, branch FROM job WHERE workspace = ? AND session = ? AND {OPEN} AND state = 'running' "
        "AND range_end >= ?",
        (address.workspace, address.session, depth),
    )
    for job_id, branch in rows:
        if branch in holding:
            reopen_where(core, tx, address, reason, "id = ?", (job_id,), state=JobState.RUNNING)


def _made_from(tx: Tx, address: Address, holding: set[int], where: str, params: tuple[object, ...]) -> list[Record]:
    rows: list[Row] = tx.rows(
        f"SELECT {COLUMNS} FROM record r WHERE r.workspace = ? AND r.session = ? AND r.range_end IS NOT NULL "
        f"AND r.withdrawn = 0 AND {where} AND {CURRENT_SOMEWHERE}",
        (address.workspace, address.session, *params),
    )
    return [view(row) for row in rows if row[7] in holding]


def _withdraw(core: Core, tx: Tx, record: Record) -> None:
    namespace = Namespace(record.plugin, record.namespace, version=record.version)
    place = Target(namespace, record.scope, record.coordinate, record.coordinate, record.coordinate, person=False)
    write_version(core, tx, place, Version(record.key, BLANK, withdrawn=True), record)
    # What is made from the new text may carry the same key against doubles.
    tx.run(
        f"UPDATE record SET dedupe = NULL WHERE {_OF_KEY} AND branch = ? AND depth = ? AND dedupe IS NOT NULL",
        (*_name(record), record.coordinate.branch, record.coordinate.depth),
    )


def _name(record: Record) -> tuple[str, ...]:
    scope = record.scope
    return scope.workspace, scope.preset, scope.session, record.plugin, record.namespace, record.key
