"""`talekeeper plugins`: which plugins there are, whether they are on, and why."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from talekeeper.cli import output
from talekeeper.cli.options import DEFAULT_WORKSPACE, Common, common, pass_common
from talekeeper.cli.plugin_settings import set_command, settings_command
from talekeeper.cli.targets import session_of

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.plugins import Plugin
    from talekeeper.story import Session


@click.group(invoke_without_command=True)
@common
@click.pass_context
def group(ctx: click.Context) -> None:
    """List, explain, enable, disable and set plugins.

    Without a command, lists them.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_plugins)


group.add_command(settings_command)
group.add_command(set_command)


@group.command("list", epilog="Example:  talekeeper plugins list")
@common
@pass_common
def list_plugins(options: Common, /) -> None:
    """List the plugins found, with their state and the reason for it."""
    with options.open() as home:
        found = home.host.roster(options.given_workspace or "").plugins
    if options.as_json:
        output.emit({"plugins": [_json(plugin) for plugin in found]})
    else:
        output.table(("plugin", "version", "state", "why"), [(p.id, _version(p), p.state, p.reason) for p in found])


@group.command(epilog="Example:  talekeeper plugins explain memory")
@click.argument("plugin", metavar="ID")
@click.option("-s", "--session", metavar="SESSION", help="As it stands in this session.")
@common
@pass_common
def explain(options: Common, /, plugin: str, session: str | None) -> None:
    """Say why a plugin is on or off, and what each of its namespaces feeds."""
    with options.open() as home:
        place = None if session is None else session_of(home, options, session)
        found = home.host.explain(plugin, options.given_workspace or "", place)
    if options.as_json:
        output.emit(found.as_json())
        return
    for text in found.lines():
        output.say(text)


@group.command(epilog="Example:  talekeeper plugins enable lorebook")
@click.argument("plugin", metavar="ID")
@common
@pass_common
def enable(options: Common, /, plugin: str) -> None:
    """Switch a plugin on, in the home or with --workspace in one workspace; `plugins disable` takes it back.

    New sessions have it from then on. Those that are there keep their plugins: `sessions plugins SESSION +ID` adds it.
    """
    with options.open() as home:
        found = home.host.enable(plugin, options.given_workspace or "")
        without = _without(home, found.id, options.given_workspace)
    if options.as_json:
        output.emit({**_json(found), "sessions_without": len(without)})
        return
    _tell(options, found)
    if without:
        output.note(_how_to_add(found.id, without))


@group.command(epilog="Example:  talekeeper plugins disable lorebook")
@click.argument("plugin", metavar="ID")
@common
@pass_common
def disable(options: Common, /, plugin: str) -> None:
    """Switch a plugin off; its records stay and come back with it."""
    with options.open() as home:
        home.host.disable(plugin, options.given_workspace or "")
        found = home.host.roster(options.given_workspace or "").by_id[plugin]
    _tell(options, found)


def _without(home: Home, plugin: str, workspace: str | None) -> list[Session]:
    """The sessions it was switched on for that do not have it, the one used last first."""
    places = [one.id for one in home.story.workspaces()] if workspace is None else [workspace]
    found = [session for place in places for session in home.story.sessions(place) if plugin not in session.plugins]
    return sorted(found, key=lambda session: session.updated, reverse=True)


def _how_to_add(plugin: str, without: Sequence[Session]) -> str:
    first = without[0]
    place = "" if first.workspace == DEFAULT_WORKSPACE else f" --workspace {shlex.quote(first.workspace)}"
    command = f"talekeeper sessions plugins {shlex.quote(first.id)} +{plugin}{place}"
    number = output.counted(len(without), "session")
    if len(without) == 1:
        return f"{number} from before does not have it; to add it:  {command}"
    return f"{number} from before do not have it; to add it to the one used last:  {command}"


def _tell(options: Common, plugin: Plugin) -> None:
    if options.as_json:
        output.emit(_json(plugin))
    else:
        # Whether its data or code is in use yet is for `plugins list` to say.
        state = "enabled" if plugin.works else plugin.state
        output.say(f"{plugin.id} is {state}" + (f": {plugin.reason}" if plugin.reason else ""))


def _version(plugin: Plugin) -> str:
    return plugin.manifest.version if plugin.manifest else ""


def _json(plugin: Plugin) -> dict[str, object]:
    return {
        "id": plugin.id,
        "version": _version(plugin),
        "state": plugin.state,
        "reason": plugin.reason,
        "origin": plugin.found.origin.words,
        "place": plugin.found.place,
    }
