"""Rows of the job ledger and the steps a job takes through its states."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from talekeeper.clock import iso
from talekeeper.db import Lease, Row, Tx, dumps, stored
from talekeeper.errors import Conflict, NotFound, ParameterError
from talekeeper.story.core import Core
from talekeeper.story.lineage import branches_below, line_to, place_on
from talekeeper.story.views import Address, Coordinate, Derived, Job, JobState

MAX_ATTEMPTS = 6
MAX_BACKLOG = 50  # unfinished jobs of one kind in one session; older ones than these are given up
PUT_ASIDE = "too many others were waiting"
"""Why a job of the backlog was skipped: nobody has looked at it, and it is noted anew when all is caught up with."""

_FIRST_DELAY = 30.0  # seconds; doubled with each failure
_LONGEST_DELAY = 3600.0
_LONGEST_REASON = 500

_COLUMNS = (
    "j.id, j.plugin, j.kind, j.branch, j.range_start, j.range_end, j.state, j.attempts, j.did_work, j.covered_start, "
    "j.covered_end, j.reason, j.not_before, j.details, j.created, j.updated"
)
# In the words of the index `job_open`, or SQLite does not use it.
_OPEN = "state IN ('pending', 'running', 'reopened', 'failed')"
_MINE = "workspace = ? AND session = ? AND id = ?"
_LACKS = "waits_for_model"
_UNCOVERED = "covered_start = NULL, covered_end = NULL, covered_branch = NULL"


def enqueue(core: Core, tx: Tx, address: Address, plugin: str, kind: str, end: Coordinate, start: int) -> Job:
    """Notes work on the messages `start`..`end.depth`; the same work is noted once, whatever became of it."""
    if not 0 <= start <= end.depth + 1:
        raise ParameterError("start", f"{start} is not before {end.depth}")
    same = (address.workspace, address.session, plugin, kind, end.branch, start, end.depth)
    row = tx.one(
        f"SELECT {_COLUMNS} FROM job j WHERE j.workspace = ? AND j.session = ? AND j.plugin = ? AND j.kind = ? "
        "AND j.branch = ? AND j.range_start = ? AND j.range_end = ?",
        same,
    )
    if row is not None:
        return _view(row)
    _bound_backlog(core, tx, address, plugin, kind)
    made, now = core.ids.new(), core.now()
    tx.run(
        "INSERT INTO job(workspace, session, id, seq, plugin, kind, branch, range_start, range_end, state, attempts, "
        "did_work, reason, details, fence, created, updated) SELECT ?, ?, ?, coalesce(max(seq), 0) + 1, ?, ?, ?, ?, ?, "
        "'pending', 0, 0, '', '{}', 0, ?, ? FROM job WHERE workspace = ? AND session = ?",
        (*same[:2], made, *same[2:], now, now, *same[:2]),
    )
    return Job(
        id=made,
        plugin=plugin,
        kind=kind,
        coordinate=end,
        start=start,
        end=end.depth,
        state=JobState.PENDING,
        attempts=0,
        did_work=False,
        covered=None,
        reason="",
        not_before=None,
        created=now,
        updated=now,
    )


def job(tx: Tx, address: Address, job_id: str) -> Job:
    """Raises `NotFound`."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM job j WHERE j.workspace = ? AND j.session = ? AND j.id = ?",
        (address.workspace, address.session, job_id),
    )
    if row is None:
        raise NotFound(f"there is no job {job_id!r}", where=address.session)
    return _view(row)


def jobs(tx: Tx, address: Address) -> list[Job]:
    """The whole ledger of a session, in the order it was written."""
    rows = tx.rows(
        f"SELECT {_COLUMNS} FROM job j WHERE j.workspace = ? AND j.session = ? ORDER BY j.seq",
        (address.workspace, address.session),
    )
    return [_view(row) for row in rows]


