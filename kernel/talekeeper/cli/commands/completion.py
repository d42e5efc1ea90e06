"""`talekeeper completion`, and what the shell then proposes: sessions, workspaces, plugins, namespaces, commands.

A person is typing meanwhile: no home is made for it, and a fault means no proposal and no message.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

from talekeeper.cli.options import Common, common
from talekeeper.cli.terminal import PROGRAM, json_text


@click.command(epilog='Example:  eval "$(talekeeper completion bash)"')
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@common
def command(options: Common, /, shell: str) -> None:
    """Print the shell's completion script.

    It completes commands, options, and the names of sessions, workspaces, plugins and their data. bash and zsh read it
    as in the example; fish with: talekeeper completion fish | source
    """
    from talekeeper.cli.app import cli  # noqa: PLC0415 - app loads this module by the table

    source = _SCRIPTS[shell](cli, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE").source()
    # Not through `output.say`, which would take out what a terminal does not show.
    click.echo(json_text({"shell": shell, "script": source}) if options.as_json else source)


if TYPE_CHECKING:
    from talekeeper.home import Home

Proposals = Iterable[tuple[str, str]]
"""Words, each with what a shell that has room shows beside it."""


def _sessions(home: Home, options: Common) -> Proposals:
    return [(session.id, session.title) for session in home.story.sessions.all(options.workspace)]


def _workspaces(home: Home, options: Common) -> Proposals:
    del options
    return [(workspace.id, workspace.title) for workspace in home.story.workspaces.all()]


def _plugins(home: Home, options: Common) -> Proposals:
    roster = home.host.roster(options.given_workspace or "")
    return [(plugin.id, str(plugin.state)) for plugin in roster.plugins]


def _namespaces(home: Home, options: Common) -> Proposals:
    working = home.host.roster(options.given_workspace or "").working
    return [(namespace.path, "") for plugin in working for namespace in plugin.declared.data]


def _commands(home: Home, options: Common) -> Proposals:
    working = home.host.roster(options.given_workspace or "").working
    entries = [(plugin.id, entry) for plugin in working for entry in plugin.declared.contributes.get("commands", ())]
    return [(f"{plugin}/{entry['id']}", "") for plugin, entry in entries]


_BY_METAVAR: dict[str, Callable[[Home, Common], Proposals]] = {
    "SESSION": _sessions,
    "WORKSPACE": _workspaces,
    "PLUGIN/NAMESPACE": _namespaces,
    "PLUGIN/COMMAND": _commands,
}
_BY_NAME = {"session": _sessions, "given_workspace": _workspaces, "plugin": _plugins}


def proposals(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For a parameter that names one of these things; of what there is, what begins with what was typed."""
    first = (param.metavar or "").partition(" ")[0].strip("[]…")
    named = _BY_NAME.get(param.name or "", _BY_METAVAR.get(first))
    if named is None or (param.name == "rest" and ctx.params.get("rest")):
        return []
    logging.disable()
    try:
        options = ctx.find_object(Common) or Common()
        with options.open(new=False) as home:
            found = list(named(home, options))
    except Exception:  # noqa: BLE001 - a prompt is no place for a fault, whichever it is
        return []
    finally:
        logging.disable(logging.NOTSET)
    return [CompletionItem(word, help=about or None) for word, about in found if word.startswith(incomplete)]


class _Bash(BashComplete):
    """Words with blanks or other marks of the shell go into its line quoted."""

    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)", """COMPREPLY+=("$(printf '%%q' "$value")")"""
    )


_SCRIPTS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": ZshComplete, "fish": FishComplete}
