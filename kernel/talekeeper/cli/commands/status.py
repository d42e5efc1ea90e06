"""`talekeeper status`: what a home holds, and how far plugins' work outside the turn has come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.commands.usage import cost_words, costs, usage_rows
from talekeeper.cli.options import DEFAULT_WORKSPACE, Common, common
from talekeeper.errors import InputError, ModelError, PluginError, StoreUnusable
from talekeeper.story import JobState
from talekeeper.text import counted
from talekeeper.trace import count_events, read_events
from talekeeper.turn import count_backlog

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.story import Session

_NAMED = 5


@click.command(epilog="Example:  talekeeper status")
@common
def command(options: Common, /) -> None:
    """Show what this home holds."""
    from talekeeper.home import TRACES  # noqa: PLC0415 - --help opens no home

    with options.open() as home:
        size, log = home.db.sizes()
        sessions = {one.id: home.story.sessions.all(one.id) for one in home.story.workspaces.all()}
        plugins = home.host.roster().plugins
        traces = _Traces.of(home.folder / TRACES)
        jobs = Work.of(home, list(sessions))
        faults = list(model_faults(home))
        spent = [row for found in sessions.values() for one in found for row in _rows(home, one)]
    count = sum(map(len, sessions.values()))
    messages = sum(session.messages for found in sessions.values() for session in found)
    facts = {
        "home": home.folder,
        "database_bytes": size + log,
        "workspaces": {name: len(found) for name, found in sessions.items()},
        "sessions": count,
        "messages": messages,
        "events": traces.events,
        "events_dropped": traces.dropped,
        "plugins": {plugin.id: plugin.state for plugin in plugins},
        "jobs": jobs.json(),
        "model_calls": sum(row["calls"] for row in spent),
        "cost": costs(spent),
        "model_faults": faults,
    }
    if options.as_json:
        output.emit(facts)
        return
    output.say(f"home      {home.folder} ({output.sized(size + log)})")
    held = f"{counted(count, 'session')} with {counted(messages, 'message')}"
    output.say(f"holds     {held}, in {_listed(list(sessions))}")
    output.say(f"plugins   {', '.join(f'{plugin.id} ({plugin.state})' for plugin in plugins) or 'none'}")
    output.say(f"jobs      {jobs.words()}")
    for line in [*jobs.faults[-_NAMED:], *list(jobs.cures())[:_NAMED]]:
        output.say(f"          {line}")
    output.say(f"models    {_spent_words(spent)}")
    for fault in faults:
        output.say(f"          {fault}")
    output.say(f"traces    {traces.words()}")


@dataclass(frozen=True, slots=True)
class _Traces:
    """Events there are and events known to be missing, None where the file cannot be read."""

    events: int | None
    dropped: int | None
    fault: str = ""

    @classmethod
    def of(cls, file: Path) -> _Traces:
        try:
            return cls(*count_events(file))
        except StoreUnusable as fault:
            return cls(None, None, str(fault))

    def words(self) -> str:
        """On one line."""
        missing = f", {self.dropped:,} more dropped" if self.dropped else ""
        return self.fault or counted(self.events or 0, "event") + missing


def _rows(home: Home, session: Session) -> list[dict[str, Any]]:
    return usage_rows(home.story.turn_log.spent(session.address))


def _spent_words(rows: list[dict[str, Any]]) -> str:
    """Calls of models and what they cost, as far as a price was configured."""
    calls = counted(sum(row["calls"] for row in rows), "call")
    free = sum(row["calls"] for row in rows if row["cost"] is None)
    if not rows or (free and not costs(rows)):
        return f"{calls}{', no price configured' if rows else ''}"
    return f"{calls}, {cost_words(costs(rows))}{f' and {free:,} without a price' if free else ''}"


def _listed(names: list[str]) -> str:
    if not names:
        return "no workspace"
    more = ", …" if len(names) > _NAMED else ""
    return f"{counted(len(names), 'workspace')} ({', '.join(names[:_NAMED])}{more})"


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
        found = [session.address for name in workspaces for session in home.story.sessions.all(name)]
        untold = {f"{one.workspace}/{one.session}": count_backlog(home.story, home.host, one) for one in found}
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
            turns = counted(sum(self.untold.values()), "turn")
            stands.append(f"none yet for {turns} of {counted(len(self.untold), 'session')}")
        return ", ".join(stands) or "all done"

    def cures(self) -> Iterator[str]:
        """What to do about turns without jobs."""
        for name, turns in self.untold.items():
            workspace, _, session = name.partition("/")
            where = session if workspace == DEFAULT_WORKSPACE else f"{session} -w {workspace}"
            yield f"{counted(turns, 'turn')} of {session}: talekeeper jobs run {where}"


def unrecorded(home: Home) -> Iterator[str]:
    """Ends of jobs that could not be written down, by this process or, as its events tell, another.

    A failure that is kept nowhere else is never to look like rest: the ledger still says that the job is running.
    """
    kept = {(one.address, one.job): f"{one.reason} ({one.because})" for one in home.story.jobs.unrecorded}
    running = {
        job.id: (where, job)
        for workspace in home.story.workspaces.all()
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


def model_faults(home: Home) -> Iterator[str]:
    """A mistake in the configuration of models, or why what embeds in this process is not there. Asks no endpoint."""
    try:
        if home.models.provided is not None:
            home.semantics.encoder()
    except (InputError, ModelError, PluginError) as fault:
        yield fault.sentence()