def claim(core: Core, tx: Tx, address: Address, lease: Lease) -> Job | None:
    """Takes up the next job of the head's lineage, or None.

    Whoever holds the session's lease is alone, so a job that is still running belongs to a process that died. Jobs that
    failed less often come first: what keeps failing does not keep the rest waiting.
    """
    lease.check(tx)
    now = core.now()
    _give_up_dead(tx, address, lease, now)
    line = line_to(address, None)
    row = tx.one(
        f"{line.sql} SELECT {_COLUMNS} FROM job j JOIN line ON line.branch = j.branch AND j.range_end <= line.upto "
        f"WHERE j.workspace = ? AND j.session = ? AND j.{_OPEN} AND j.attempts < ? "
        "AND (j.fence < ? OR j.state <> 'running') AND coalesce(j.not_before, '') <= ? "
        "ORDER BY j.attempts, j.seq LIMIT 1",
        (*line.params, address.workspace, address.session, MAX_ATTEMPTS, lease.fence, now),
    )
    if row is None:
        return None
    tx.run(
        f"UPDATE job SET state = 'running', attempts = attempts + 1, fence = ?, updated = ? WHERE {_MINE}",
        (lease.fence, now, address.workspace, address.session, row[0]),
    )
    return job(tx, address, row[0])


def _give_up_dead(tx: Tx, address: Address, lease: Lease, now: str) -> None:
    """Fails what has taken its process with it in its last attempt: nobody else will say how that ended."""
    tx.run(
        "UPDATE job SET state = 'failed', reason = 'its process ended in every attempt', not_before = NULL, "
        f"updated = ? WHERE workspace = ? AND session = ? AND {_OPEN} AND attempts >= ? AND state = 'running' "
        "AND fence < ?",
        (now, address.workspace, address.session, MAX_ATTEMPTS, lease.fence),
    )


def succeed(
    core: Core,
    tx: Tx,
    address: Address,
    job_id: str,
    lease: Lease,
    *,
    did_work: bool,
    covered: tuple[int, int] | None,
    details: Mapping[str, Any],
) -> Job:
    """Ends a running job well; `covered` are the depths it need not be done for again."""
    done: dict[str, object] = {"did_work": int(did_work), "details": dumps(details, "details")}
    if covered is not None:
        start, end = covered
        at = job(tx, address, job_id).coordinate
        if not 0 <= start <= end <= at.depth:
            raise ParameterError("covered", f"{start}..{end} is no range of messages up to the job's end, {at.depth}")
        place = place_on(tx, address, at, end)
        done |= {"covered_start": start, "covered_end": end, "covered_branch": place.branch}
    _end(core, tx, address, job_id, lease, state="succeeded", reason="", not_before=None, **done)
    return job(tx, address, job_id)


def skip(core: Core, tx: Tx, address: Address, job_id: str, lease: Lease, reason: str) -> Job:
    """Ends a running job that had nothing to do."""
    _end(core, tx, address, job_id, lease, state="skipped", reason=_told(reason), not_before=None)
    return job(tx, address, job_id)


def fail(core: Core, tx: Tx, address: Address, job_id: str, lease: Lease, reason: str, after: float | None) -> Job:
    """Ends an attempt; the next is due after `after` seconds or twice the last delay, while attempts are left."""
    attempts = job(tx, address, job_id).attempts
    delay = min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** (attempts - 1)) if after is None else after
    due = None if attempts >= MAX_ATTEMPTS else iso(core.clock.now() + timedelta(seconds=delay))
    _end(core, tx, address, job_id, lease, state="failed", reason=_told(reason), not_before=due)
    return job(tx, address, job_id)


def release(
    core: Core, tx: Tx, address: Address, job_id: str, lease: Lease, reason: str, after: float, lacks: str
) -> Job:
    """Puts a running job back as if it had not been claimed, due after `after` seconds, or once `lacks` is there."""
    attempts = job(tx, address, job_id).attempts - 1
    due = iso(core.clock.now() + timedelta(seconds=after)) if after else None
    details = dumps({_LACKS: lacks} if lacks else {}, "details")
    _end(core, tx, address, job_id, lease, state="pending", attempts=attempts, reason=_told(reason), not_before=due,
         details=details)  # fmt: skip
    return job(tx, address, job_id)


