"""Calls a plugin's function with its `PluginContext`, under the guard: from turns and jobs, and commands and importers.

An importer's records are written a batch at a time. Run again over the same file it writes nothing twice: a record that
is there with the same value is left, one that differs is kept as it is unless replacing is asked for, and one that was
withdrawn or forgotten does not come back.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from talekeeper.api import Importer, Record, SessionView
from talekeeper.db import Tx
from talekeeper.errors import (
    InputError,
    LimitReached,
    NotFound,
    ParameterError,
    PluginError,
    TalekeeperError,
    UserError,
)
from talekeeper.json_schema import schema_fault
from talekeeper.manifest import Namespace, matches
from talekeeper.plugin_context.bound import Bound, Lifetime
from talekeeper.plugin_context.models import CallModels
from talekeeper.plugin_context.reading import StoryHistory, StorySearch, session_view
from talekeeper.plugin_context.records import VALUE_BYTES, Records
from talekeeper.plugins import Call, Plugin, State
from talekeeper.services import Services
from talekeeper.story import Address, check_name, check_value
from talekeeper.text import freeze, thaw

T = TypeVar("T")

_AT_ONCE = 50  # records of an import in one transaction
_CALLED = {"prompt": "prompt segment", "tools": "tool", "jobs": "job", "commands": "command"}


class CallContext:
    """See `protocols.PluginContext`."""

    def __init__(self, bound: Bound) -> None:
        services, plugin, session = bound.services, bound.plugin, bound.session
        self._session = cache(lambda: session_view(bound.story, session, bound.at))  # read when first used
        self.settings = services.host.settings(plugin, session.workspace, session.id)
        self.data = Records(bound)
        self.history = StoryHistory(bound)
        self.search = StorySearch(bound)
        self.turn = None if bound.turn is None else bound.turn.view
        self.models = CallModels(bound)
        self.clock = services.clock
        self.log = logging.getLogger(f"talekeeper.plugin.{plugin.id}")
        self.check = bound.life.check
        self.close = bound.life.close  # waits for a write that is being committed

    @property
    def session(self) -> SessionView:
        """The session the call is bound to."""
        return self._session()


def call_plugin(bound: Bound, point: str, name: str, *arguments: object, check: Callable[[Any], T]) -> T:
    """Calls the function `name` of a contribution point with a context and `arguments`.

    Gives what `check` makes of its result. `check` runs in the plugin's thread, since a value may be code; what it
    raises becomes a `PluginError`. Else raises what the guard does.
    """
    plugin, host = bound.plugin.id, bound.services.host
    function = host.functions(bound.plugin)[point, name]
    context = CallContext(bound)

    def checked(value: Any) -> T:
        try:
            return check(value)
        except (ValueError, TypeError, AttributeError, TalekeeperError) as error:
            raise PluginError(f"what it gives back is refused: {error}", where=plugin, plugin=plugin) from error

    async def awaited(value: Awaitable[Any]) -> T:
        return checked(await value)

    def run() -> T:
        value = function(context, *arguments)
        # The guard awaits what a coroutine function gives, and then has the result.
        return cast("T", awaited(value)) if inspect.isawaitable(value) else checked(value)

    called = _CALLED[point]
    seconds: float = getattr(host.guard.deadlines, called.removeprefix("prompt "))
    return host.guard.call(Call(plugin, f"{called} {name}", seconds, bound.life.away), run, context)


def run_command(services: Services, address: Address, path: str, arguments: Mapping[str, Any]) -> Any:
    """What the command `plugin/command` gives for a session; what it writes is a person's act, on every branch.

    Raises NotFound, ParameterError naming an argument, and PluginError with what went wrong in the plugin; what it
    raises on purpose (`UserError`, `Skip`, `Retry`) passes through.
    """
    plugin, name = working_plugin(services, address, path, "commands")
    given = _arguments(_declared(plugin, "commands", name).get("parameters"), arguments)
    return call_plugin(bind(services, plugin, address), "commands", name, freeze(given), check=thaw)


def working_plugin(services: Services, address: Address, path: str, point: str) -> tuple[Plugin, str]:
    """The plugin of `plugin/name` and the name; raises PluginError when the plugin does not work in the session."""
    plugin_id, _, name = path.partition("/")
    services.host.plugin(plugin_id)
    services.host.ready(address)
    session = services.story.sessions.get(address)
    plugin = services.host.roster(session=session).by_id[plugin_id]
    if plugin.manifest is not None:
        _declared(plugin, point, name)
    if plugin.state is State.FAILED and not plugin.suspended:
        # Something else than its files may have mended it: a package that was missing, say.
        services.host.functions(plugin)
        plugin = services.host.roster(session=session).by_id[plugin_id]
    if not plugin.works:
        raise PluginError(f"it is {plugin.state}: {plugin.reason}", where=plugin_id, plugin=plugin_id)
    return plugin, name


def bind(services: Services, plugin: Plugin, address: Address) -> Bound:
    """A person's call: it reads at the head, and what it writes holds on every branch."""
    return Bound(services, plugin, services.story.sessions.get(address), Lifetime(plugin.id), person=True)


