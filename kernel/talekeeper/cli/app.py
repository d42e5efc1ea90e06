"""The command group, its lazy loading, and the one place where a fault becomes a sentence and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from talekeeper import __version__
from talekeeper.cli.options import PROGRAM, common_shown
from talekeeper.cli.table import COMMANDS
from talekeeper.cli.terminal import never_fail_to_print
from talekeeper.errors import TalekeeperError


class LazyGroup(click.Group):
    """Knows its commands by the table and imports one when it is run or asked for its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports the command's module."""
        del ctx
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command = getattr(import_module(module), attribute)
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Adds "did you mean" out of the table."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as fault:
            raise click.exceptions.NoSuchCommand(args[0], possibilities=list(COMMANDS), ctx=ctx) from fault

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the summaries of the table."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


@click.group(
    name=PROGRAM,
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example:  talekeeper demo",
)
@click.version_option(__version__, prog_name=PROGRAM)
@common_shown
def cli() -> None:
    """A long memory for language-model narrators.

    Import a conversation, ask it questions, and see why each line was found. Plugins decide what else is searched.
    """


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and gives its exit code. Nothing a person can cause ends in a traceback."""
    never_fail_to_print()
    try:
        result = cli.main(
            list(map(_bare_no_plugins, arguments)),
            prog_name=PROGRAM,
            standalone_mode=False,
            color=False if os.environ.get("NO_COLOR") else None,
        )
        sys.stdout.flush()
    except click.ClickException as fault:
        fault.show()
        return fault.exit_code
    except BrokenPipeError:
        _drop_output()
        return 1
    except Exception as fault:
        strict = os.environ.get("TALEKEEPER_STRICT", "0") not in {"", "0"}
        if isinstance(fault, TalekeeperError | OSError | click.Abort) or not strict:
            sentence, code = _explain(fault)
            click.echo(f"{PROGRAM}: {sentence}", err=True)
            return code
        raise
    return result if isinstance(result, int) else 0


def _explain(fault: Exception) -> tuple[str, int]:
    """The sentence to print and the exit code."""
    if isinstance(fault, TalekeeperError):
        return str(fault), fault.exit_code
    if isinstance(fault, click.Abort):
        return "interrupted; what was finished is kept", 1
    if isinstance(fault, OSError):
        name = f"{fault.filename}: " if fault.filename else ""
        return f"{name}{(fault.strerror or str(fault)).lower()}", 2
    return f"unexpected {type(fault).__name__}: {fault}; this is a bug, TALEKEEPER_STRICT=1 shows where", 2


def _bare_no_plugins(argument: str) -> str:
    # click would take the next word as the value of an option whose value is optional.
    return "--no-plugins=" if argument == "--no-plugins" else argument


def _drop_output() -> None:
    """The reader of our output has gone (`| head`): the interpreter's last flush goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
