"""The command group and the table of commands; the one place where a fault becomes a sentence and an exit code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import NamedTuple

import click

from talekeeper import __version__
from talekeeper.cli.faults import INTERRUPTED, Voice, asks_for_json, is_bug, report
from talekeeper.cli.options import refuse_empty, shared_options
from talekeeper.cli.terminal import PROGRAM, answers_of_this_thread, flush_or_drop, never_fail_to_print


class Entry(NamedTuple):
    """`target` is `module:attribute` below `talekeeper.cli.commands`; `summary` begins the command's help."""

    target: str
    summary: str


COMMANDS: dict[str, Entry] = {
    "demo": Entry("demo:command", "Show how search works on a bundled story."),
    "play": Entry("play:command", "Play a story in the terminal."),
    "import": Entry("imports:command", "Read conversations from files into sessions."),
    "search": Entry("search:command", "Search a session, as the narrator's memory-search does."),
    "recall": Entry("decisions:recall", "Show what a turn with this text would recall."),
    "why": Entry("decisions:why", "Explain what a turn's prompt contained."),
    "sessions": Entry("sessions:group", "List, show and manage sessions and their branches."),
    "workspaces": Entry("workspaces:group", "List, rename and delete workspaces."),
    "data": Entry("data:group", "Read and write the records of plugins."),
    "run": Entry("run:command", "Run a plugin's command."),
    "jobs": Entry("jobs:group", "List, run and retry the work that follows turns."),
    "usage": Entry("usage:command", "Show which models were used, and for how many tokens."),
    "plugins": Entry("plugins:group", "List, explain, enable, disable and set plugins."),
    "new-plugin": Entry("plugins:new_plugin", "Create a new plugin project."),
    "validate-plugin": Entry("validate_plugin:command", "Check a plugin's manifest."),
    "status": Entry("status:command", "Show what this home holds."),
    "index": Entry("index:group", "Show or make the vectors that passages are found by."),
    "doctor": Entry("doctor:command", "Check the database, index, plugins and settings."),
    "backup": Entry("export:backup", "Copy the database to a file while it is in use."),
    "export": Entry("export:export", "Write sessions to a file, to keep, move or read."),
    "eval": Entry("evaluate:command", "Measure recall on sets of questions."),
    "completion": Entry("completion:command", "Print the shell's completion script."),
}


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
        return None if entry is None else _loaded(entry.target)

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


@cache
def _loaded(target: str) -> click.Command:
    module, _, attribute = target.partition(":")
    return _summed_up(refuse_empty(getattr(import_module(f"talekeeper.cli.commands.{module}"), attribute)))


def _summed_up(command: click.Command) -> click.Command:
    """A group shows the first sentence of each command's help whole; click would cut it to a line."""
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        first = " ".join((inner.help or "").partition("\n\n")[0].split())
        inner.short_help = first.partition(". ")[0].removesuffix(".") + "."
    return command


@click.group(
    name=PROGRAM,
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example:  talekeeper demo",
)
@click.version_option(__version__, prog_name=PROGRAM)
@shared_options(hidden=False)
def cli() -> None:
    """A long memory for language-model narrators.

    Import a conversation, ask it questions, and see why each line was found. Plugins decide what else is searched.
    """


refuse_empty(cli)


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and gives its exit code. Nothing a person can cause ends in a traceback."""
    never_fail_to_print()
    voice = Voice()
    try:
        with voice.of_the_program(), answers_of_this_thread():
            code = _outcome(arguments, voice)
    except KeyboardInterrupt:
        code = INTERRUPTED
    unwritten = flush_or_drop()
    if unwritten is None or code:
        return code
    return 1 if isinstance(unwritten, BrokenPipeError) else report(unwritten, voice)


def _outcome(arguments: Sequence[str], voice: Voice) -> int:
    try:
        result = cli.main(
            list(map(_bare_no_plugins, arguments)),
            prog_name=PROGRAM,
            standalone_mode=False,
            color=False if os.environ.get("NO_COLOR") else None,
        )
    except BrokenPipeError:
        return 1
    except Exception as fault:
        if is_bug(fault) and os.environ.get("TALEKEEPER_STRICT", "0") not in {"", "0"}:
            raise
        return report(fault, voice, as_json=asks_for_json(arguments))
    return result if isinstance(result, int) else 0


def _bare_no_plugins(argument: str) -> str:
    # click would take the next word as the value of an option whose value is optional.
    return "--no-plugins=" if argument == "--no-plugins" else argument
