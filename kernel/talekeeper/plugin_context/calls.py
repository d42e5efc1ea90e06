"""Runs what people may run of a plugin: its commands."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from talekeeper.clock import Clock
from talekeeper.errors import NotFound, ParameterError, PluginError
from talekeeper.manifest import schema_fault
from talekeeper.plugin_context.bound import Bound, Lifetime
from talekeeper.plugin_context.models import CallModels
from talekeeper.plugin_context.reading import StoryHistory, StorySearch, session_view
from talekeeper.plugin_context.records import Records
from talekeeper.plugin_types import Json, SessionView, TurnView, freeze, thaw
from talekeeper.plugins import Call, Plugin, State
from talekeeper.services import Services
from talekeeper.story import Address


def run_command(services: Services, address: Address, path: str, arguments: Mapping[str, Any]) -> Any:
    """What the command `plugin/command` gives for a session; what it writes is a person's act, on every branch.

    Raises NotFound, ParameterError naming an argument, and PluginError with what went wrong in the plugin; what it
    raises on purpose (`UserError`, `Skip`, `Retry`) passes through.
    """
    plugin, name = working_plugin(services, address, path, "commands")
    entry = declared(plugin, "commands", name)
    given = _plain_arguments(arguments)
    _check(entry.get("parameters"), given)
    function = services.host.functions(plugin)["commands", name]
    bound = bind(services, plugin, address)
    context = CallContext(bound, plugin)
    call = Call(plugin.id, f"command {name}", services.host.guard.deadlines.command, away=bound.life.away)
    return services.host.guard.call(call, lambda: plain_result(plugin.id, function, context, freeze(given)), context)


def working_plugin(services: Services, address: Address, path: str, point: str) -> tuple[Plugin, str]:
    """The plugin of `plugin/name` and the name; raises PluginError when it does not work in the session."""
    plugin_id, _, name = path.partition("/")
    services.host.plugin(plugin_id)
    services.host.ready(address)
    session = services.story.session(address)
    plugin = services.host.roster(session=session).by_id[plugin_id]
    if plugin.manifest is not None:
        declared(plugin, point, name)
    if plugin.state is State.FAILED and not plugin.suspended:
        # It may have been mended by something else than its files: a package that was missing, say.
        services.host.functions(plugin)
        plugin = services.host.roster(session=session).by_id[plugin_id]
    if not plugin.works:
        raise PluginError(f"it is {plugin.state}: {plugin.reason}", where=plugin_id, plugin=plugin_id)
    return plugin, name


def declared(plugin: Plugin, point: str, name: str) -> Mapping[str, Any]:
    """The manifest's table of a command or importer; raises NotFound with those there are."""
    entries = {str(entry["id"]): entry for entry in plugin.declared.contributes.get(point, ())}
    if name not in entries:
        known = ", ".join(f"{plugin.id}/{one}" for one in sorted(entries)) or "none"
        raise NotFound(f"plugin {plugin.id!r} has no {point[:-1]} {name!r}", cure=f"it has {known}")
    return entries[name]


def bind(services: Services, plugin: Plugin, address: Address) -> Bound:
    """A person's call: it reads at the head, and what it writes holds on every branch."""
    return Bound(services, plugin.declared, services.story.session(address), Lifetime(plugin.id), person=True)


def _plain_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    try:
        given: dict[str, Any] = thaw(dict(arguments))
    except ValueError as error:
        raise ParameterError("arguments", str(error)) from error
    return given


def _check(schema: Mapping[str, Any] | None, arguments: Mapping[str, Any]) -> None:
    if schema is None:
        if arguments:
            raise ParameterError(next(iter(arguments)), "this command takes no arguments")
        return
    fault = schema_fault(schema, arguments)
    if fault is not None:
        raise ParameterError(fault[0] or "arguments", fault[1])


def plain_result(plugin: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of a plugin gives, as plain JSON, or a coroutine of that; `PluginError` for what is not JSON."""
    value = function(*arguments)
    return _later(plugin, value) if inspect.isawaitable(value) else _plain(plugin, value)


async def _later(plugin: str, value: Awaitable[Any]) -> Any:
    return _plain(plugin, await value)


def _plain(plugin: str, value: Any) -> Any:
    try:
        return thaw(value)
    except ValueError as error:
        raise PluginError(f"what it gives back is refused: {error}", where=plugin, plugin=plugin) from error


class CallContext:
    """See `protocols.PluginContext`."""

    def __init__(self, bound: Bound, plugin: Plugin) -> None:
        services, session = bound.services, bound.session
        self._life = bound.life
        self._bound = bound
        self._session: SessionView | None = None
        self._settings = services.host.settings(plugin, session.workspace, session.id)
        self._data = Records(bound)
        self._history = StoryHistory(bound)
        self._search = StorySearch(bound)
        self._turn = None if bound.turn is None else bound.turn.view
        self._models = CallModels(bound)
        self._clock = services.clock
        self._log = logging.getLogger(f"talekeeper.plugin.{plugin.id}")

    @property
    def session(self) -> SessionView:
        """Where the call is bound to; read when first asked for."""
        if self._session is None:
            self._session = session_view(self._bound.services.story, self._bound.session, self._bound.at)
        return self._session

    @property
    def settings(self) -> Mapping[str, Json]:
        """Every declared setting with its value here."""
        return self._settings

    @property
    def data(self) -> Records:
        """The plugin's records, and those it declares to read."""
        return self._data

    @property
    def history(self) -> StoryHistory:
        """The story so far."""
        return self._history

    @property
    def search(self) -> StorySearch:
        """Terms, ranking and memory-search."""
        return self._search

    @property
    def turn(self) -> TurnView | None:
        """The turn a tool or segment is called in."""
        return self._turn

    @property
    def models(self) -> CallModels:
        """The language models the manifest may use."""
        return self._models

    @property
    def clock(self) -> Clock:
        """The time."""
        return self._clock

    @property
    def log(self) -> logging.Logger:
        """The plugin's own logger."""
        return self._log

    def check(self) -> None:
        """Raises `ContextClosed` when the call is over its time, `Cancelled` when it was cancelled."""
        self._life.check()

    def close(self) -> None:
        """Ends the context; waits for a write that is being committed."""
        self._life.close()
