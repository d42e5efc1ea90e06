"""`talekeeper status`: what a home holds, and how far plugins' work outside the turn has come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
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
        size = sum(home.db.sizes())
        sessions = {one.id: home.story.sessions.all(one.id) for one in home.story.workspaces.all()}
        plugins = home.host.roster().plugins
        events, dropped, traces = _events(home.folder / TRACES)
        every = [session for found in sessions.values() for session in found]
        work, jobs, remarks = _work(home, list(sessions), every)
        faults = list(model_faults(home))
        spent = [row for one in every for row in usage_rows(home.story.turn_log.spent(one.address))]
    messages = sum(session.messages for session in every)
    facts = {
        "home": home.folder,
        "database_bytes": size,
        "workspaces": {name: len(found) for name, found in sessions.items()},
        "sessions": len(every),
        "messages": messages,
        "events": events,
        "events_dropped": dropped,
        "plugins": {plugin.id: plugin.state for plugin in plugins},
        "jobs": work,
        "model_calls": sum(row["calls"] for row in spent),
        "cost": costs(spent),
        "model_faults": faults,
    }
    if options.as_json:
        output.emit(facts)
        return
    output.say(f"home      {home.folder} ({output.sized(size)})")
    held = f"{counted(len(every), 'session')} with {counted(messages, 'message')}"
    output.say(f"holds     {held}, in {_listed(list(sessions))}")
    output.say(f"plugins   {', '.join(f'{plugin.id} ({plugin.state})' for plugin in plugins) or 'none'}")
    output.say(f"jobs      {jobs}")
    for line in remarks:
        output.say(f"          {line}")
    output.say(f"models    {_spent_words(spent)}")
    for fault in faults:
        output.say(f"          {fault}")
    output.say(f"traces    {traces}")


def _events(file: Path) -> tuple[int | None, int | None, str]:
    """Events there are and events known to be missing, None where the file cannot be read; and that on one line."""
    try:
        events, dropped = count_events(file)
    except StoreUnusable as fault:
        return None, None, str(fault)
    return events, dropped, counted(events, "event") + (f", {dropped:,} more dropped" if dropped else "")


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


def _work(
    home: Home, workspaces: Sequence[str], sessions: Sequence[Session]
) -> tuple[dict[str, object], str, list[str]]:
    """Work that is not done: as `--json` prints it, on one line, and a few lines on what went wrong and what to do.

    It is jobs that stand open, ends of jobs that could not be written down, and turns for which no job was noted.
    """
    unfinished = [found for name in workspaces for found in home.story.jobs.unfinished(name)]
    counts = Counter(str(job.state) for _, job in unfinished)
    failed = [(where, job) for where, job in unfinished if job.state is JobState.FAILED]
    lost = list(unrecorded(home))
    faults = [*(f"{where.session}: {job.plugin}/{job.kind}: {job.reason}" for where, job in failed), *lost]
    backlog = [(one, count_backlog(home.story, home.host, one.address)) for one in sessions]
    untold = [(one, turns) for one, turns in backlog if turns]
    words = [
        f"{count:,} {state}" for state, count in sorted({**counts, "not written down": len(lost)}.items()) if count
    ]
    if untold:
        turns = counted(sum(count for _, count in untold), "turn")
        words.append(f"none yet for {turns} of {counted(len(untold), 'session')}")
    cures: list[str] = []
    for one, count in untold:
        where = one.id if one.workspace == DEFAULT_WORKSPACE else f"{one.id} -w {one.workspace}"
        cures.append(f"{counted(count, 'turn')} of {one.id}: talekeeper jobs run {where}")
    document: dict[str, object] = {
        "unfinished": dict(counts),
        "faults": faults,
        "unrecorded": lost,
        "untold_turns": {f"{one.workspace}/{one.id}": count for one, count in untold},
    }
    return document, ", ".join(words) or "all done", [*faults[-_NAMED:], *cures[:_NAMED]]


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
    for job_id, because in _told(home).items():
        if job_id in running:
            where, job = running[job_id]
            yield f"{where.session}: how {job.plugin}/{job.kind} ended could not be written ({because})"


def _told(home: Home) -> dict[str, str]:
    from talekeeper.home import TRACES  # noqa: PLC0415 - the home has loaded it

    if home.trace is not None:
        home.trace.flush()
    try:
        events = read_events(home.folder / TRACES, kind="job.unrecorded")
    except StoreUnusable:
        return {}  # said of the traces themselves
    return {str(event.facts.get("id", "")): str(event.facts.get("because", "")) for event in events}


def model_faults(home: Home) -> Iterator[str]:
    """A mistake in the configuration of models, or why what embeds in this process is not there. Asks no endpoint."""
    try:
        if home.models.provided is not None:
            home.semantics.encoder()
    except (InputError, ModelError, PluginError) as fault:
        yield fault.sentence()
