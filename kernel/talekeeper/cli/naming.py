"""One rule for all that names something on a command line: a name is not empty."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from talekeeper.cli.proposals import proposals

# What may be empty is text: a title or a name can be taken away, a message and a question say so in their own words,
# `--no-plugins=` leaves out all of them, and `rest` is read against options known later.
_TEXTS = frozenset({"title", "label", "text", "query", "wordings", "no_plugins", "rest"})


def refuse_empty(command: click.Command) -> click.Command:
    """Lets a command, and those in it, refuse the empty string wherever it would name something; gives it back."""
    for param in command.params:
        if param.name not in _TEXTS and isinstance(param.type, click.types.StringParamType | click.Path):
            param.type = _Named(param.type)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        refuse_empty(inner)
    return command


def possible(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The callback of options that name what is to be made; raises `ParameterError` for what the store would refuse."""
    from talekeeper.story import check_name  # noqa: PLC0415 - --help needs no story

    del ctx
    return value if value is None else check_name(value, param.opts[-1])


class _Named(click.ParamType[Any]):
    """As `kind`, and not blank. `--home ""` would be the current folder, and `--session ""` any session."""

    def __init__(self, kind: click.ParamType[Any]) -> None:
        self._kind = kind
        self.name = kind.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value that `kind` makes of it."""
        if isinstance(value, str) and not value.strip():
            self.fail("it is empty; give a name, or leave the option out", param, ctx)
        return self._kind.convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """What is there of the kind of thing that is named, and what `kind` proposes: files, folders."""
        return proposals(ctx, param, incomplete) or self._kind.shell_complete(ctx, param, incomplete)
