"""`talekeeper completion`: the script a shell sources to complete commands and options."""

from __future__ import annotations

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.cli.proposals import script_class
from talekeeper.cli.terminal import PROGRAM

SHELLS = ("bash", "zsh", "fish")


@click.command(epilog='Example:  eval "$(talekeeper completion bash)"')
@click.argument("shell", type=click.Choice(SHELLS))
@common
@pass_common
def command(options: Common, /, shell: str) -> None:
    """Print the shell's completion script.

    It completes commands, options, and the names of sessions, workspaces, plugins and their data. bash and zsh read it
    as in the example; fish with: talekeeper completion fish | source
    """
    from talekeeper.cli.app import cli  # noqa: PLC0415 - app loads this module by the table

    script = script_class(shell)
    if script is None:  # pragma: no cover - click knows all of SHELLS
        raise click.UsageError(shell)
    source = script(cli, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE").source()
    if options.as_json:
        output.emit({"shell": shell, "script": source})
    else:
        click.echo(source)