def check(tx: Tx, address: Address, job_id: str, lease: Lease) -> None:
    """Raises `Conflict` unless the job is running for this lease: what it writes may be committed only then."""
    lease.check(tx)
    row = tx.one(
        f"SELECT 1 FROM job WHERE {_MINE} AND state = 'running' AND fence = ?",
        (address.workspace, address.session, job_id, lease.fence),
    )
    if row is None:
        raise _lost(address, job_id)


def hasten(core: Core, tx: Tx, address: Address) -> int:
    """Makes every job that waits for its time due now; those that were given up are not among them."""
    return tx.run(
        f"UPDATE job SET not_before = NULL, updated = ? WHERE workspace = ? AND session = ? AND {_OPEN} "
        "AND state <> 'running' AND attempts < ? AND not_before IS NOT NULL",
        (core.now(), address.workspace, address.session, MAX_ATTEMPTS),
    )


def lacking(tx: Tx, address: Address) -> list[tuple[str, str]]:
    """Jobs that wait for a model, and the slot each lacked."""
    rows = tx.rows(
        f"SELECT id, details FROM job WHERE workspace = ? AND session = ? AND {_OPEN} AND state = 'pending' "
        "AND not_before IS NOT NULL AND details <> '{}'",
        (address.workspace, address.session),
    )
    return [(job_id, slot) for job_id, details in rows if (slot := lacked(stored(details)))]


def lacked(details: Mapping[str, Any]) -> str:
    """The slot of the model that a job with these details was put back for; empty when it was not."""
    slot = details.get(_LACKS, "")
    return slot if isinstance(slot, str) else ""


def awaken(core: Core, tx: Tx, address: Address, job_id: str) -> Job:
    """Makes a waiting job due, with nothing left of why it waited; one that is no longer waiting is left alone."""
    tx.run(
        f"UPDATE job SET not_before = NULL, reason = '', details = '{{}}', updated = ? WHERE {_MINE} "
        "AND state = 'pending'",
        (core.now(), address.workspace, address.session, job_id),
    )
    return job(tx, address, job_id)


def retry(core: Core, tx: Tx, address: Address, job_id: str | None) -> list[Job]:
    """Makes failed jobs due with all their attempts, or the one named, failed, waiting or skipped; gives them."""
    if job_id is None:
        found = [one for one in jobs(tx, address) if one.state is JobState.FAILED]
    else:
        found = [job(tx, address, job_id)]
    if any(one.state in {JobState.RUNNING, JobState.SUCCEEDED} for one in found):
        stands = "is running" if found[0].state is JobState.RUNNING else "has succeeded"
        raise Conflict(f"the job {job_id!r} {stands}", where=address.session, cure="it needs no retry")
    for one in found:
        _renew(core, tx, address, one.id)
    return [job(tx, address, one.id) for one in found]


def renew(core: Core, tx: Tx, address: Address, plugin: str, kind: str, end: Coordinate, start: int) -> Job:
    """Notes work as `enqueue` does, and has it done again where it had ended."""
    noted = enqueue(core, tx, address, plugin, kind, end, start)
    if noted.state not in {JobState.PENDING, JobState.RUNNING}:
        _renew(core, tx, address, noted.id)
    return job(tx, address, noted.id)


def _renew(core: Core, tx: Tx, address: Address, job_id: str) -> None:
    tx.run(
        f"UPDATE job SET state = 'pending', attempts = 0, not_before = NULL, {_UNCOVERED}, updated = ? WHERE {_MINE}",
        (core.now(), address.workspace, address.session, job_id),
    )


def reopen(core: Core, tx: Tx, address: Address, job_id: str, reason: str) -> None:
    """Makes a succeeded job due again, and with that its range uncovered; one in any other state is left alone."""
    _reopen_where(core, tx, address, reason, "id = ?", (job_id,))


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
        reopen(core, tx, address, found, reason)


