"""Jobs: work outside the turn, as rows. Noted in a turn's own commit, claimed under a lease, ended with its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from talekeeper.clock import iso
from talekeeper.db import Lease, Row, Tx, dumps, stored
from talekeeper.errors import Conflict, NotFound, ParameterError, StoreError
from talekeeper.story import coverage
from talekeeper.story.core import Core
from talekeeper.story.coverage import Ranges
from talekeeper.story.lineage import line_to, place_on
from talekeeper.story.views import Address, Coordinate, Job, JobState, Message

MAX_ATTEMPTS = 6
MAX_BACKLOG = 50  # unfinished jobs of one kind in one session; older ones than these are given up
PUT_ASIDE = "too many others were waiting"
"""Why a job of the backlog was skipped: it was never tried, and is noted again when everything else is done."""

_FIRST_DELAY = 30.0  # seconds; doubled with each failure
_LONGEST_DELAY = 3600.0
_LONGEST_REASON = 500

_COLUMNS = (
    "j.id, j.plugin, j.kind, j.branch, j.range_start, j.range_end, j.state, j.attempts, j.did_work, j.covered_start, "
    "j.covered_end, j.reason, j.not_before, j.details, j.created, j.updated"
)
# In the words of the index `job_open`, or SQLite does not use it.
OPEN = "state IN ('pending', 'running', 'reopened', 'failed')"
_MINE = "workspace = ? AND session = ? AND id = ?"
_LACKS = "waits_for_model"
_UNCOVERED = "covered_start = NULL, covered_end = NULL, covered_branch = NULL"


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """A failure that could not be written down, and why not."""

    address: Address
    job: str
    reason: str
    because: str


class Jobs:
    """The jobs of every session. Every method takes part in the caller's transaction when `tx` is given."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.unrecorded: list[Unrecorded] = []

    @staticmethod
    def lease_name(address: Address) -> str:
        """Of the lease under which a session's jobs run."""
        return f"jobs:{address.session}"

    # Noting and taking up

    def enqueue(
        self, address: Address, plugin: str, kind: str, end: Coordinate, *, start: int, tx: Tx | None = None
    ) -> Job:
        """Notes work on the messages at depths `start`..`end.depth`; the same work is noted once, whatever its end."""
        if not 0 <= start <= end.depth + 1:
            raise ParameterError("start", f"{start} is not before {end.depth}")
        same = (address.workspace, address.session, plugin, kind, end.branch, start, end.depth)

        def enqueue(tx: Tx) -> Job:
            row = tx.one(
                f"SELECT {_COLUMNS} FROM job j WHERE j.workspace = ? AND j.session = ? AND j.plugin = ? "
                "AND j.kind = ? AND j.branch = ? AND j.range_start = ? AND j.range_end = ?",
                same,
            )
            if row is not None:
                return _view(row)
            _bound_backlog(self._core, tx, address, plugin, kind)
            made, now = self._core.ids.new(), self._core.now()
            tx.run(
                "INSERT INTO job(workspace, session, id, seq, plugin, kind, branch, range_start, range_end, state, "
                "attempts, did_work, reason, details, fence, created, updated) "
                "SELECT ?, ?, ?, coalesce(max(seq), 0) + 1, ?, ?, ?, ?, ?, 'pending', 0, 0, '', '{}', 0, ?, ? "
                "FROM job WHERE workspace = ? AND session = ?",
                (*same[:2], made, *same[2:], now, now, *same[:2]),
            )
            return _job(tx, address, made)

        return self._core.write(enqueue, tx, "note a job")

    def renew(
        self, address: Address, plugin: str, kind: str, end: Coordinate, *, start: int, tx: Tx | None = None
    ) -> Job:
        """Notes work as `enqueue` does, and has it done again where it had ended."""

        def renew(tx: Tx) -> Job:
            noted = self.enqueue(address, plugin, kind, end, start=start, tx=tx)
            if noted.state not in {JobState.PENDING, JobState.RUNNING}:
                _renew(self._core, tx, address, noted.id)
            return _job(tx, address, noted.id)

        return self._core.write(renew, tx, "note a job")

    def claim(self, address: Address, lease: Lease, *, tx: Tx | None = None) -> Job | None:
        """Takes up the next job that is due on the head's lineage, or None; `lease` is the session's, which you hold.

        Whoever holds it is alone, so a job that is still running belongs to a process that died. Jobs that failed less
        often come first: what keeps failing does not keep the rest waiting.
        """

        def claim(tx: Tx) -> Job | None:
            lease.check(tx)
            now = self._core.now()
            _give_up_dead(tx, address, lease, now)
            line = line_to(address, None)
            row = tx.one(
                f"{line.sql} SELECT {_COLUMNS} FROM job j JOIN line ON line.branch = j.branch "
                "AND j.range_end <= line.upto "
                f"WHERE j.workspace = ? AND j.session = ? AND j.{OPEN} AND j.attempts < ? "
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
            return _job(tx, address, row[0])

        return self._core.write(claim, tx, "claim a job")

    def check(self, address: Address, job: str, lease: Lease, tx: Tx) -> None:
        """Raises `Conflict` unless the job is running for this lease: only then may you commit what it writes."""
        lease.check(tx)
        row = tx.one(
            f"SELECT 1 FROM job WHERE {_MINE} AND state = 'running' AND fence = ?",
            (address.workspace, address.session, job, lease.fence),
        )
        if row is None:
            raise _lost(address, job)

    # Ending

    def succeed(
        self,
        address: Address,
        job: str,
        lease: Lease,
        *,
        did_work: bool = True,
        covered: tuple[int, int] | None = None,
        details: Mapping[str, Any] | None = None,
        tx: Tx | None = None,
    ) -> Job:
        """Ends a running job well; raises `Conflict` when another worker has it now.

        `covered` are the depths, inclusive, that it need not be done for again.
        """

        def succeed(tx: Tx) -> Job:
            done: dict[str, object] = {"did_work": int(did_work), "details": dumps(details or {}, "details")}
            if covered is not None:
                start, end = covered
                at = _job(tx, address, job).coordinate
                if not 0 <= start <= end <= at.depth:
                    what = f"{start}..{end} is no range of messages up to the job's end, {at.depth}"
                    raise ParameterError("covered", what)
                branch = place_on(tx, address, at, end).branch
                done |= {"covered_start": start, "covered_end": end, "covered_branch": branch}
            return _end(self._core, tx, address, job, lease, state="succeeded", reason="", not_before=None, **done)

        return self._core.write(succeed, tx, "end a job")

    def skip(self, address: Address, job: str, lease: Lease, reason: str, *, tx: Tx | None = None) -> Job:
        """Ends a running job that had nothing to do, for `reason`."""
        ended = {"state": "skipped", "reason": _kept_reason(reason), "not_before": None}
        return self._core.write(lambda tx: _end(self._core, tx, address, job, lease, **ended), tx, "end a job")

    def fail(
        self, address: Address, job: str, lease: Lease, reason: str, *, after: float | None = None, tx: Tx | None = None
    ) -> bool:
        """Ends an attempt; while attempts are left, the job is due again after `after` seconds or a growing delay.

        False when another worker has it now, or when not even that could be written: the failure is then kept in
        `unrecorded`.
        """

        def fail(tx: Tx) -> None:
            attempts = _job(tx, address, job).attempts
            delay = min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** (attempts - 1)) if after is None else after
            due = None if attempts >= MAX_ATTEMPTS else self._in_seconds(delay)
            _end(self._core, tx, address, job, lease, state="failed", reason=_kept_reason(reason), not_before=due)

        try:
            self._core.write(fail, tx, "end a job")
        except StoreError as error:
            if tx is not None:
                raise
            if not isinstance(error, Conflict):
                self.keep(Unrecorded(address, job, reason, error.sentence()))
            return False
        return True

    def release(
        self,
        address: Address,
        job: str,
        lease: Lease,
        reason: str,
        *,
        after: float = 0.0,
        lacks: str = "",
        tx: Tx | None = None,
    ) -> Job:
        """Puts a running job back, its attempt not counted; it is due again after `after` seconds.

        `lacks` is the slot of the model it waits for, see `awaken`.
        """

        def release(tx: Tx) -> Job:
            back = {
                "state": "pending",
                "attempts": _job(tx, address, job).attempts - 1,
                "reason": _kept_reason(reason),
                "not_before": self._in_seconds(after) if after else None,
                "details": dumps({_LACKS: lacks} if lacks else {}, "details"),
            }
            return _end(self._core, tx, address, job, lease, **back)

        return self._core.write(release, tx, "put a job back")

    def keep(self, failure: Unrecorded) -> None:
        """Remembers a failure that the store did not take, in place of an earlier one of the same job."""
        self.ended(failure.address, failure.job)
        self.unrecorded.append(failure)

    def ended(self, address: Address, job: str) -> None:
        """Lets go of what was kept of a job, whose end is written down now."""
        self.unrecorded = [one for one in self.unrecorded if (one.address, one.job) != (address, job)]

    # Doing again

    def awaken(self, address: Address, has_model: Callable[[str], bool]) -> list[Job]:
        """Makes due at once what was put back for want of a model whose slot `has_model` knows now, and gives it."""
        found = self._core.db.read(
            lambda tx: tx.rows(
                f"SELECT id, details FROM job WHERE workspace = ? AND session = ? AND {OPEN} AND state = 'pending' "
                "AND not_before IS NOT NULL AND details <> '{}'",
                (address.workspace, address.session),
            )
        )
        there = [job for job, details in found if (slot := lacked(stored(details))) and has_model(slot)]

        def awaken(tx: Tx) -> list[Job]:
            for job in there:
                tx.run(
                    f"UPDATE job SET not_before = NULL, reason = '', details = '{{}}', updated = ? WHERE {_MINE} "
                    "AND state = 'pending'",
                    (self._core.now(), address.workspace, address.session, job),
                )
            return [_job(tx, address, job) for job in there]

        return self._core.db.write(awaken, name="awaken jobs") if there else []

    def hasten(self, address: Address, *, tx: Tx | None = None) -> int:
        """Makes what waits for its time due now, but not what was given up, and gives how many jobs that are."""
        sql = (
            f"UPDATE job SET not_before = NULL, updated = ? WHERE workspace = ? AND session = ? AND {OPEN} "
            "AND state <> 'running' AND attempts < ? AND not_before IS NOT NULL"
        )
        params = (self._core.now(), address.workspace, address.session, MAX_ATTEMPTS)
        return self._core.write(lambda tx: tx.run(sql, params), tx, "hasten jobs")

    def retry(self, address: Address, job: str | None = None, *, tx: Tx | None = None) -> list[Job]:
        """Makes failed jobs due with all their attempts, or the one named unless it has succeeded or is running."""

        def retry(tx: Tx) -> list[Job]:
            if job is None:
                found = [one for one in self.all(address, tx=tx) if one.state is JobState.FAILED]
            else:
                found = [_job(tx, address, job)]
            if any(one.state in {JobState.RUNNING, JobState.SUCCEEDED} for one in found):
                state = "is running" if found[0].state is JobState.RUNNING else "has succeeded"
                raise Conflict(f"the job {job!r} {state}", where=address.session, cure="it needs no retry")
            for one in found:
                _renew(self._core, tx, address, one.id)
            return [_job(tx, address, one.id) for one in found]

        return self._core.write(retry, tx, "retry jobs")

    def reopen(self, address: Address, job: str, reason: str, *, tx: Tx | None = None) -> None:
        """Makes a succeeded job due again and its range uncovered; one in any other state is left alone."""
        self._core.write(lambda tx: reopen_where(self._core, tx, address, reason, "id = ?", (job,)), tx, "reopen a job")

    # Reading

    def get(self, address: Address, job: str, *, tx: Tx | None = None) -> Job:
        """Raises `NotFound`."""
        return self._core.read(lambda tx: _job(tx, address, job), tx)

    def all(self, address: Address, *, tx: Tx | None = None) -> list[Job]:
        """Every job of a session, in the order they were noted."""
        sql = f"SELECT {_COLUMNS} FROM job j WHERE j.workspace = ? AND j.session = ? ORDER BY j.seq"
        return [
            _view(row) for row in self._core.read(lambda tx: tx.rows(sql, (address.workspace, address.session)), tx)
        ]

    def unfinished(self, workspace: str, *, tx: Tx | None = None) -> list[tuple[Address, Job]]:
        """Every job of a workspace that has not ended well; those that were given up too."""
        sql = f"SELECT j.session, {_COLUMNS} FROM job j WHERE j.workspace = ? AND j.{OPEN} ORDER BY j.session, j.seq"
        found = self._core.read(lambda tx: tx.rows(sql, (workspace,)), tx)
        return [(Address(workspace, row[0]), _view(row[1:])) for row in found]

    def due_sessions(self, workspace: str, *, tx: Tx | None = None) -> list[Address]:
        """Sessions that may have work due, the longest waiting first."""
        sql = (
            f"SELECT session FROM job WHERE workspace = ? AND {OPEN} AND attempts < ? "
            "AND coalesce(not_before, '') <= ? GROUP BY session ORDER BY min(updated)"
        )
        params = (workspace, MAX_ATTEMPTS, self._core.now())
        return [Address(workspace, row[0]) for row in self._core.read(lambda tx: tx.rows(sql, params), tx)]

    def superseded(self, address: Address, job: Job, *, tx: Tx | None = None) -> bool:
        """Whether a later job of its kind on the head's lineage has succeeded."""
        return self._core.read(lambda tx: coverage.superseded(tx, address, job), tx)

    def covered(
        self, address: Address, plugin: str, kind: str, *, at: Coordinate | None = None, tx: Tx | None = None
    ) -> Ranges:
        """Ranges of depths, inclusive, that succeeded jobs on the lineage cover."""
        return self._core.read(lambda tx: coverage.covered(tx, address, plugin, kind, at), tx)

    def settled(
        self, address: Address, plugin: str, kind: str, *, at: Coordinate | None = None, tx: Tx | None = None
    ) -> Ranges:
        """Ranges of depths, inclusive, that jobs of the lineage's own turns have covered, be they due again or not."""
        return self._core.read(lambda tx: coverage.settled(tx, address, plugin, kind, at), tx)

    def uncovered(
        self,
        address: Address,
        plugin: str,
        kind: str,
        *,
        at: Coordinate | None = None,
        limit: int = 100,
        hidden: bool = True,
        own: bool = False,
        tx: Tx | None = None,
    ) -> list[Message]:
        """The first story messages not covered, `own`: by turns of the lineage, in one stretch, at most `limit`."""

        def read(tx: Tx) -> list[Message]:
            return coverage.uncovered(tx, address, plugin, kind, at, limit, hidden=hidden, own=own)

        return self._core.read(read, tx)

    def _in_seconds(self, delay: float) -> str:
        return iso(self._core.clock.now() + timedelta(seconds=delay))


