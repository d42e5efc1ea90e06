"""Calls a plugin's function with its `PluginContext`, under the guard; commands are called from here for people."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

from talekeeper.errors import NotFound, ParameterError, PluginError, TalekeeperError
from talekeeper.json_schema import schema_fault
from talekeeper.plugin_context.bound import Bound, Lifetime
from talekeeper.plugin_context.models import CallModels
from talekeeper.plugin_context.reading import StoryHistory, StorySearch, session_view
from talekeeper.plugin_context.records import Records
from talekeeper.plugin_types import SessionView, freeze, thaw
from talekeeper.plugins import Call, Plugin, State
from talekeeper.services import Services
from talekeeper.story import Address

T = TypeVar("T")

_CALLED = {"prompt": "prompt segment", "tools": "tool", "jobs": "job", "commands": "command"}
_DEADLINES = {"prompt": "segment", "tools": "tool", "jobs": "job", "commands": "command"}


class CallContext:
    """See `protocols.PluginContext`."""

    def __init__(self, bound: Bound) -> None:
        services, plugin, session = bound.services, bound.plugin, bound.session
        self._bound = bound
        self._session = cache(lambda: session_view(bound.story, session, bound.at))  # read when first used
        self.settings = services.host.settings(plugin, session.workspace, session.id)
        self.data = Records(bound)
        self.history = StoryHistory(bound)
        self.search = StorySearch(bound)
        self.turn = None if bound.turn is None else bound.turn.view
        self.models = CallModels(bound)
        self.clock = services.clock
        self.log = logging.getLogger(f"talekeeper.plugin.{plugin.id}")

    @property
    def session(self) -> SessionView:
        """The session the call is bound to."""
        return self._session()

    def check(self) -> None:
        """Raises `ContextClosed` when the call is over its time, `Cancelled` when it was cancelled."""
        self._bound.life.check()

    def close(self) -> None:
        """Ends the context; waits for a write that is being committed."""
        self._bound.life.close()


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

    seconds: float = getattr(host.guard.deadlines, _DEADLINES[point])
    return host.guard.call(Call(plugin, f"{_CALLED[point]} {name}", seconds, bound.life.away), run, context)


def run_command(services: Services, address: Address, path: str, arguments: Mapping[str, Any]) -> Any:
    """What the command `plugin/command` gives for a session; what it writes is a person's act, on every branch.

    Raises NotFound, ParameterError naming an argument, and PluginError with what went wrong in the plugin; what it
    raises on purpose (`UserError`, `Skip`, `Retry`) passes through.
    """
    plugin, name = working_plugin(services, address, path, "commands")
    given = _checked(_declared(plugin, "commands", name).get("parameters"), arguments)
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


def _checked(schema: Mapping[str, Any] | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    try:
        given: dict[str, Any] = thaw(dict(arguments))
    except ValueError as error:
        raise ParameterError("arguments", str(error)) from error
    if schema is not None:
        check_arguments(schema, given)
    elif given:
        raise ParameterError(next(iter(given)), "this command takes no arguments")
    return given
