"""`talekeeper plugins`: which plugins there are, whether they are on, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from talekeeper.cli import screen
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.cli.pick import session_of
from talekeeper.cli.plugin_settings import set_command, settings_command

if TYPE_CHECKING:
    from talekeeper.plugins import Plugin


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
        screen.emit({"plugins": [_json(plugin) for plugin in found]})
    else:
        screen.table(("plugin", "version", "state", "why"), [(p.id, _version(p), p.state, p.reason) for p in found])


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
        screen.emit(found.as_json())
        return
    for text in found.lines():
        screen.say(text)


@group.command(epilog="Example:  talekeeper plugins enable lorebook")
@click.argument("plugin", metavar="ID")
@common
@pass_common
def enable(options: Common, /, plugin: str) -> None:
    """Switch a plugin on, in the home or with --workspace in one workspace; `plugins disable` takes it back."""
    with options.open() as home:
        found = home.host.enable(plugin, options.given_workspace or "")
    _tell(options, found)


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


def _tell(options: Common, plugin: Plugin) -> None:
    if options.as_json:
        screen.emit(_json(plugin))
    else:
        screen.say(f"{plugin.id} is {plugin.state}" + (f": {plugin.reason}" if plugin.reason else ""))


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
