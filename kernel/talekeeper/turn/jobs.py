"""The jobs of a session: noted in a turn's commit, run one after the other under a lease, each failing on its own.

Any process may run them. Nothing here waits for a time to come: what is not due yet is run on a later turn.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from talekeeper.api import JobResult
from talekeeper.db import Lease, Leases, Tx
from talekeeper.embedding import AFTER_A_TURN
from talekeeper.errors import (
    Cancelled,
    Conflict,
    HeldAcrossCall,
    InputError,
    ModelError,
    NoModel,
    NotFound,
    PluginError,
    RateLimited,
    Retry,
    Skip,
    StoreError,
    TalekeeperError,
)
from talekeeper.models import Cancel, ModelSource
from talekeeper.plugin_context import Bound, CallJob, InJob, Lifetime, call_plugin, working_plugin
from talekeeper.services import Services
from talekeeper.story import ROOT, Address, Job, Jobs, Message, Session, Unrecorded
from talekeeper.text import thaw
from talekeeper.turn.backlog import backlog, kinds

WAIT = 3600.0
"""Seconds until a job that lacks a model or its plugin is looked at again.

A person may hasten it, and where the slot of a model was empty, it is due as soon as it is not.
"""

ROUND = 20
"""Turns noted at once when a story is caught up with, well below the backlog that the ledger holds of a kind."""

_LONGEST = 30 * 24 * 3600.0  # seconds a plugin or an endpoint may put a job off
_log = logging.getLogger("talekeeper.jobs")


class JobRunner:
    """Runs jobs in the thread that asks; see `Worker` for those in the background."""

    def __init__(self, services: Services, models: ModelSource, leases: Leases) -> None:
        self._services = replace(services, models=models)
        self._leases = leases
        self._jobs = services.story.jobs

    def enqueue(
        self, tx: Tx, session: Session, narration: Message, turn_messages: Sequence[Message]
    ) -> tuple[Job, ...]:
        """Notes every job that a turn starts, in the order of plugins and manifests, inside the turn's own commit."""
        start = min(message.coordinate.depth for message in (*turn_messages, narration))
        roster = self._services.host.roster(session=session, tx=tx)
        return tuple(
            self._jobs.enqueue(session.address, plugin.id, kind, narration.coordinate, start=start, tx=tx)
            for plugin in roster.working
            for kind in kinds(plugin, "turn-committed")
        )

    def ask_for(self, address: Address, path: str) -> None:
        """Notes the job `plugin/job` on the whole story, even if it was done before, unless it follows turns.

        Raises NotFound, and PluginError when the plugin does not work in the session.
        """
        plugin, kind = working_plugin(self._services, address, path, "jobs")
        if kind in kinds(plugin, "turn-committed"):
            return
        last = self._services.story.messages.read(address, last=1)
        end = last[0].coordinate if last else ROOT
        self._jobs.renew(address, plugin.id, kind, end, start=0)

    def run(
        self,
        address: Address,
        *,
        limit: int | None = None,
        on_job: Callable[[Job], object] | None = None,
        cancel: Cancel | None = None,
    ) -> list[Job]:
        """Runs what is due on the head's lineage, at most `limit` jobs, and gives each as it ended.

        A job's own failure is recorded and raises nothing. Raises `Busy` while another process runs them, and
        StoreError when the ledger cannot be read or written.
        """
        done: list[Job] = []
        self.awaken(address)
        with self._leases.hold(address.workspace, self._jobs.lease_name(address)) as lease:
            while (limit is None or len(done) < limit) and not (cancel is not None and cancel.is_set()):
                job = None
                with suppress(Conflict):  # somebody else has the lease by now, and does what there is to do
                    job = self._jobs.claim(address, lease)
                if job is None:
                    break
                done.append(_Attempt(self._services, address, job, lease, cancel).run())
                if on_job is not None:
                    on_job(done[-1])
            self._embed(address, cancel)
        return done

    def awaken(self, address: Address) -> None:
        """Makes due what waited for a model that is there now; runs nothing."""
        for job in self._jobs.awaken(address, lambda slot: self._services.models.slot(slot) is not None):
            _report(self._services, "job.due", address, job, because="its model is there now")

    def left(self, address: Address, only: str = "") -> int:
        """How many jobs `catch_up` has before it, as far as can be known."""
        waiting = [job for where, job in self._jobs.unfinished(address.workspace) if where == address]
        return len(waiting) + len(backlog(self._services.story, self._services.host, address, only))

    def catch_up(
        self,
        address: Address,
        *,
        only: str = "",
        on_job: Callable[[Job], object] | None = None,
        cancel: Cancel | None = None,
    ) -> list[Job]:
        """Runs all there is now, waiting or not, then the backlog, round by round.

        `only` is one `plugin/job`. Stops after a round that did not end well; raises as `run` does.
        """
        self._jobs.hasten(address)
        done = self.run(address, on_job=on_job, cancel=cancel)
        while True:
            waiting = backlog(self._services.story, self._services.host, address, only)[:ROUND]
            if not waiting or (cancel is not None and cancel.is_set()):
                return done
            for each in waiting:
                self._jobs.renew(address, each.plugin, each.kind, each.end, start=each.start)
            ended = self.run(address, on_job=on_job, cancel=cancel)
            done += ended
            if any(job.state not in {"succeeded", "skipped"} for job in ended) or len(ended) < len(waiting):
                return done

    def _embed(self, address: Address, cancel: Cancel | None) -> None:
        """Gives the newest passages their vectors, where something embeds; what fails is tried after the next turn."""
        semantics = self._services.semantics
        if semantics is None or (cancel is not None and cancel.is_set()):
            return
        try:
            semantics.embed(address, limit=AFTER_A_TURN, cancel=cancel)
        except (ModelError, PluginError, InputError, Cancelled) as fault:
            _log.info("passages of %s wait for their vectors: %s", address.session, fault)
            self._services.report("embedding.failed", address, reason=fault.sentence())