def lacked(details: Mapping[str, Any]) -> str:
    """The slot of the model that a job with these details was put back for; empty when it was not."""
    slot = details.get(_LACKS, "")
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


def _job(tx: Tx, address: Address, job_id: str) -> Job:
    """Raises `NotFound`."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM job j WHERE j.workspace = ? AND j.session = ? AND j.id = ?",
        (address.workspace, address.session, job_id),
    )
    if row is None:
        raise NotFound(f"there is no job {job_id!r}", where=address.session)
    return _view(row)


def _give_up_dead(tx: Tx, address: Address, lease: Lease, now: str) -> None:
    """Fails what has taken its process with it in its last attempt: no one else will say how that ended."""
    tx.run(
        "UPDATE job SET state = 'failed', reason = 'its process ended in every attempt', not_before = NULL, "
        f"updated = ? WHERE workspace = ? AND session = ? AND {OPEN} AND attempts >= ? AND state = 'running' "
        "AND fence < ?",
        (now, address.workspace, address.session, MAX_ATTEMPTS, lease.fence),
    )


def _renew(core: Core, tx: Tx, address: Address, job_id: str) -> None:
    tx.run(
        f"UPDATE job SET state = 'pending', attempts = 0, not_before = NULL, {_UNCOVERED}, updated = ? WHERE {_MINE}",
        (core.now(), address.workspace, address.session, job_id),
    )


def _bound_backlog(core: Core, tx: Tx, address: Address, plugin: str, kind: str) -> None:
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


def _end(core: Core, tx: Tx, address: Address, job_id: str, lease: Lease, **columns: object) -> Job:
    lease.check(tx)
    assignments = ", ".join(f"{name} = ?" for name in columns)
    touched = tx.run(
        f"UPDATE job SET {assignments}, updated = ? WHERE {_MINE} AND state = 'running' AND fence = ?",
        (*columns.values(), core.now(), address.workspace, address.session, job_id, lease.fence),
    )
    if not touched:
        raise _lost(address, job_id)
    return _job(tx, address, job_id)


def _kept_reason(reason: str) -> str:
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
