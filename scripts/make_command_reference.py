"""Writes docs/reference/commands.md: what `--help` says of each command of `talekeeper`, under one introduction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from talekeeper.cli import cli

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "commands.md"
COLUMNS = 100
INTRODUCTION = """\
# Commands

Written by `scripts/make_command_reference.py` from the commands themselves: this is what `--help` prints.

**Exit codes.** 0: done. 1: something is wrong with what was given, or a check found faults. 2: the command line, the
database or the disk. 130: interrupted with Ctrl-C; finished work is kept.

**Streams.** The answer goes to stdout; remarks, warnings, questions and progress go to stderr. What a plugin prints
goes to stderr too. Colours and progress are for terminals; `NO_COLOR` turns colours off.

**`--json`.** stdout is one JSON document, whether the command succeeds or not. When it fails, that document is one
object, the sentence is on stderr as ever, and the exit code is the same:

```json
{
  "error": {
    "kind": "NotFound",
    "message": "default: there is no session 'harbor'; did you mean 'harbour'?",
    "what": "there is no session 'harbor'",
    "where": "default",
    "cure": "did you mean 'harbour'?",
    "exit_code": 1
  }
}
```

`message` is for people. `kind` is a name of `talekeeper.errors`, `UsageError` or another of click's when the command
line is at fault, or that of a system error. A command that works on several things (`import`, `doctor`) also exits
with 1 when it could not do all of them; its own document then says which. `export` prints no document but the lines
of an export, so that with `--json` it wants `--output`. `play` prints one JSON object per event, each on a line of its
own with its kind under `event`; one that went wrong is the event `error`, with that object under `error`.

**Names.** Whatever names something (a session, a workspace, a file, a folder) cannot be empty.
"""


def page() -> str:
    """The whole page."""
    context = _context(cli, None, cli.name or "")
    sections = [f"## {path}\n\n```text\n{text}\n```\n" for path, text in _helps(cli, context)]
    return "\n".join([INTRODUCTION, *sections])


def _helps(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Each command's path and help, a group before what is in it."""
    yield context.command_path, "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        inner = command.get_command(context, name) if isinstance(command, click.Group) else None
        if inner is not None:
            yield from _helps(inner, _context(inner, context, name))


def _context(command: click.Command, parent: click.Context | None, name: str) -> click.Context:
    settings: dict[str, Any] = {**command.context_settings, "terminal_width": COLUMNS, "max_content_width": COLUMNS}
    return command.context_class(command, parent=parent, info_name=name, **settings)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