class _PluginAway(Exception):
    """The job's plugin cannot be called now; its text says why. Nothing is wrong with the job."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One job as this worker took it up: calls its plugin and writes down how that ended."""

    services: Services
    address: Address
    job: Job
    lease: Lease
    cancel: Cancel | None

    def run(self) -> Job:
        """The job as it ended."""
        _report(self.services, "job.started", self.address, self.job)
        try:
            result = self._call()
        except HeldAcrossCall:
            raise
        except TalekeeperError as error:
            self._end_with(error)
        except _PluginAway as away:
            self._release(f"waits for its plugin: {away}", WAIT)
        except Exception as error:
            # Only a strict guard lets a plugin's own exception through, and then the caller shall see it.
            self._fail(f"raised {type(error).__name__}: {error}")
            raise
        except BaseException:
            with suppress(StoreError):
                self._ledger.release(self.address, self.job.id, self.lease, self.job.reason)
            raise
        else:
            details = {**result.details, **({"skipped": result.skipped} if result.skipped else {})}
            did_work = result.did_work and not result.skipped
            succeed = partial(self._ledger.succeed, did_work=did_work, covered=result.covered, details=details)
            self._end("it was done", succeed)
        ended = self.job
        with suppress(StoreError, NotFound):
            ended = self._ledger.get(self.address, self.job.id)
        _report(self.services, "job.ended", self.address, ended)
        return ended

    def _call(self) -> JobResult:
        """Calls the function bound to the job's own place in the story.

        Raises `_PluginAway`, `Skip` for a job that its plugin skips or no longer declares, and what `call_plugin` does.
        """
        services, job = self.services, self.job
        services.host.ready(self.address)
        session = services.story.sessions.get(self.address)
        plugin = services.host.roster(session=session).by_id.get(job.plugin)
        if plugin is None:
            raise _PluginAway(f"plugin {job.plugin!r} is not installed")
        if not plugin.works or plugin.suspended:
            raise _PluginAway(f"plugin {plugin.id!r} is {plugin.state}: {plugin.reason}")
        if job.kind not in kinds(plugin):
            raise Skip(f"plugin {plugin.id!r} does not declare this job any more")
        at_end = services.story.messages.at(self.address, job.coordinate)
        in_job = InJob(job, 0 if at_end is None else at_end.turn, self.lease)
        life = Lifetime(plugin.id, cancel=self.cancel)
        bound = Bound(services, plugin, session, life, at=job.coordinate, job=in_job)
        view = CallJob(bound, job, in_job.turn)
        result = call_plugin(bound, "jobs", job.kind, view, check=lambda given: _checked(given, job.end))
        if result.skipped and result.covered is None:
            raise Skip(result.skipped)
        return result

    @property
    def _ledger(self) -> Jobs:
        return self.services.story.jobs

    def _end_with(self, error: TalekeeperError) -> None:
        reason = str(error)
        if isinstance(error, Skip):
            self._end(reason, partial(self._ledger.skip, reason=reason))
        elif isinstance(error, NoModel):
            slot = error.data.get("slot")
            # Where the slot is there, something else about its model is not.
            lacks = slot if isinstance(slot, str) and self.services.models.slot(slot) is None else ""
            self._release(f"waits for a model: {reason}", WAIT, lacks=lacks)
        elif isinstance(error, Cancelled) and self.cancel is not None and self.cancel.is_set():
            self._release(self.job.reason, 0.0)
        elif isinstance(error, Retry):
            self._fail(reason, _seconds(error.after))
        elif isinstance(error, RateLimited):
            self._fail(reason, _seconds(error.data.get("retry_after")))
        else:
            self._fail(reason)

    def _release(self, reason: str, after: float, *, lacks: str = "") -> None:
        self._end(reason, partial(self._ledger.release, reason=reason, after=after, lacks=lacks))

    def _fail(self, reason: str, after: float | None = None) -> None:
        if self._ledger.fail(self.address, self.job.id, self.lease, reason, after=after):
            self._ledger.ended(self.address, self.job.id)
        else:
            self._warn_of_unrecorded()

    def _end(self, reason: str, write: Callable[[Address, str, Lease], object]) -> None:
        try:
            write(self.address, self.job.id, self.lease)
        except Conflict:
            return  # an edit began it again, or it is another worker's: its end is no longer ours to write
        except StoreError as error:
            self._ledger.keep(Unrecorded(self.address, self.job.id, reason, error.sentence()))
            self._warn_of_unrecorded()
        else:
            self._ledger.ended(self.address, self.job.id)

    def _warn_of_unrecorded(self) -> None:
        job = self.job
        for kept in self._ledger.unrecorded:
            if (kept.address, kept.job) == (self.address, job.id):
                _log.warning("how %s/%s ended could not be written: %s", job.plugin, job.kind, kept.because)
                _report(self.services, "job.unrecorded", self.address, job, because=kept.because)


def _report(services: Services, event: str, address: Address, job: Job, **facts: object) -> None:
    services.report(
        event,
        address,
        plugin=job.plugin,
        job=job.kind,
        id=job.id,
        state=job.state,
        attempt=job.attempts,
        reason=job.reason,
        turn=None,
        **facts,
    )


def _checked(given: object, last: int) -> JobResult:
    """The result in values of the kernel's own; raises for what is none of a job that ends at depth `last`."""
    if not isinstance(given, JobResult):
        raise TypeError(f"a job gives a JobResult, not {type(given).__name__}")
    covered: object = given.covered
    match covered:
        case None:
            kept = None
        case (int() as first, int() as end) if 0 <= first <= end <= last:
            kept = first, end
        case _:
            raise ValueError(f"covered is {covered!r}, which is no range up to depth {last}")
    details: dict[str, Any] = thaw(dict(given.details))
    return JobResult(bool(given.did_work), kept, str(given.skipped), details)


def _seconds(after: object) -> float | None:
    """The delay a plugin or an endpoint asks for, within limits; None for what is no delay."""
    if not isinstance(after, int | float) or not math.isfinite(after):
        return None
    return min(max(float(after), 0.0), _LONGEST)
