"""`talekeeper plugins settings` and `set`: what a plugin declares to be set, shown and changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.cli.targets import session_of
from talekeeper.config import nearest
from talekeeper.errors import NotFound, ParameterError
from talekeeper.manifest import PluginManifest

_SWITCHES = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}

_session = click.option("-s", "--session", metavar="SESSION", help="For this session alone.")


@click.command("settings", epilog="Example:  talekeeper plugins settings memory")
@click.argument("plugin", metavar="ID")
@_session
@common
@pass_common
def settings_command(options: Common, /, plugin: str, session: str | None) -> None:
    """List what can be set of a plugin, with its value and what it changes."""
    with options.open() as home:
        workspace, place = options.given_workspace or "", ""
        if session is not None:
            found = session_of(home, options, session)
            workspace, place = found.workspace, found.id
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


@click.command("set", epilog="Example:  talekeeper plugins set memory auto_summaries off --session low-house")
@click.argument("plugin", metavar="ID")
@click.argument("key", metavar="SETTING")
@click.argument("value", required=False)
@click.option("--default", "back", is_flag=True, help="Take the value away again, so that the wider one counts.")
@_session
@common
@pass_common
def set_command(
    options: Common, /, plugin: str, key: str, value: str | None, session: str | None, *, back: bool
) -> None:
    """Set something of a plugin: in the home, with --workspace in one workspace, or with --session in one session.

    --default takes it back.
    """
    if back == (value is not None):
        raise ParameterError("VALUE", "give a value, or --default alone")
    with options.open() as home:
        workspace, place = options.given_workspace or "", ""
        if session is not None:
            found = session_of(home, options, session)
            workspace, place = found.workspace, found.id
        declared = home.host.plugin(plugin).declared
        wanted = None if value is None else _read(_entry(declared, key), value)
        home.host.configure(plugin, key, wanted, workspace, place)
        now = home.host.settings(home.host.plugin(plugin), workspace, place)[key]
    if options.as_json:
        output.emit({"plugin": plugin, "setting": key, "value": now})
    else:
        output.say(f"{key} of {plugin} is {_shown(now)}")


def _entry(declared: PluginManifest, key: str) -> Mapping[str, Any]:
    for entry in declared.contributes.get("settings", ()):
        if entry["key"] == key:
            return entry
    near = nearest(key, [entry["key"] for entry in declared.contributes.get("settings", ())])
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
