"""Jobs: work outside the turn, as rows. Noted in a turn's own commit, claimed under a lease, ended with its result.

How far a kind of work has come on a lineage is read from its succeeded jobs, and kept nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from talekeeper.clock import iso
from talekeeper.db import Lease, Tx, dumps, stored
from talekeeper.errors import Conflict, ParameterError, StoreError
from talekeeper.story import ledger
from talekeeper.story.core import Core
from talekeeper.story.ledger import COLUMNS, FIRST_DELAY, LACKS, LONGEST_DELAY, MAX_ATTEMPTS, ONE, OPEN
from talekeeper.story.messages.lineage import line_to, place_on
from talekeeper.story.messages.rows import NO_LIMIT, story_messages
from talekeeper.story.views import Address, Coordinate, Job, JobState, Message

Ranges = list[tuple[int, int]]

_DONE = "j.state = 'succeeded' AND "
_BY_MESSAGE = "line.branch = j.covered_branch AND j.covered_end <= line.upto"
_BY_JOB = "line.branch = j.branch AND j.range_end <= line.upto AND j.covered_end IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """A failure that could not be written down, and why not."""

    address: Address
    job: str
    reason: str
    because: str


class Jobs:
    """The jobs of every session. A method that takes `tx` takes part in that transaction of the caller."""

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
                f"SELECT {COLUMNS} FROM job j WHERE j.workspace = ? AND j.session = ? AND j.plugin = ? "
                "AND j.kind = ? AND j.branch = ? AND j.range_start = ? AND j.range_end = ?",
                same,
            )
            if row is not None:
                return ledger.view(row)
            ledger.bound_backlog(self._core, tx, address, plugin, kind)
            made, now = self._core.ids.new(), self._core.now()
            tx.run(
                "INSERT INTO job(workspace, session, id, seq, plugin, kind, branch, range_start, range_end, state, "
                "attempts, did_work, reason, details, fence, created, updated) "
                "SELECT ?, ?, ?, coalesce(max(seq), 0) + 1, ?, ?, ?, ?, ?, 'pending', 0, 0, '', '{}', 0, ?, ? "
                "FROM job WHERE workspace = ? AND session = ?",
                (*same[:2], made, *same[2:], now, now, *same[:2]),
            )
            return ledger.job(tx, address, made)

        return self._core.write(enqueue, tx, "note a job")

    def renew(self, address: Address, plugin: str, kind: str, end: Coordinate, *, start: int) -> Job:
        """Notes work as `enqueue` does, and has it done again where it had ended."""

        def renew(tx: Tx) -> Job:
            noted = self.enqueue(address, plugin, kind, end, start=start, tx=tx)
            if noted.state not in {JobState.PENDING, JobState.RUNNING}:
                ledger.make_due(self._core, tx, address, noted.id)
            return ledger.job(tx, address, noted.id)

        return self._core.db.write(renew, name="note a job")

    def claim(self, address: Address, lease: Lease, *, tx: Tx | None = None) -> Job | None:
        """Takes up the next job that is due on the head's lineage, or None; `lease` is the session's, which you hold.

        Whoever holds it is alone, so a job that is still running belongs to a process that died. Jobs that failed less
        often come first: what keeps failing does not keep the rest waiting.
        """

        def claim(tx: Tx) -> Job | None:
            lease.check(tx)
            now = self._core.now()
            ledger.give_up_dead(tx, address, lease, now)
            line = line_to(address, None)
            row = tx.one(
                f"{line.sql} SELECT {COLUMNS} FROM job j JOIN line ON line.branch = j.branch "
                "AND j.range_end <= line.upto "
                f"WHERE j.workspace = ? AND j.session = ? AND j.{OPEN} AND j.attempts < ? "
                "AND (j.fence < ? OR j.state <> 'running') AND coalesce(j.not_before, '') <= ? "
                "ORDER BY j.attempts, j.seq LIMIT 1",
                (*line.params, address.workspace, address.session, MAX_ATTEMPTS, lease.fence, now),
            )
            if row is None:
                return None
            tx.run(
                f"UPDATE job SET state = 'running', attempts = attempts + 1, fence = ?, updated = ? WHERE {ONE}",
                (lease.fence, now, address.workspace, address.session, row[0]),
            )
            return ledger.job(tx, address, row[0])

        return self._core.write(claim, tx, "claim a job")

    def check(self, address: Address, job: str, lease: Lease, tx: Tx) -> None:
        """Raises `Conflict` unless the job is running for this lease: only then may you commit what it writes."""
        lease.check(tx)
        row = tx.one(
            f"SELECT 1 FROM job WHERE {ONE} AND state = 'running' AND fence = ?",
            (address.workspace, address.session, job, lease.fence),
        )
        if row is None:
            raise ledger.lost(address, job)

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
                at = ledger.job(tx, address, job).coordinate
                if not 0 <= start <= end <= at.depth:
                    what = f"{start}..{end} is no range of messages up to the job's end, {at.depth}"
                    raise ParameterError("covered", what)
                branch = place_on(tx, address, at, end).branch
                done |= {"covered_start": start, "covered_end": end, "covered_branch": branch}
            done |= {"state": "succeeded", "reason": "", "not_before": None}
            return ledger.end(self._core, tx, address, job, lease, **done)

        return self._core.write(succeed, tx, "end a job")

    def skip(self, address: Address, job: str, lease: Lease, reason: str, *, tx: Tx | None = None) -> Job:
        """Ends a running job that had nothing to do, for `reason`."""
        ended = {"state": "skipped", "reason": ledger.kept_reason(reason), "not_before": None}
        return self._core.write(lambda tx: ledger.end(self._core, tx, address, job, lease, **ended), tx, "end a job")

    def fail(self, address: Address, job: str, lease: Lease, reason: str, *, after: float | None = None) -> bool:
        """Ends an attempt; while attempts are left, the job is due again after `after` seconds or a growing delay.

        False when another worker has it now, or when not even that could be written: the failure is then kept in
        `unrecorded`.
        """

        def fail(tx: Tx) -> None:
            attempts = ledger.job(tx, address, job).attempts
            delay = min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** (attempts - 1)) if after is None else after
            due = None if attempts >= MAX_ATTEMPTS else self._in_seconds(delay)
            ended = {"state": "failed", "reason": ledger.kept_reason(reason), "not_before": due}
            ledger.end(self._core, tx, address, job, lease, **ended)

        try:
            self._core.db.write(fail, name="end a job")
        except Conflict:
            return False
        except StoreError as error:
            self.keep(Unrecorded(address, job, reason, error.sentence()))
            return False
        return True

    def release(
        self, address: Address, job: str, lease: Lease, reason: str, *, after: float = 0.0, lacks: str = ""
    ) -> Job:
        """Puts a running job back, its attempt not counted; it is due again after `after` seconds.

        `lacks` is the slot of the model it waits for, see `awaken`.
        """

        def release(tx: Tx) -> Job:
            back = {
                "state": "pending",
                "attempts": ledger.job(tx, address, job).attempts - 1,
                "reason": ledger.kept_reason(reason),
                "not_before": self._in_seconds(after) if after else None,
                "details": dumps({LACKS: lacks} if lacks else {}, "details"),
            }
            return ledger.end(self._core, tx, address, job, lease, **back)

        return self._core.db.write(release, name="put a job back")

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
        there = [job for job, details in found if (slot := ledger.lacked(stored(details))) and has_model(slot)]

        def awaken(tx: Tx) -> list[Job]:
            for job in there:
                tx.run(
                    f"UPDATE job SET not_before = NULL, reason = '', details = '{{}}', updated = ? WHERE {ONE} "
                    "AND state = 'pending'",
                    (self._core.now(), address.workspace, address.session, job),
                )
            return [ledger.job(tx, address, job) for job in there]

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
                found = [ledger.job(tx, address, job)]
            if any(one.state in {JobState.RUNNING, JobState.SUCCEEDED} for one in found):
                state = "is running" if found[0].state is JobState.RUNNING else "has succeeded"
                raise Conflict(f"the job {job!r} {state}", where=address.session, cure="it needs no retry")
            for one in found:
                ledger.make_due(self._core, tx, address, one.id)
            return [ledger.job(tx, address, one.id) for one in found]

        return self._core.write(retry, tx, "retry jobs")

    # Reading

    def get(self, address: Address, job: str, *, tx: Tx | None = None) -> Job:
        """Raises `NotFound`."""
        return self._core.read(lambda tx: ledger.job(tx, address, job), tx)

    def all(self, address: Address, *, tx: Tx | None = None) -> list[Job]:
        """Every job of a session, in the order they were noted."""
        sql = f"SELECT {COLUMNS} FROM job j WHERE j.workspace = ? AND j.session = ? ORDER BY j.seq"
        params = (address.workspace, address.session)
        return [ledger.view(row) for row in self._core.read(lambda tx: tx.rows(sql, params), tx)]

    def unfinished(self, workspace: str, *, tx: Tx | None = None) -> list[tuple[Address, Job]]:
        """Every job of a workspace that has not ended well; those that were given up too."""
        sql = f"SELECT j.session, {COLUMNS} FROM job j WHERE j.workspace = ? AND j.{OPEN} ORDER BY j.session, j.seq"
        found = self._core.read(lambda tx: tx.rows(sql, (workspace,)), tx)
        return [(Address(workspace, row[0]), ledger.view(row[1:])) for row in found]

    def _in_seconds(self, delay: float) -> str:
        return iso(self._core.clock.now() + timedelta(seconds=delay))


class Coverage:
    """Ranges of depths, inclusive, in order, merged where they touch. A coordinate left out is the session's head."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def covered(
        self, address: Address, plugin: str, kind: str, *, at: Coordinate | None = None, tx: Tx | None = None
    ) -> Ranges:
        """Ranges of the lineage's messages that succeeded jobs cover, those of other takes too."""
        return self._core.read(lambda tx: _ranges(tx, address, plugin, kind, at, _DONE + _BY_MESSAGE), tx)

    def settled(
        self, address: Address, plugin: str, kind: str, *, at: Coordinate | None = None, tx: Tx | None = None
    ) -> Ranges:
        """Ranges that jobs of the lineage's own turns have covered, whether or not they are due again."""
        return self._core.read(lambda tx: _ranges(tx, address, plugin, kind, at, _BY_JOB), tx)

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
        """The first story messages that are not covered, at most `limit`, up to the next that is.

        With `own`, only jobs of the lineage's own turns count: what a take that lost has paid for is then not covered.
        """
        which = _DONE + (_BY_JOB if own else _BY_MESSAGE)

        def find(tx: Tx) -> list[Message]:
            begin = 0
            for start, end in [*_ranges(tx, address, plugin, kind, at, which), (NO_LIMIT, NO_LIMIT)]:
                found = story_messages(tx, address, at, begin, start - 1, limit, hidden=hidden)
                if found:
                    return found
                begin = end + 1
            return []

        return self._core.read(find, tx)

    def superseded(self, address: Address, job: Job, *, tx: Tx | None = None) -> bool:
        """Whether a job of the same kind that ends further on along the head's lineage has succeeded."""
        line = line_to(address, None)
        sql = (
            f"{line.sql} SELECT 1 FROM job j JOIN line ON line.branch = j.branch AND j.range_end <= line.upto "
            "WHERE j.workspace = ? AND j.session = ? AND j.plugin = ? AND j.kind = ? AND j.state = 'succeeded' "
            "AND j.range_end > ? LIMIT 1"
        )
        params = (*line.params, address.workspace, address.session, job.plugin, job.kind, job.end)
        return self._core.read(lambda tx: tx.one(sql, params), tx) is not None


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
