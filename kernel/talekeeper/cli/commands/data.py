"""`talekeeper data`: the records of plugins, listed, written and taken back by hand.

What a person writes holds on every branch of the story. The options of `add` and `edit` are drawn from the namespace's
record schema.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.commands.schema_options import OPEN_ENDED, fill_in, named, open_ended
from talekeeper.cli.options import Common, command_group, common
from talekeeper.cli.present import record_json, show_record, tell
from talekeeper.cli.targets import namespace_of, session_option
from talekeeper.cli.terminal import ask_once
from talekeeper.errors import Conflict, NotFound, ParameterError
from talekeeper.manifest import Namespace
from talekeeper.story import Record
from talekeeper.text import counted

if TYPE_CHECKING:
    from talekeeper.story import Records, Scope

_LISTED = 20


def _one_record(command: Callable[..., Any]) -> Callable[..., Any]:
    path = click.argument("path", metavar="PLUGIN/NAMESPACE")
    return path(click.argument("key")(session_option(command)))


@command_group("list")
def group() -> None:
    """Read and write the records of plugins.

    PLUGIN/NAMESPACE names the data, as in memory/cards; without a command, lists what there is.
    """


@group.command("list", epilog="Example:  talekeeper data list memory/cards")
@click.argument("path", metavar="[PLUGIN/NAMESPACE]", required=False)
@session_option
@click.option("--withdrawn", is_flag=True, help="List withdrawn records instead.")
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=_LISTED, show_default=True)
@click.option("--after", metavar="KEY", help="Continue after this record.")
@common
def list_records(options: Common, /, path: str | None, session: str | None, limit: int, **more: Any) -> None:
    """List the records of a namespace, or the namespaces there are."""
    with options.open() as home:
        if path is None:
            declared = [namespace for plugin in home.host.roster().working for namespace in plugin.declared.data]
            _show_namespaces(options, declared)
            return
        namespace, scope = namespace_of(home, options, path, session)
        found = home.story.records.list(namespace, scope, limit=limit, **more)
        count = home.story.records.count(namespace, scope)
    if options.as_json:
        output.emit({"namespace": path, "live": count, "records": [record_json(record) for record in found]})
        return
    for record in found:
        show_record(record)
    if len(found) == limit:
        output.note(f"{counted(count, 'record')} in all; --after {found[-1].key} goes on")
    elif not found:
        output.note(f"{path} holds nothing {'withdrawn' if more['withdrawn'] else 'here'}")


def _show_namespaces(options: Common, declared: Sequence[Namespace]) -> None:
    if options.as_json:
        found = [{"namespace": one.path, "scope": one.scope, "searched": one.search is not None} for one in declared]
        output.emit({"namespaces": found})
    else:
        rows = [
            (one.path, one.scope, "searched" if one.search else "", ", ".join(one.schema.get("properties", {})))
            for one in declared
        ]
        output.table(("namespace", "scope", "", "properties"), rows)


@group.command(epilog="Example:  talekeeper data show memory/cards Mira --history")
@_one_record
@click.option("--history", is_flag=True, help="Show every version.")
@common
def show(options: Common, /, path: str, key: str, session: str | None, *, history: bool) -> None:
    """Show one record."""
    with _opened(options, path, session) as (records, namespace, scope):
        live = records.get(namespace, scope, key)
        versions = records.history(namespace, scope, key)
    if not versions or (live is None and not history):
        raise _missing(path, key, withdrawn=bool(versions))
    found = versions if history or live is None else [live]
    if options.as_json:
        output.emit({"records": [record_json(record) for record in found]})
    else:
        for record in found:
            show_record(record)


@group.command(
    epilog='Example:  talekeeper data add memory/cards --key Mira --name Mira --body "The ferryman."', **OPEN_ENDED
)
@open_ended("PLUGIN/NAMESPACE [PROPERTIES]")
@session_option
@click.option("--key", help="The record's key.  [default: a new one]")
@common
@click.pass_context
def add(ctx: click.Context, options: Common, /, rest: tuple[str, ...], session: str | None, key: str | None) -> None:
    """Write a record by hand: PLUGIN/NAMESPACE and its properties.

    talekeeper data add PLUGIN/NAMESPACE --help shows the properties; `data withdraw` takes the record back.
    """
    path = named(ctx, rest)
    with _opened(options, path, session) as (records, namespace, scope):
        value = fill_in(ctx, namespace.path, rest[1:], namespace.schema)
        if key is None:
            written = records.add(namespace, scope, value, person=True)
        elif records.get(namespace, scope, key) is not None:
            cure = f"talekeeper data edit {path} {key} changes it"
            raise Conflict(f"there is already a record {key!r}", where=path, cure=cure)
        else:
            written = records.put(namespace, scope, key, value, person=True)
    _tell(options, written, "is written", session, ("withdraw", "takes it back"))


@group.command(
    epilog='Example:  talekeeper data edit memory/cards Mira --body "The ferryman, now blind."', **OPEN_ENDED
)
@open_ended("PLUGIN/NAMESPACE KEY [PROPERTIES]")
@session_option
@common
@click.pass_context
def edit(ctx: click.Context, options: Common, /, rest: tuple[str, ...], session: str | None) -> None:
    """Change properties of a record by hand: PLUGIN/NAMESPACE, its key, and what changes.

    talekeeper data edit PLUGIN/NAMESPACE KEY --help shows the properties. Earlier versions stay; `data show
    --history` lists them.
    """
    path = named(ctx, rest)
    key = named(ctx, rest[1:], "KEY", f"talekeeper data list {path} shows the keys")
    with _opened(options, path, session) as (records, namespace, scope):
        value = fill_in(ctx, f"{namespace.path} {key}", rest[2:], namespace.schema)
        before = records.get(namespace, scope, key)
        if before is None:
            raise _missing(path, key, withdrawn=False)
        if not value:
            raise ParameterError("value", "nothing would change", cure="name a property, or --value JSON")
        written = records.put(namespace, scope, key, {**before.value, **value}, person=True)
    _tell(options, written, "is changed", session, ("show --history", "has what it was"))


@group.command(epilog="Example:  talekeeper data withdraw memory/cards Mira")
@_one_record
@common
def withdraw(options: Common, /, path: str, key: str, session: str | None) -> None:
    """Hide a record from search and prompts; it can be restored."""
    with _opened(options, path, session) as (records, namespace, scope):
        written = records.withdraw(namespace, scope, key, person=True)
    _tell(options, written, "is withdrawn", session, ("restore", "brings it back"))


@group.command(epilog="Example:  talekeeper data restore memory/cards Mira")
@_one_record
@common
def restore(options: Common, /, path: str, key: str, session: str | None) -> None:
    """Restore a withdrawn record; `data withdraw` hides it again."""
    with _opened(options, path, session) as (records, namespace, scope):
        written = records.restore(namespace, scope, key, person=True)
    _tell(options, written, "is back")


@group.command(epilog="Example:  talekeeper data forget memory/facts 06h2j9e9yw88")
@_one_record
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def forget(options: Common, /, path: str, key: str, session: str | None, *, yes: bool) -> None:
    """Erase every version of a record for good; only backups and exports still have it."""
    with _opened(options, path, session) as (records, namespace, scope):
        if not records.history(namespace, scope, key):
            raise _missing(path, key, withdrawn=False)
        if not yes:
            ask_once(f"Forget {key!r} of {path} for good?", "forgotten")
        count = records.forget(namespace, scope, key)
    told = {"namespace": path, "key": key, "forgotten_versions": count}
    tell(options, f"{key} is forgotten ({counted(count, 'version')})", told)


@contextmanager
def _opened(options: Common, path: str, session: str | None) -> Generator[tuple[Records, Namespace, Scope]]:
    with options.open() as home:
        yield home.story.records, *namespace_of(home, options, path, session)


def _missing(path: str, key: str, *, withdrawn: bool) -> NotFound:
    cure = f"talekeeper data list {path} shows them"
    if withdrawn:
        cure = "it was withdrawn; talekeeper data restore brings it back, show --history tells what it was"
    return NotFound(f"there is no record {key!r}", where=path, cure=cure)


def _tell(
    options: Common, record: Record | None, outcome: str, session: str | None = None, back: tuple[str, str] = ("", "")
) -> None:
    """`back` is the command that takes it back, and how that is said."""
    if options.as_json:
        output.emit({"record": record_json(record) if record else None})
    elif record is not None:
        output.say(f"{record.key} {outcome}")
        verb, said = back
        if verb:
            place = [] if options.given_workspace is None else ["--workspace", options.given_workspace]
            place += [] if session is None else ["--session", session]
            words = shlex.join([f"{record.plugin}/{record.namespace}", record.key, *place])
            output.note(f"talekeeper data {verb} {words} {said}")