def _declared(plugin: Plugin, point: str, name: str) -> Mapping[str, Any]:
    """The manifest's table of a command or importer; raises NotFound with those there are."""
    entries = {str(entry["id"]): entry for entry in plugin.declared.contributes.get(point, ())}
    if name not in entries:
        known = ", ".join(f"{plugin.id}/{one}" for one in sorted(entries)) or "none"
        raise NotFound(f"plugin {plugin.id!r} has no {point[:-1]} {name!r}", cure=f"it has {known}")
    return entries[name]


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Raises `ParameterError` naming the first argument that does not fit."""
    fault = schema_fault(schema, arguments)
    if fault is not None:
        raise ParameterError(fault[0] or "arguments", fault[1])


def _arguments(schema: Mapping[str, Any] | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    try:
        given: dict[str, Any] = thaw(dict(arguments))
    except ValueError as error:
        raise ParameterError("arguments", str(error)) from error
    if schema is not None:
        check_arguments(schema, given)
    elif given:
        raise ParameterError(next(iter(given)), "this command takes no arguments")
    return given


@dataclass
class Imported:
    """How an import went, as keys in the file's order, `namespace/key`.

    `kept` are there already and differ, `gone` were withdrawn or forgotten before, `left_out` has (what, why).
    """

    importer: str
    added: list[str] = field(default_factory=list[str])
    replaced: list[str] = field(default_factory=list[str])
    unchanged: list[str] = field(default_factory=list[str])
    kept: list[str] = field(default_factory=list[str])
    gone: list[str] = field(default_factory=list[str])
    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def skipped(self, what: str, why: str) -> None:
        """See `api.ImportReport`."""
        self.left_out.append((str(what)[:200], str(why)[:300]))


def importers_for(services: Services, address: Address, name: str) -> list[str]:
    """`plugin/importer` of every working plugin's importer whose patterns match a file name, in the plugins' order.

    An address without a session means the plugins of the workspace.
    """
    return [path for path, plugin in _matching(services, address, name) if plugin.works]


def importers_aside(services: Services, address: Address, name: str) -> dict[str, str]:
    """The same of plugins that are there and do not work, each with the reason."""
    return {path: plugin.reason for path, plugin in _matching(services, address, name) if not plugin.works}


def _matching(services: Services, address: Address, name: str) -> Iterator[tuple[str, Plugin]]:
    session = None
    if address.session:
        services.host.ready(address)
        session = services.story.sessions.get(address)
    for plugin in services.host.roster(address.workspace, session).plugins:
        for entry in plugin.manifest.contributes.get("importers", ()) if plugin.manifest else ():
            if any(matches(name.casefold(), pattern.casefold()) for pattern in entry["match"]):
                yield f"{plugin.id}/{entry['id']}", plugin


def run_importer(
    services: Services,
    address: Address,
    path: str,
    file: Path,
    *,
    stream: BinaryIO | None = None,
    replace: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Reads `file` with the importer `plugin/importer`; what is written is a person's act and holds on every branch.

    `stream` is its content where it is open already, as what came through a pipe is. `progress` is told how many
    records the file has given. Raises as `run_command` does, ImportFileError for a file that cannot be opened, and
    LimitReached; what was read before stays.
    """
    from talekeeper.exchange import opened  # noqa: PLC0415 - a turn reads no file

    plugin, name = working_plugin(services, address, path, "importers")
    function: Importer = services.host.functions(plugin)["importers", name]
    bound = bind(services, plugin, address)
    context = CallContext(bound)
    report = Imported(path)
    call = Call(plugin.id, f"importer {name}", services.host.guard.deadlines.importer)
    with opened(str(file)) if stream is None else nullcontext(stream) as content:
        content.seek(0)
        steps = services.host.guard.iterate(
            call, lambda: map(partial(_checked, bound), function(context, content, report)), context
        )
        batch: list[Record] = []
        try:
            for number, record in enumerate(steps, start=1):
                batch.append(record)
                if len(batch) == _AT_ONCE:
                    full, batch = batch, []
                    _write(bound, report, full, replace=replace)
                    if progress is not None:
                        progress(number)
        finally:
            _write(bound, report, batch, replace=replace)
    return report


