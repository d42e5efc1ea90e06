"""Rows of the job ledger, and the changes that several steps of a job's life share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from talekeeper.db import Lease, Row, Tx, stored
from talekeeper.errors import Conflict, NotFound
from talekeeper.story.core import Core
from talekeeper.story.views import Address, Coordinate, Job, JobState

MAX_ATTEMPTS = 6
MAX_BACKLOG = 50  # unfinished jobs of one kind in one session; older ones than these are given up
PUT_ASIDE = "too many others were waiting"
"""Why a job of the backlog was skipped: it was never tried, and is noted again when everything else is done."""

FIRST_DELAY = 30.0  # seconds; doubled with each failure
LONGEST_DELAY = 3600.0
_LONGEST_REASON = 500

COLUMNS = (
    "j.id, j.plugin, j.kind, j.branch, j.range_start, j.range_end, j.state, j.attempts, j.did_work, j.covered_start, "
    "j.covered_end, j.reason, j.not_before, j.details, j.created, j.updated"
)
# In the words of the index `job_open`, or SQLite does not use it.
OPEN = "state IN ('pending', 'running', 'reopened', 'failed')"
ONE = "workspace = ? AND session = ? AND id = ?"
LACKS = "waits_for_model"
_UNCOVERED = "covered_start = NULL, covered_end = NULL, covered_branch = NULL"


def lacked(details: Mapping[str, Any]) -> str:
    """The slot of the model that a job with these details was put back for; empty when it was not."""
    slot = details.get(LACKS, "")
    return slot if isinstance(slot, str) else ""


def reopen_where(
    core: Core,
    tx: Tx,
    address: Address,
    reason: str,
    where: str,
    params: tuple[object, ...],
    *,
    state: JobState = JobState.SUCCEEDED,
) -> None:
    """Makes jobs in `state` that fulfil `where` due again."""
    tx.run(
        # What it had covered stays: records of that stretch which are not to be redone go on counting meanwhile.
        "UPDATE job SET state = 'reopened', attempts = 0, reason = ?, "
        f"not_before = NULL, updated = ? WHERE workspace = ? AND session = ? AND state = ? AND {where}",
        (reason, core.now(), address.workspace, address.session, state, *params),
    )


def job(tx: Tx, address: Address, job_id: str) -> Job:
    """Raises `NotFound`."""
    row = tx.one(
        f"SELECT {COLUMNS} FROM job j WHERE j.workspace = ? AND j.session = ? AND j.id = ?",
        (address.workspace, address.session, job_id),
    )
    if row is None:
        raise NotFound(f"there is no job {job_id!r}", where=address.session)
    return view(row)


def give_up_dead(tx: Tx, address: Address, lease: Lease, now: str) -> None:
    """Fails what has taken its process with it in its last attempt: no one else will say how that ended."""
    tx.run(
        "UPDATE job SET state = 'failed', reason = 'its process ended in every attempt', not_before = NULL, "
        f"updated = ? WHERE workspace = ? AND session = ? AND {OPEN} AND attempts >= ? AND state = 'running' "
        "AND fence < ?",
        (now, address.workspace, address.session, MAX_ATTEMPTS, lease.fence),
    )


def make_due(core: Core, tx: Tx, address: Address, job_id: str) -> None:
    """As if it had never been tried, with what it had covered uncovered."""
    tx.run(
        f"UPDATE job SET state = 'pending', attempts = 0, not_before = NULL, {_UNCOVERED}, updated = ? WHERE {ONE}",
        (core.now(), address.workspace, address.session, job_id),
    )


def bound_backlog(core: Core, tx: Tx, address: Address, plugin: str, kind: str) -> None:
    """Skips the oldest waiting jobs of a kind, so that with one more there are at most `MAX_BACKLOG`."""
    rows = tx.rows(
        # In this order the index of open jobs serves; any other would read the whole ledger.
        f"SELECT seq, plugin, kind FROM job WHERE workspace = ? AND session = ? AND {OPEN} AND state <> 'running' "
        "ORDER BY attempts, seq",
        (address.workspace, address.session),
    )
    waiting = sorted(seq for seq, *work in rows if work == [plugin, kind])
    for seq in waiting[: max(0, len(waiting) - MAX_BACKLOG + 1)]:
        tx.run(
            "UPDATE job SET state = 'skipped', reason = ?, not_before = NULL, updated = ? "
            "WHERE workspace = ? AND session = ? AND seq = ?",
            (PUT_ASIDE, core.now(), address.workspace, address.session, seq),
        )


def end(core: Core, tx: Tx, address: Address, job_id: str, lease: Lease, **columns: object) -> Job:
    """Ends a running attempt; raises `Conflict` when the lease or the job is another worker's by now."""
    lease.check(tx)
    assignments = ", ".join(f"{name} = ?" for name in columns)
    touched = tx.run(
        f"UPDATE job SET {assignments}, updated = ? WHERE {ONE} AND state = 'running' AND fence = ?",
        (*columns.values(), core.now(), address.workspace, address.session, job_id, lease.fence),
    )
    if not touched:
        raise lost(address, job_id)
    return job(tx, address, job_id)


def kept_reason(reason: str) -> str:
    """A reason as it is kept: a plugin's words may hold what the store does not."""
    return reason.encode("utf-8", "replace").decode().replace("\0", "")[:_LONGEST_REASON]


def lost(address: Address, job_id: str) -> Conflict:
    """What to raise then."""
    return Conflict(f"the job {job_id!r} is no longer this worker's", where=address.session)


def view(row: Row) -> Job:
    """A row of `COLUMNS` as a job."""
    return Job(
        id=row[0],
        plugin=row[1],
        kind=row[2],
        coordinate=Coordinate(row[3], row[5]),
        start=row[4],
        end=row[5],
        state=JobState(row[6]),
        attempts=row[7],
        did_work=bool(row[8]),
        covered=None if row[9] is None or row[6] != JobState.SUCCEEDED else (row[9], row[10]),
        reason=row[11],
        not_before=row[12],
        details=stored(row[13]),
        created=row[14],
        updated=row[15],
    )