def reopen_ending_at(core: Core, tx: Tx, address: Address, at: Coordinate, reason: str) -> None:
    """Reopens every succeeded job whose range, or what it covers, ends at a message."""
    ends = "(branch = ? AND range_end = ? OR covered_branch = ? AND covered_end = ?)"
    _reopen_where(core, tx, address, reason, ends, (at.branch, at.depth) * 2)


def reopen_running(core: Core, tx: Tx, address: Address, holding: set[int], depth: int, reason: str) -> None:
    """Takes running jobs from their worker when the message at `depth` is one they may have read.

    `holding` are the branches whose lineages hold it. What such a job has not committed yet is refused.
    """
    rows = tx.rows(
        f"SELECT id, branch FROM job WHERE workspace = ? AND session = ? AND {_OPEN} AND state = 'running' "
        "AND range_end >= ?",
        (address.workspace, address.session, depth),
    )
    for job_id, branch in rows:
        if branch in holding:
            _reopen_where(core, tx, address, reason, "id = ?", (job_id,), state=JobState.RUNNING)


def due_sessions(tx: Tx, workspace: str, now: str) -> list[str]:
    """Sessions of a workspace with work that may be due, the longest waiting first."""
    rows = tx.rows(
        f"SELECT session FROM job WHERE workspace = ? AND {_OPEN} AND attempts < ? AND coalesce(not_before, '') <= ? "
        "GROUP BY session ORDER BY min(updated)",
        (workspace, MAX_ATTEMPTS, now),
    )
    return [row[0] for row in rows]


def unfinished(tx: Tx, workspace: str) -> list[tuple[str, Job]]:
    """Every job of a workspace that has not ended well, with its session; those that were given up too."""
    rows = tx.rows(
        f"SELECT j.session, {_COLUMNS} FROM job j WHERE j.workspace = ? AND j.{_OPEN} ORDER BY j.session, j.seq",
        (workspace,),
    )
    return [(row[0], _view(row[1:])) for row in rows]


def _reopen_where(
    core: Core,
    tx: Tx,
    address: Address,
    reason: str,
    where: str,
    params: tuple[object, ...],
    *,
    state: JobState = JobState.SUCCEEDED,
) -> None:
    tx.run(
        # What it had covered stays: records of that stretch which are not to be redone go on counting meanwhile.
        "UPDATE job SET state = 'reopened', attempts = 0, reason = ?, "
        f"not_before = NULL, updated = ? WHERE workspace = ? AND session = ? AND state = ? AND {where}",
        (reason, core.now(), address.workspace, address.session, state, *params),
    )


def _bound_backlog(core: Core, tx: Tx, address: Address, plugin: str, kind: str) -> None:
    rows = tx.rows(
        # In this order the index of open jobs serves; any other would read the whole ledger.
        f"SELECT seq, plugin, kind FROM job WHERE workspace = ? AND session = ? AND {_OPEN} AND state <> 'running' "
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


def _end(core: Core, tx: Tx, address: Address, job_id: str, lease: Lease, **columns: object) -> None:
    lease.check(tx)
    assignments = ", ".join(f"{name} = ?" for name in columns)
    touched = tx.run(
        f"UPDATE job SET {assignments}, updated = ? WHERE {_MINE} AND state = 'running' AND fence = ?",
        (*columns.values(), core.now(), address.workspace, address.session, job_id, lease.fence),
    )
    if not touched:
        raise _lost(address, job_id)


def _told(reason: str) -> str:
    """A reason as it is kept: a plugin's words may hold what the store does not."""
    return reason.encode("utf-8", "replace").decode().replace("\0", "")[:_LONGEST_REASON]


def _lost(address: Address, job_id: str) -> Conflict:
    return Conflict(f"the job {job_id!r} is no longer this worker's", where=address.session)


def _view(row: Row) -> Job:
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
