"""`talekeeper status`: what a home holds, at a glance."""

from __future__ import annotations

import click

from talekeeper.cli import screen
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.trace import count_events

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
        events, dropped = count_events(home.folder / TRACES)
    count = sum(map(len, sessions.values()))
    messages = sum(session.messages for found in sessions.values() for session in found)
    facts = {
        "home": home.folder,
        "database_bytes": size + log,
        "workspaces": {name: len(found) for name, found in sessions.items()},
        "sessions": count,
        "messages": messages,
        "events": events,
        "events_dropped": dropped,
        "plugins": {plugin.id: plugin.state for plugin in plugins},
        "jobs": jobs.json(),
    }
    if options.as_json:
        screen.emit(facts)
        return
    screen.say(f"home      {home.folder} ({(size + log) / 1e6:.1f} MB)")
    held = f"{screen.counted(count, 'session')} with {screen.counted(messages, 'message')}"
    screen.say(f"holds     {held}, in {_listed(list(sessions))}")
    screen.say(f"plugins   {', '.join(f'{plugin.id} ({plugin.state})' for plugin in plugins) or 'none'}")
    if events:
        lost = f", {dropped:,} more dropped" if dropped else ""
        screen.say(f"traces    {screen.counted(events, 'event')}{lost}")


def _listed(names: list[str]) -> str:
    if not names:
        return "no workspace"
    more = ", …" if len(names) > _NAMED else ""
    return f"{screen.counted(len(names), 'workspace')} ({', '.join(names[:_NAMED])}{more})"
