"""`talekeeper plugins`: which plugins there are, why they are on or off, and their settings; `new-plugin` makes one."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.options import DEFAULT_WORKSPACE, Common, command_group, common
from talekeeper.cli.present import tell
from talekeeper.cli.targets import session_of
from talekeeper.config import nearest
from talekeeper.errors import NotFound, ParameterError
from talekeeper.manifest import PluginManifest
from talekeeper.text import counted

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.plugins import Plugin
    from talekeeper.story import Session


@command_group("list")
def group() -> None:
    """List, explain, enable, disable and set plugins.

    Without a command, lists them.
    """


@group.command("list", epilog="Example:  talekeeper plugins list")
@common
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
@click.option("-s", "--session", metavar="SESSION", help="In this session.")
@common
def explain(options: Common, /, plugin: str, session: str | None) -> None:
    """Explain why a plugin is on or off, and what each of its namespaces is used for."""
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
def enable(options: Common, /, plugin: str) -> None:
    """Enable a plugin in the home, or with --workspace in one workspace; `plugins disable` takes it back.

    New sessions get it. Existing sessions keep their plugins: `sessions plugins SESSION +ID` adds it to one.
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
def disable(options: Common, /, plugin: str) -> None:
    """Disable a plugin; its records are kept and return when it is enabled again."""
    with options.open() as home:
        home.host.disable(plugin, options.given_workspace or "")
        found = home.host.roster(options.given_workspace or "").by_id[plugin]
    _tell(options, found)


def _without(home: Home, plugin: str, workspace: str | None) -> list[Session]:
    """The sessions it was switched on for that do not have it, the one used last first."""
    places = [one.id for one in home.story.workspaces.all()] if workspace is None else [workspace]
    found = [session for place in places for session in home.story.sessions.all(place) if plugin not in session.plugins]
    return sorted(found, key=lambda session: session.updated, reverse=True)


def _how_to_add(plugin: str, without: Sequence[Session]) -> str:
    first = without[0]
    place = "" if first.workspace == DEFAULT_WORKSPACE else f" --workspace {shlex.quote(first.workspace)}"
    command = f"talekeeper sessions plugins {shlex.quote(first.id)} +{plugin}{place}"
    number = counted(len(without), "session")
    if len(without) == 1:
        return f"{number} from before does not have it; to add it:  {command}"
    return f"{number} from before do not have it; to add it to the one used last:  {command}"


def _tell(options: Common, plugin: Plugin) -> None:
    # Whether its data or code is in use yet is for `plugins list` to say.
    state = "enabled" if plugin.works else plugin.state
    tell(options, f"{plugin.id} is {state}" + (f": {plugin.reason}" if plugin.reason else ""), _json(plugin))


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


_SWITCHES = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}

_session = click.option("-s", "--session", metavar="SESSION", help="For this session only.")


@group.command("settings", epilog="Example:  talekeeper plugins settings memory")
@click.argument("plugin", metavar="ID")
@_session
@common
def settings_command(options: Common, /, plugin: str, session: str | None) -> None:
    """List the settings of a plugin with their values."""
    with options.open() as home:
        workspace, place = _level(home, options, session)
        declared = home.host.plugin(plugin).declared
        values = home.host.settings(home.host.plugin(plugin), workspace, place)
    entries = declared.contributes.get("settings", ())
    if options.as_json:
        output.emit({"plugin": plugin, "settings": [{**entry, "value": values[entry["key"]]} for entry in entries]})
    elif not entries:
        output.note(f"{plugin} has no settings")
    else:
        rows = [(str(entry["key"]), _shown(values[entry["key"]]), str(entry["label"])) for entry in entries]
        output.table(("setting", "value", "what it is"), rows)


@group.command("set", epilog="Example:  talekeeper plugins set memory auto_summaries off --session low-house")
@click.argument("plugin", metavar="ID")
@click.argument("key", metavar="SETTING")
@click.argument("value", required=False)
@click.option("--default", "back", is_flag=True, help="Remove the value, so that the wider one counts.")
@_session
@common
def set_command(
    options: Common, /, plugin: str, key: str, value: str | None, session: str | None, *, back: bool
) -> None:
    """Change a setting of a plugin: in the home, with --workspace in one workspace, or with --session in one session.

    --default removes the value again.
    """
    if back == (value is not None):
        raise ParameterError("VALUE", "give a value, or --default alone")
    with options.open() as home:
        workspace, place = _level(home, options, session)
        declared = home.host.plugin(plugin).declared
        wanted = None if value is None else _read(_entry(declared, key), value)
        home.host.configure(plugin, key, wanted, workspace, place)
        now = home.host.settings(home.host.plugin(plugin), workspace, place)[key]
    tell(options, f"{key} of {plugin} is {_shown(now)}", {"plugin": plugin, "setting": key, "value": now})


def _level(home: Home, options: Common, session: str | None) -> tuple[str, str]:
    """The workspace and session that a setting is for, both empty for the home."""
    if session is None:
        return options.given_workspace or "", ""
    found = session_of(home, options, session)
    return found.workspace, found.id


def _entry(declared: PluginManifest, key: str) -> Mapping[str, Any]:
    entries = {str(entry["key"]): entry for entry in declared.contributes.get("settings", ())}
    if key in entries:
        return entries[key]
    near = nearest(key, entries)
    cure = f"did you mean {near!r}?" if near else f"talekeeper plugins settings {declared.id} lists them"
    raise NotFound(f"plugin {declared.id!r} has no setting {key!r}", cure=cure)


def _read(entry: Mapping[str, Any], value: str) -> Any:
    """The text as a value of the setting's type; the host judges whether it may be it."""
    kind = entry["type"]
    if kind == "string":
        return value
    if kind == "boolean":
        if value.casefold() not in _SWITCHES:
            raise ParameterError(str(entry["key"]), f"{value!r} is neither on nor off", cure="write on or off")
        return _SWITCHES[value.casefold()]
    try:
        return int(value) if kind == "integer" else float(value)
    except ValueError:
        what = "a whole number" if kind == "integer" else "a number"
        raise ParameterError(str(entry["key"]), f"{value!r} is not {what}") from None


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


@click.command(epilog="Example:  talekeeper new-plugin tavern-tales")
@click.argument("name")
@click.option("--data-only", is_flag=True, help="Make a plugin without code: a record schema and its first records.")
@click.option(
    "--directory",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Where to create the folder.  [default: here]",
)
@common
def new_plugin(options: Common, /, name: str, directory: Path, *, data_only: bool) -> None:
    """Create a new plugin project.

    NAME is the plugin's id: lower-case letters, digits and hyphens. The new folder has the same name.
    """
    from talekeeper.scaffold import check_id, write_project  # noqa: PLC0415 - --help needs no templates

    folder = _at_home(directory) / check_id(name)
    files = write_project(name, folder, data_only=data_only)
    if options.as_json:
        output.emit({"plugin": name, "folder": folder, "files": files})
        return
    output.say(f"{folder} has {counted(len(files), 'file')}:")
    for file in files:
        output.say(f"  {file}")
    output.note(f"next:  cd {shlex.quote(str(folder))}  then  validate-plugin .  and  python -m pytest")


def _at_home(directory: Path) -> Path:
    # No shell does so after `--directory=`, and a folder called ~ is one that somebody removes with all of his own.
    try:
        return directory.expanduser()
    except RuntimeError:
        return directory
