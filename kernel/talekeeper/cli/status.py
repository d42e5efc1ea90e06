"""`talekeeper status`: what a home holds, at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from talekeeper.cli import screen
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.errors import StoreUnusable
from talekeeper.story import JobState
from talekeeper.trace import count_events

if TYPE_CHECKING:
    from talekeeper.home import Home

_NAMED = 5


@click.command(epilog="Example:  talekeeper status")
@common
@pass_common
def command(options: Common, /) -> None:
    """Say what this home holds."""
    from talekeeper.home import TRACES  # noqa: PLC0415 - --help opens no home

    with options.open() as home:
        size, log = home.db.sizes()
        sessions = {one.id: home.story.sessions(one.id) for one in home.story.workspaces()}
        plugins = home.host.roster().plugins
        traces = _Traces.of(home.folder / TRACES)
        jobs = _Jobs.of(home, list(sessions))
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
    }
    if options.as_json:
        screen.emit(facts)
        return
    screen.say(f"home      {home.folder} ({screen.sized(size + log)})")
    held = f"{screen.counted(count, 'session')} with {screen.counted(messages, 'message')}"
    screen.say(f"holds     {held}, in {_listed(list(sessions))}")
    screen.say(f"plugins   {', '.join(f'{plugin.id} ({plugin.state})' for plugin in plugins) or 'none'}")
    screen.say(f"jobs      {jobs.words()}")
    for fault in jobs.faults[-_NAMED:]:
        screen.say(f"          {fault}")
    screen.say(f"traces    {traces.words()}")


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
        return self.fault or screen.counted(self.events or 0, "event") + missing


@dataclass(frozen=True, slots=True)
class _Jobs:
    """Work that is not done, in all sessions: how many jobs stand how, and why those that failed did."""

    counts: Mapping[str, int]
    faults: list[str]
    unrecorded: list[str]

    @classmethod
    def of(cls, home: Home, workspaces: list[str]) -> _Jobs:
        open_jobs = [found for name in workspaces for found in home.story.jobs.unfinished(name)]
        failed = [(where, job) for where, job in open_jobs if job.state is JobState.FAILED]
        # What this process could not write down; a failure kept nowhere else is never to look like rest.
        unrecorded = [f"{one.address.session}: {one.reason} ({one.because})" for one in home.story.jobs.unrecorded]
        return cls(
            Counter(str(job.state) for _, job in open_jobs),
            [f"{where.session}: {job.plugin}/{job.kind}: {job.reason}" for where, job in failed] + unrecorded,
            unrecorded,
        )

    def json(self) -> dict[str, object]:
        """As `--json` prints them."""
        return {"unfinished": dict(self.counts), "faults": self.faults, "unrecorded": self.unrecorded}

    def words(self) -> str:
        """On one line."""
        counts = dict(self.counts) | ({"not written down": len(self.unrecorded)} if self.unrecorded else {})
        return ", ".join(f"{count:,} {state}" for state, count in sorted(counts.items())) or "all done"


def _listed(names: list[str]) -> str:
    if not names:
        return "no workspace"
    more = ", …" if len(names) > _NAMED else ""
    return f"{screen.counted(len(names), 'workspace')} ({', '.join(names[:_NAMED])}{more})"
