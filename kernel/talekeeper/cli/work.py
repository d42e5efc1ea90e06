"""How the work of plugins outside the turn stands in a whole home, for `status` and `doctor`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from talekeeper.cli import output
from talekeeper.cli.options import DEFAULT_WORKSPACE
from talekeeper.errors import StoreUnusable
from talekeeper.story import JobState
from talekeeper.trace import read_events
from talekeeper.turn import count_backlog

if TYPE_CHECKING:
    from talekeeper.home import Home


@dataclass(frozen=True, slots=True)
class Work:
    """Work that is not done: how many jobs stand how, why those that failed did, and turns that were given none."""

    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    failed: Sequence[str] = ()
    unrecorded: Sequence[str] = ()
    untold: Mapping[str, int] = field(default_factory=dict[str, int])
    """Session, with its workspace, → turns for which no job was noted."""

    @classmethod
    def of(cls, home: Home, workspaces: Sequence[str]) -> Work:
        """In all sessions of these workspaces."""
        open_jobs = [found for name in workspaces for found in home.story.jobs.unfinished(name)]
        found = [session.address for name in workspaces for session in home.story.sessions(name)]
        untold = {f"{one.workspace}/{one.session}": count_backlog(home.services, one) for one in found}
        return cls(
            Counter(str(job.state) for _, job in open_jobs),
            [
                f"{where.session}: {job.plugin}/{job.kind}: {job.reason}"
                for where, job in open_jobs
                if job.state is JobState.FAILED
            ],
            list(unrecorded(home)),
            {name: turns for name, turns in untold.items() if turns},
        )

    @property
    def faults(self) -> list[str]:
        """What went wrong, a line each."""
        return [*self.failed, *self.unrecorded]

    def json(self) -> dict[str, object]:
        """As `--json` prints it."""
        said = {"unfinished": dict(self.counts), "faults": self.faults, "unrecorded": list(self.unrecorded)}
        return {**said, "untold_turns": dict(self.untold)}

    def words(self) -> str:
        """On one line."""
        counts = dict(self.counts) | ({"not written down": len(self.unrecorded)} if self.unrecorded else {})
        stands = [f"{count:,} {state}" for state, count in sorted(counts.items())]
        if self.untold:
            turns = output.counted(sum(self.untold.values()), "turn")
            stands.append(f"none yet for {turns} of {output.counted(len(self.untold), 'session')}")
        return ", ".join(stands) or "all done"

    def cures(self) -> Iterator[str]:
        """What to do about turns without jobs."""
        for name, turns in self.untold.items():
            workspace, _, session = name.partition("/")
            where = session if workspace == DEFAULT_WORKSPACE else f"{session} -w {workspace}"
            yield f"{output.counted(turns, 'turn')} of {session}: talekeeper jobs run {where}"


def unrecorded(home: Home) -> Iterator[str]:
    """Ends of jobs that could not be written down, by this process or, as its events tell, another.

    A failure that is kept nowhere else is never to look like rest: the ledger still says that the job is running.
    """
    kept = {(one.address, one.job): f"{one.reason} ({one.because})" for one in home.story.jobs.unrecorded}
    running = {
        job.id: (where, job)
        for workspace in home.story.workspaces()
        for where, job in home.story.jobs.unfinished(workspace.id)
        if job.state is JobState.RUNNING
    }
    for (address, job_id), what in kept.items():
        running.pop(job_id, None)
        yield f"{address.session}: {what}"
    told = {job_id: because for job_id, because in _told(home) if job_id in running}
    for job_id, because in told.items():
        where, job = running[job_id]
        yield f"{where.session}: how {job.plugin}/{job.kind} ended could not be written ({because})"


def _told(home: Home) -> Iterator[tuple[str, str]]:
    from talekeeper.home import TRACES  # noqa: PLC0415 - the home has loaded it

    if home.trace is not None:
        home.trace.flush()
    try:
        events = read_events(home.folder / TRACES, kind="job.unrecorded")
    except StoreUnusable:
        return  # said of the traces themselves
    for event in events:
        yield str(event.facts.get("id", "")), str(event.facts.get("because", ""))
