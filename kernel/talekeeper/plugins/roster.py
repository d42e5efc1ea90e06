"""Who works in a scope: enablement, requirements and tool names, settled in the order plugins depend on one another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from talekeeper.manifest import tool_key
from talekeeper.plugins.order import cycle_through, ordered
from talekeeper.plugins.states import Plugin, Roster, State


def muster(plugins: Iterable[Plugin], off: Callable[[Plugin], str], failed: Mapping[str, str]) -> Roster:
    """The roster of a scope: `off` says why a plugin is not enabled in it, `failed` whose code did not load.

    A plugin whose requirement does not work is blocked, as are all members of a circle of requirements, and one that
    declares a tool whose name an earlier plugin has.
    """
    decided = [_switched(plugin, off, failed) for plugin in plugins]
    enabled = {plugin.id: plugin for plugin in decided if plugin.state is State.ENABLED}
    aside = [plugin for plugin in decided if plugin.state is not State.ENABLED]
    known = {plugin.id: plugin for plugin in reversed(aside)}
    settled = _settle(enabled, known)
    return Roster((*(one for one in settled if one.works), *(one for one in settled if not one.works), *aside))


def _switched(plugin: Plugin, off: Callable[[Plugin], str], failed: Mapping[str, str]) -> Plugin:
    if plugin.state is not State.VALID:
        return plugin
    reason = off(plugin)
    if reason:
        return plugin.moved(State.DISABLED, reason)
    if plugin.id in failed:
        return plugin.moved(State.FAILED, failed[plugin.id])
    return plugin.moved(State.ENABLED)


def _settle(enabled: Mapping[str, Plugin], aside: Mapping[str, Plugin]) -> list[Plugin]:
    requires = {name: plugin.declared.requires for name, plugin in enabled.items()}
    circles = {name: circle for name in requires if (circle := cycle_through(name, requires))}
    blocked = [
        enabled[name].moved(State.BLOCKED, f"it requires itself in a circle: {' → '.join(circle)}")
        for name, circle in sorted(circles.items())
    ]
    settled = {plugin.id: plugin for plugin in blocked}
    rest = {name: needs for name, needs in requires.items() if name not in circles}
    tools: dict[str, str] = {}
    for name in ordered(rest, {name: plugin.declared.optional for name, plugin in enabled.items()}):
        settled[name] = _placed(enabled[name], {**aside, **settled}, tools)
    return list(settled.values())


def _placed(plugin: Plugin, others: Mapping[str, Plugin], tools: dict[str, str]) -> Plugin:
    for needed in plugin.declared.requires:
        other = others.get(needed)
        if other is None:
            return plugin.moved(State.BLOCKED, f"it requires plugin {needed!r}, which is not there; install it")
        if not other.works:
            why = f": {other.reason}" if other.reason else ""
            return plugin.moved(State.BLOCKED, f"it requires plugin {needed!r}, which is {other.state}{why}")
    names = [str(tool["name"]) for tool in plugin.declared.contributes.get("tools", ())]
    for name in names:
        if tool_key(name) in tools:
            owner = tools[tool_key(name)]
            return plugin.moved(
                State.BLOCKED, f"plugin {plugin.id!r} declares tool {name!r}, a name plugin {owner!r} has already"
            )
    tools.update({tool_key(name): plugin.id for name in names})
    return plugin
