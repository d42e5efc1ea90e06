"""`talekeeper run`: commands that plugins declare, with options drawn from the manifest and the result as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import click

from talekeeper.cli import output
from talekeeper.cli.commands.schema_options import OPEN_ENDED, fill_in, open_ended
from talekeeper.cli.options import Common, common
from talekeeper.cli.targets import session_of, session_option
from talekeeper.errors import NotFound
from talekeeper.plugin_context import run_command

if TYPE_CHECKING:
    from talekeeper.home import Home


@click.command(epilog="Example:  talekeeper run lorebook/check --session low-house", **OPEN_ENDED)
@open_ended("PLUGIN/COMMAND [ARGUMENTS]")
@session_option
@common
@click.pass_context
def command(ctx: click.Context, options: Common, /, rest: tuple[str, ...], session: str | None) -> None:
    """Run a plugin's command.

    Without a command, lists all; PLUGIN/COMMAND --help shows its arguments.
    """
    with options.open() as home:
        if not rest:
            _list(options, home)
            return
        arguments = fill_in(ctx, rest[0], rest[1:], _parameters(home, rest[0]))
        result = run_command(home.services, session_of(home, options, session).address, rest[0], arguments)
    if options.as_json:
        output.emit(result)
    elif result is None:
        output.note("done")
    else:
        for text in readable(result):
            output.say(text)


def _commands(home: Home) -> dict[str, Mapping[str, Any]]:
    """The schema of the arguments of each command."""
    return {
        f"{plugin.id}/{entry['id']}": entry.get("parameters") or {}
        for plugin in home.host.roster().plugins
        if plugin.manifest is not None
        for entry in plugin.manifest.contributes.get("commands", ())
    }


def _parameters(home: Home, path: str) -> Mapping[str, Any]:
    known = _commands(home)
    if path not in known:
        raise NotFound(f"there is no command {path!r}", cure=f"there are {', '.join(known) or 'none'}")
    return known[path]


def _list(options: Common, home: Home) -> None:
    found = _commands(home)
    if options.as_json:
        output.emit({"commands": list(found)})
    elif found:
        output.table(("command", ""), [(path, schema.get("description", "")) for path, schema in found.items()])
    else:
        output.note("no plugin declares a command")


_STEP = "  "


def readable(value: object) -> Iterator[str]:
    """The lines of a value. A text keeps its line breaks; what is empty is said to be."""
    if _is_object(value) and value:
        for name, part in value.items():
            yield from _under(f"{name}:", part)
    elif _is_list(value) and value:
        for part in value:
            yield from _item(part)
    else:
        yield from _word(value).split("\n")


def _under(head: str, value: object) -> Iterator[str]:
    """Beside its name when it takes one line, else below it."""
    lines = list(readable(value))
    if len(lines) == 1 and not ((_is_object(value) or _is_list(value)) and value):
        yield f"{head} {lines[0]}"
        return
    yield head
    for line in lines:
        yield f"{_STEP}{line}".rstrip()


def _item(value: object) -> Iterator[str]:
    for number, line in enumerate(readable(value)):
        yield f"{_STEP if number else '- '}{line}".rstrip()


def _word(value: object) -> str:
    if value is None or _is_object(value) or _is_list(value):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) or "(empty)"


def _is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str)
