"""`talekeeper status`: what a home holds, at a glance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.checkup import model_faults
from talekeeper.cli.commands.usage import cost_words, costs, usage_rows
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.cli.work import Work
from talekeeper.errors import StoreUnusable
from talekeeper.story import Session
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
    held = f"{output.counted(count, 'session')} with {output.counted(messages, 'message')}"
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
        return self.fault or output.counted(self.events or 0, "event") + missing


def _rows(home: Home, session: Session) -> list[dict[str, Any]]:
    return usage_rows(home.story.turn_log.spent(session.address))


def _spent_words(rows: list[dict[str, Any]]) -> str:
    """Calls of models and what they cost, as far as a price was configured."""
    calls = output.counted(sum(row["calls"] for row in rows), "call")
    free = sum(row["calls"] for row in rows if row["cost"] is None)
    if not rows or (free and not costs(rows)):
        return f"{calls}{', no price configured' if rows else ''}"
    return f"{calls}, {cost_words(costs(rows))}{f' and {free:,} without a price' if free else ''}"


def _listed(names: list[str]) -> str:
    if not names:
        return "no workspace"
    more = ", …" if len(names) > _NAMED else ""
    return f"{output.counted(len(names), 'workspace')} ({', '.join(names[:_NAMED])}{more})"
