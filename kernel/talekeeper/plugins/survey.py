"""From places to plugins: reads every manifest and settles what does not depend on who enabled what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from talekeeper import __version__
from talekeeper.errors import ManifestError
from talekeeper.manifest import KERNEL_TOOL, PluginManifest, read_manifest
from talekeeper.plugins.found import Found
from talekeeper.plugins.project import MANIFEST
from talekeeper.plugins.states import Plugin, State


def survey_plugins(
    found: Iterable[Found],
    *,
    host_version: str = __version__,
    read: Callable[[Path], PluginManifest] = read_manifest,
) -> tuple[Plugin, ...]:
    """One plugin a place: `valid`, or `invalid`, `incompatible` or `blocked` with the reason.

    The first place to carry an id keeps it. `read` is given the path of a manifest.
    """
    plugins: list[Plugin] = []
    standing: dict[str, Plugin] = {}
    for one in found:
        plugin = _compatible(_read(one, read), host_version)
        if plugin.manifest is not None and plugin.state is not State.INVALID:
            earlier = standing.setdefault(plugin.id, plugin)
            if earlier is not plugin:
                plugin = _repeated(plugin, earlier)
        plugins.append(plugin)
    return tuple(plugins)


def _read(found: Found, read: Callable[[Path], PluginManifest]) -> Plugin:
    plugin = Plugin(found.names[0], State.FOUND, "", found)
    if found.root is None:
        return plugin.moved(State.BLOCKED if found.unsafe else State.INVALID, found.fault)
    try:
        manifest = read(found.root / MANIFEST)
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


def _compatible(plugin: Plugin, host_version: str) -> Plugin:
    wanted = plugin.manifest.requires_host if plugin.manifest else None
    if not wanted:
        return plugin
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - 5 ms, and few manifests ask

    if SpecifierSet(wanted).contains(host_version, prereleases=True):
        return plugin
    return plugin.moved(State.INCOMPATIBLE, f"it requires Talekeeper {wanted}, this is {host_version}")


def _repeated(plugin: Plugin, earlier: Plugin) -> Plugin:
    reason = f"two plugins say they are {plugin.id!r}: {earlier.found.place}, which stands, and {plugin.found.place}"
    return plugin.moved(State.BLOCKED, f"{reason}; remove one of them")
