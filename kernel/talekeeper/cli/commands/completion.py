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
    from talekeeper.plugins import Roster

Proposals = Iterable[tuple[str, str]]
"""Words, each with what a shell that has room shows beside it."""


def _roster(home: Home, options: Common) -> Roster:
    return home.host.roster(options.given_workspace or "")


_THINGS: dict[str, Callable[[Home, Common], Proposals]] = {
    "SESSION": lambda home, options: [(one.id, one.title) for one in home.story.sessions.all(options.workspace)],
    "WORKSPACE": lambda home, _: [(one.id, one.title) for one in home.story.workspaces.all()],
    "PLUGIN": lambda home, options: [(one.id, str(one.state)) for one in _roster(home, options).plugins],
    "PLUGIN/NAMESPACE": lambda home, options: [
        (namespace.path, "") for plugin in _roster(home, options).working for namespace in plugin.declared.data
    ],
    "PLUGIN/COMMAND": lambda home, options: [
        (f"{plugin.id}/{entry['id']}", "")
        for plugin in _roster(home, options).working
        for entry in plugin.declared.contributes.get("commands", ())
    ],
}
"""By metavar, but for the parameters whose name says it."""
_BY_NAME = {"session": "SESSION", "given_workspace": "WORKSPACE", "plugin": "PLUGIN"}


def proposals(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For a parameter that names one of these things; of what there is, what begins with what was typed."""
    first = (param.metavar or "").partition(" ")[0].strip("[]…")
    named = _THINGS.get(_BY_NAME.get(param.name or "", first))
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