def import_lore(
    services: Services,
    address: Address,
    file: Path,
    *,
    stream: BinaryIO | None = None,
    importer: str | None = None,
    replace: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Reads a file with `plugin/importer`, or with the first of the session's importers that does not refuse it.

    `stream` and `progress` are those of `run_importer`. Raises `NotFound` when no plugin that works there claims such
    files, else what the importer raises.
    """
    names = [importer] if importer else importers_for(services, address, file.name)
    refusals: list[str] = []
    for name in names:
        try:
            return run_importer(services, address, name, file, stream=stream, replace=replace, progress=progress)
        except UserError as refusal:
            refusals.append(f"{name} says {refusal.what}")
    if not refusals:
        cure = "talekeeper plugins list shows which plugins there are"
        raise NotFound("no plugin of the session reads such files", where=str(file), cure=cure)
    raise InputError("; ".join(refusals), where=str(file))


def _write(bound: Bound, report: Imported, batch: list[Record], *, replace: bool) -> None:
    """Writes what fits its schema, in one transaction, and notes what became of each record."""
    fitting = [(namespace, record) for record in batch if (namespace := _fitting(bound, report, record)) is not None]
    fates: list[str] = []

    def write(tx: Tx) -> LimitReached | None:
        fates.clear()
        for namespace, record in fitting:
            try:
                fates.append(_put(tx, bound, namespace, record, replace=replace))
            except LimitReached as error:
                return error
        return None

    full = bound.story.write(write, name=f"import with {report.importer}") if fitting else None
    for fate, (_, record) in zip(fates, fitting, strict=False):
        getattr(report, fate).append(f"{record.namespace}/{record.key}")
    if full is not None:
        raise full


def _fitting(bound: Bound, report: Imported, record: Record) -> Namespace | None:
    namespace = bound.own(record.namespace)
    try:
        check_name(record.key, "key")
        check_value(namespace, record.value)
    except ParameterError as error:
        report.skipped(f"{record.namespace}/{record.key}", str(error))
        return None
    return namespace


def _put(tx: Tx, bound: Bound, namespace: Namespace, record: Record, *, replace: bool) -> str:
    records, scope = bound.story.records, bound.scope(namespace)
    live = records.get(namespace, scope, record.key, tx=tx)
    if live is not None and live.value == record.value:
        return "unchanged"
    if live is not None and (namespace.append_only or not replace):
        return "kept"
    before = records.history(namespace, scope, record.key, tx=tx)
    if live is None and any(one.forgotten or (one.withdrawn and not replace) for one in before):
        return "gone"
    records.put(namespace, scope, record.key, record.value, person=True, tx=tx)
    return "added" if live is None else "replaced"


def _checked(bound: Bound, given: Any) -> Record:
    if not isinstance(given, Record):
        raise PluginError(f"it yields {type(given).__name__}, where a Record is expected")
    bound.own(given.namespace)
    return Record(str(given.namespace), str(given.key), thaw(dict(given.value), limit=VALUE_BYTES))
