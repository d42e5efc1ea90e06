"""Which plugins work in a scope: manifests, overrides, requirements and tool names give each a state and a reason.

found → valid → enabled → loaded → active      aside: invalid, incompatible, blocked, disabled, failed
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from talekeeper import __version__
from talekeeper.errors import ManifestError, NotFound
from talekeeper.manifest import FILE_NAME, KERNEL_TOOL, PluginManifest, read_manifest, tool_key
from talekeeper.plugins.discovery import Found

ONLY = "TALEKEEPER_PLUGINS"
STRICT = "TALEKEEPER_STRICT"


class State(StrEnum):
    """`ENABLED` works already, its code being loaded when first needed; `LOADED` still has data to index."""

    FOUND = "found"
    VALID = "valid"
    ENABLED = "enabled"
    LOADED = "loaded"
    ACTIVE = "active"
    INVALID = "invalid"
    INCOMPATIBLE = "incompatible"
    BLOCKED = "blocked"
    DISABLED = "disabled"
    FAILED = "failed"


_WORKING = frozenset({State.ENABLED, State.LOADED, State.ACTIVE})


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin as found, and its state. `manifest` is None as long as it cannot be read.

    `suspended` says why its code is called no more in this process; its data stays searchable.
    """

    id: str
    state: State
    reason: str
    found: Found
    manifest: PluginManifest | None = None
    diagnostics: tuple[Any, ...] = ()
    suspended: bool = False

    @property
    def works(self) -> bool:
        """Its declared data is searched and its functions may be called."""
        return self.state in _WORKING or self.suspended

    @property
    def declared(self) -> PluginManifest:
        """The manifest; raises NotFound where none could be read."""
        if self.manifest is None:
            raise NotFound(f"plugin {self.id!r} has no valid manifest", cure=self.reason)
        return self.manifest

    def moved(self, state: State, reason: str = "", *, suspended: bool = False) -> Plugin:
        """The same plugin in another state."""
        return replace(self, state=state, reason=reason, suspended=suspended)


@dataclass(frozen=True, slots=True)
class Roster:
    """Every plugin with its state in one scope, those that work first, in the order they depend on one another."""

    plugins: tuple[Plugin, ...]

    @property
    def by_id(self) -> Mapping[str, Plugin]:
        """Each by its id; of several that claim one, the first."""
        return {plugin.id: plugin for plugin in reversed(self.plugins)}

    @property
    def working(self) -> tuple[Plugin, ...]:
        """Those that work, each after what it requires."""
        return tuple(plugin for plugin in self.plugins if plugin.works)


def read_plugins(
    found: Iterable[Found], *, read: Callable[[Path], PluginManifest] = read_manifest
) -> tuple[Plugin, ...]:
    """One plugin a place: `valid`, or `invalid`, `incompatible` or `blocked` with the reason.

    The first place to carry an id keeps it. `read` is given the path of a manifest.
    """
    plugins: list[Plugin] = []
    standing: dict[str, Plugin] = {}
    for one in found:
        plugin = _compatible(_read(one, read))
        if plugin.manifest is not None and plugin.state is not State.INVALID:
            earlier = standing.setdefault(plugin.id, plugin)
            if earlier is not plugin:
                places = f"{earlier.found.place}, which counts, and {one.place}"
                reason = f"two plugins say they are {plugin.id!r}: {places}; remove one of them"
                plugin = plugin.moved(State.BLOCKED, reason)
        plugins.append(plugin)
    return tuple(plugins)


def _read(found: Found, read: Callable[[Path], PluginManifest]) -> Plugin:
    plugin = Plugin(found.names[0], State.FOUND, "", found)
    if found.root is None:
        return plugin.moved(State.BLOCKED if found.unsafe else State.INVALID, found.fault)
    try:
        manifest = read(found.root / FILE_NAME)
    except ManifestError as error:
        diagnostics = tuple(error.data["diagnostics"])
        faults = {one.code for one in diagnostics if one.severity == "error"}
        # Sound but for the name of a tool, which another host may have free.
        state = State.BLOCKED if faults == {KERNEL_TOOL.id} else State.INVALID
        return replace(plugin.moved(state, str(error)), diagnostics=diagnostics)
    if manifest.id not in found.names:
        reason = f"its manifest says id {manifest.id!r}, where it was found says {' or '.join(map(repr, found.names))}"
        return plugin.moved(State.INVALID, reason)
    return replace(plugin.moved(State.VALID), id=manifest.id, manifest=manifest)


def _compatible(plugin: Plugin) -> Plugin:
    wanted = plugin.manifest.requires_host if plugin.manifest else None
    if not wanted:
        return plugin
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - 5 ms, and few manifests ask

    if SpecifierSet(wanted).contains(__version__, prereleases=True):
        return plugin
    return plugin.moved(State.INCOMPATIBLE, f"it requires Talekeeper {wanted}, this is {__version__}")


def resolve(plugins: Iterable[Plugin], off: Callable[[Plugin], str], failed: Mapping[str, str]) -> Roster:
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
    circles = {name: circle for name in requires if (circle := path_between(name, name, requires))}
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


def path_between(start: str, goal: str, edges: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """A way of one step or more along the edges, both ends included; empty when there is none."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        for following in sorted(edges.get(way[-1], ())):
            if following == goal:
                return (*way, goal)
            if following not in seen:
                seen.add(following)
                ways.append((*way, following))
    return ()


def ordered(requires: Mapping[str, Iterable[str]], optional: Mapping[str, Iterable[str]]) -> list[str]:
    """Every key of `requires`, which has no cycle; an `optional` edge that would close one is left out."""
    edges = {node: {needed for needed in needs if needed in requires} for node, needs in requires.items()}
    for node in sorted(edges):
        for used in sorted(optional.get(node, ())):
            if used in edges and used != node and not path_between(used, node, edges):
                edges[node].add(used)
    sorter = TopologicalSorter(edges)
    sorter.prepare()
    result: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        result += ready
        sorter.done(*ready)
    return result


@dataclass(frozen=True, slots=True)
class Overrides:
    """`without` is None (all are allowed), or ids that stay off, or all of them when it is empty.

    `only` is None, or the ids `TALEKEEPER_PLUGINS` allows. `folders` hold plugins beside `<home>/plugins`; `paths` are
    single plugins. `strict` raises a plugin's own exception instead of a sentence about it.
    """

    without: frozenset[str] | None = None
    only: frozenset[str] | None = None
    folders: tuple[Path, ...] = ()
    paths: tuple[Path, ...] = ()
    strict: bool = False

    def off(self, plugin: str) -> str:
        """Why this plugin stays off whatever the store says; empty when it may be on."""
        if self.without is not None and (not self.without or plugin in self.without):
            return "switched off by --no-plugins"
        if self.only is not None and plugin not in self.only:
            return f"not among the plugins that {ONLY} allows"
        return ""


def read_overrides(
    environment: Mapping[str, str],
    *,
    without: str | None = None,
    folders: Iterable[Path] = (),
    paths: Iterable[Path] = (),
) -> Overrides:
    """Reads `--no-plugins` (`without`: None when absent, empty for all, else ids with commas) and the environment.

    `TALEKEEPER_PLUGINS` set and empty allows none; `TALEKEEPER_STRICT` set to anything but `0` or nothing is strict.
    """
    only = environment.get(ONLY)
    return Overrides(
        without=None if without is None else _ids(without),
        only=None if only is None else _ids(only),
        folders=tuple(folders),
        paths=tuple(paths),
        strict=environment.get(STRICT, "0") not in {"", "0"},
    )


def _ids(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())
