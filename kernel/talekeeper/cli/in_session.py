"""One way to name a session for all commands that are about one: as the first word, or with -s like everywhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_OPTION = "session"
_LEFT_OUT = f"{__name__}.left-out"


def session_argument(command: F) -> F:
    """Adds SESSION, which must be named; the function gets it as `name`. The command is an `InSession`."""
    return _option(click.argument("name", metavar="SESSION")(command))


def last_session_argument(command: F) -> F:
    """Adds [SESSION]; the function gets None as `name` for the session used last. The command is an `InSession`."""
    return _option(click.argument("name", metavar="[SESSION]", required=False)(command))


def _option(command: F) -> F:
    # Kept off the parameters: a group that shows a list invokes its function with all of them.
    help_text = "Names it here instead."
    return click.option("-s", "--session", _OPTION, metavar="SESSION", help=help_text, expose_value=False)(command)


class InSession(click.Command):
    """Reads no SESSION off the words where --session names it, or where the words are just enough for the others."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts what names the session under `name`."""
        given = self.make_parser(ctx).parse_args(list(args))[0]
        named = isinstance(given.get(_OPTION), str)
        ctx.meta[_LEFT_OUT] = named or self._one_too_few(given)
        rest = super().parse_args(ctx, args)
        if named:
            ctx.params["name"] = given[_OPTION]
        else:
            ctx.params.setdefault("name", None)
        return rest

    def get_help(self, ctx: click.Context) -> str:
        """Shows SESSION, whatever words were given beside --help."""
        ctx.meta[_LEFT_OUT] = False
        return super().get_help(ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Without SESSION where it is not among the words."""
        found = super().get_params(ctx)
        if not ctx.meta.get(_LEFT_OUT):
            return found
        return [param for param in found if param.name != "name"]

    def _one_too_few(self, given: dict[str, Any]) -> bool:
        """Whether SESSION may be left out, and would take the word that another one must have."""
        words = {param.name: param.required for param in self.params if isinstance(param, click.Argument)}
        if words.get("name", True) or not isinstance(given.get("name"), str):
            return False
        return any(must and not isinstance(given.get(str(word)), str) for word, must in words.items())
