"""Work outside the turn, as rows: noted in a turn's own commit, claimed under a lease, ended with its result.

Every method takes part in the caller's transaction when `tx` is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from talekeeper.db import Lease, Tx
from talekeeper.errors import Conflict, StoreError
from talekeeper.story import coverage, ledger
from talekeeper.story.core import Core
from talekeeper.story.coverage import Ranges
from talekeeper.story.views import Address, Coordinate, Job, Message


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """A failure that could not be written down, and why not."""

    address: Address
    job: str
    reason: str
    because: str


class Jobs:
    """The ledger half of the store."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.unrecorded: list[Unrecorded] = []

    @staticmethod
    def lease_name(address: Address) -> str:
        """Of the lease under which a session's jobs run."""
        return f"jobs:{address.session}"

    def enqueue(
        self, address: Address, plugin: str, kind: str, end: Coordinate, *, start: int, tx: Tx | None = None
    ) -> Job:
        """Notes work on the messages at depths `start`..`end.depth`; the same work is noted once."""
        return self._core.write(
            lambda tx: ledger.enqueue(self._core, tx, address, plugin, kind, end, start), tx, "note a job"
        )

    def claim(self, address: Address, lease: Lease, *, tx: Tx | None = None) -> Job | None:
        """Takes up the next job that is due on the head's lineage; `lease` is the session's, held by the caller."""
        return self._core.write(lambda tx: ledger.claim(self._core, tx, address, lease), tx, "claim a job")

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
        """Ends a running job; raises `Conflict` when another worker has it now. `covered` are depths, inclusive."""

        def succeed(tx: Tx) -> Job:
            return ledger.succeed(
                self._core, tx, address, job, lease, did_work=did_work, covered=covered, details=details or {}
            )

        return self._core.write(succeed, tx, "end a job")

    def skip(self, address: Address, job: str, lease: Lease, reason: str, *, tx: Tx | None = None) -> Job:
        """Ends a running job that had nothing to do, for `reason`."""
        return self._core.write(lambda tx: ledger.skip(self._core, tx, address, job, lease, reason), tx, "end a job")

    def fail(
        self, address: Address, job: str, lease: Lease, reason: str, *, after: float | None = None, tx: Tx | None = None
    ) -> bool:
        """Ends an attempt; the job is due again after `after` seconds or a growing delay.

        False when another worker has it now, or when not even that could be written: the failure is then kept in
        `unrecorded`.
        """
        try:
            self._core.write(
                lambda tx: ledger.fail(self._core, tx, address, job, lease, reason, after), tx, "end a job"
            )
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
        return self._core.write(
            lambda tx: ledger.release(self._core, tx, address, job, lease, reason, after, lacks), tx, "put a job back"
        )

    def awaken(self, address: Address, has_model: Callable[[str], bool]) -> list[Job]:
        """Makes due at once what was put back for want of a model whose slot `has_model` knows now, and gives it."""
        found = self._core.read(lambda tx: ledger.lacking(tx, address), None)
        there = [job for job, slot in found if has_model(slot)]
        if not there:
            return []
        return self._core.write(
            lambda tx: [ledger.awaken(self._core, tx, address, job) for job in there], None, "awaken jobs"
        )

    def keep(self, failure: Unrecorded) -> None:
        """Holds on to a failure that the store did not take; one of the same job that is there already gives way."""
        self.ended(failure.address, failure.job)
        self.unrecorded.append(failure)

    def ended(self, address: Address, job: str) -> None:
        """Lets go of what was kept of a job, whose end is written down now."""
        self.unrecorded = [one for one in self.unrecorded if (one.address, one.job) != (address, job)]

    def check(self, address: Address, job: str, lease: Lease, tx: Tx) -> None:
        """Raises `Conflict` unless the job is still running for this worker; asked in the transaction of its writes."""
        ledger.check(tx, address, job, lease)

    def hasten(self, address: Address, *, tx: Tx | None = None) -> int:
        """Makes what waits for its time due now, and gives how many jobs that are."""
        return self._core.write(lambda tx: ledger.hasten(self._core, tx, address), tx, "hasten jobs")

    def retry(self, address: Address, job: str | None = None, *, tx: Tx | None = None) -> list[Job]:
        """Makes failed jobs due with all their attempts, or the one named unless it has succeeded or is running."""
        return self._core.write(lambda tx: ledger.retry(self._core, tx, address, job), tx, "retry jobs")

    def renew(
        self, address: Address, plugin: str, kind: str, end: Coordinate, *, start: int, tx: Tx | None = None
    ) -> Job:
        """Notes work as `enqueue` does, and has it done again where it had ended."""
        return self._core.write(
            lambda tx: ledger.renew(self._core, tx, address, plugin, kind, end, start), tx, "note a job"
        )

    def reopen(self, address: Address, job: str, reason: str, *, tx: Tx | None = None) -> None:
        """Makes a succeeded job due again and what it covered uncovered."""
        self._core.write(lambda tx: ledger.reopen(self._core, tx, address, job, reason), tx, "reopen a job")

    def get(self, address: Address, job: str, *, tx: Tx | None = None) -> Job:
        """Raises `NotFound`."""
        return self._core.read(lambda tx: ledger.job(tx, address, job), tx)

    def all(self, address: Address, *, tx: Tx | None = None) -> list[Job]:
        """The whole ledger of a session, in the order it was written."""
        return self._core.read(lambda tx: ledger.jobs(tx, address), tx)

    def unfinished(self, workspace: str, *, tx: Tx | None = None) -> list[tuple[Address, Job]]:
        """Every job of a workspace that has not ended well; those that were given up too."""
        found = self._core.read(lambda tx: ledger.unfinished(tx, workspace), tx)
        return [(Address(workspace, session), job) for session, job in found]

    def superseded(self, address: Address, job: Job, *, tx: Tx | None = None) -> bool:
        """Whether a later job of its kind on the head's lineage has succeeded."""
        return self._core.read(lambda tx: coverage.superseded(tx, address, job), tx)

    def due_sessions(self, workspace: str, *, tx: Tx | None = None) -> list[Address]:
        """Sessions that may have work due, the longest waiting first."""
        now = self._core.now()
        names = self._core.read(lambda tx: ledger.due_sessions(tx, workspace, now), tx)
        return [Address(workspace, name) for name in names]

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
