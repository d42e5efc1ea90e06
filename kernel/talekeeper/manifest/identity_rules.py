"""Rules of the `[plugin]` and `[permissions]` tables that a schema cannot say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from talekeeper import __version__
from talekeeper.config import Table, did_you_mean
from talekeeper.manifest.codes import across, contributions, style
from talekeeper.manifest.codes import identity as codes
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.package import PathRefused, refuse_unsafe
from talekeeper.manifest.points import Scene
from talekeeper.text import quoted, visible

_PLAIN_VERSION = re.compile(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))*")
"""The common case of a PEP 440 version, which is in its normal form too."""


def identity(scene: Scene) -> Iterator[Finding]:
    """Everything about `[plugin]`."""
    plugin = scene.plugin
    yield from _version(plugin)
    yield from _host(plugin)
    yield from _needs(plugin)
    yield from _module(scene)
    if plugin.raw and "summary" not in plugin:
        yield Finding(style.NO_SUMMARY, plugin.path, "no summary; people choose plugins by it", on="key")
    yield from _use(scene)


def _use(scene: Scene) -> Iterator[Finding]:
    contributes = scene.manifest.table("contributes")
    if scene.plugin.raw and not contributes.raw:
        yield Finding(style.FEEDS_NOTHING, scene.plugin.path, "the plugin contributes nothing", on="key")
    spaces = contributes.tables("data")
    if spaces and "module" not in scene.plugin and not any("search" in it for it in spaces):
        message = "no namespace has a search table and there is no code, so nothing ever reads the records"
        yield Finding(style.FEEDS_NOTHING, contributes.at("data"), message, on="key")


def _version(plugin: Table) -> Iterator[Finding]:
    written = plugin.text("version")
    if written is None or _PLAIN_VERSION.fullmatch(written):
        return
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - 6 ms, and most versions are plain

    try:
        normal = str(Version(written))
    except InvalidVersion:
        message = f"version is {quoted(written)}, expected a PEP 440 version such as 0.1.0"
        yield Finding(codes.VERSION, plugin.at("version"), message)
        return
    if normal != written:
        yield Finding(style.VERSION_SPELLING, plugin.at("version"), f"tools will print {quoted(written)} as {normal}")


def _host(plugin: Table) -> Iterator[Finding]:
    written = plugin.text("requires-host")
    if written is None:
        return
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - 5 ms, and few manifests ask

    path = plugin.at("requires-host")
    try:
        wanted = SpecifierSet(written)
    except InvalidSpecifier:
        message = f"requires-host is {quoted(written)}, expected version specifiers such as >=0.1,<1"
        yield Finding(codes.HOST_SPECIFIER, path, message)
        return
    if not wanted.contains(__version__, prereleases=True):
        yield Finding(codes.HOST_EXCLUDED, path, f"this is Talekeeper {__version__}, which {quoted(written)} excludes")


def _needs(plugin: Table) -> Iterator[Finding]:
    required = {name for _, name in plugin.texts("requires")}
    for key in ("requires", "optional"):
        yield from _once(plugin, key)
        for path, name in plugin.texts(key):
            if name == plugin.text("id"):
                yield Finding(codes.NEEDS_ITSELF, path, f"{key} lists the plugin itself, {quoted(name)}")
            elif key == "optional" and name in required:
                yield Finding(codes.NEEDED_TWICE, path, f"{quoted(name)} is in requires already")


def _once(table: Table, key: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for path, name in table.texts(key):
        if name in seen:
            yield Finding(contributions.SAME_NAME, path, f"{key} lists {quoted(name)} twice")
        seen.add(name)


def _module(scene: Scene) -> Iterator[Finding]:
    module = scene.plugin.text("module")
    if not module or not all(part.isidentifier() for part in module.split(".")):
        return
    path, file = scene.plugin.at("module"), module.replace(".", "/")
    try:
        if scene.package.has(f"{file}.py") or scene.package.has(f"{file}/__init__.py"):
            return
        beside = [it.removesuffix(".py") for it in scene.package.matching("*.py")]
    except PathRefused as refusal:
        yield Finding(across.OUTSIDE, path, f"module {quoted(module)}: {refusal}")
    except OSError as error:
        reason = (error.strerror or "the system refuses").lower()
        yield Finding(across.NO_MODULE, path, f"module {quoted(module)} cannot be looked for: {reason}")
    else:
        message = f"there is no module {visible(module)}: neither {file}.py nor {file}/__init__.py is in the package"
        yield Finding(across.NO_MODULE, path, message, did_you_mean(module, beside))


def permissions(scene: Scene) -> Iterator[Finding]:
    """Everything about `[permissions]`."""
    table = scene.manifest.table("permissions")
    for key in ("read", "models", "files", "http"):
        yield from _once(table, key)
    yield from _reads(table, scene.plugin)
    for path, name in table.texts("files"):
        try:
            refuse_unsafe(name)
        except PathRefused as refusal:
            message = f"{quoted(name)} is not a path inside the workspace folder: {refusal}"
            yield Finding(contributions.FILE_PERMISSION, path, message)


def _reads(table: Table, plugin: Table) -> Iterator[Finding]:
    needed = {name for key in ("requires", "optional") for _, name in plugin.texts(key)}
    for path, name in table.texts("read"):
        other = name.partition("/")[0]
        if other == plugin.text("id"):
            message = f"{quoted(name)} is the plugin's own namespace, which needs no permission"
            yield Finding(contributions.READ_TARGET, path, message)
        elif "/" in name and other not in needed:
            message = f"{quoted(other)} is read, but is neither in requires nor in optional"
            yield Finding(contributions.READ_UNORDERED, path, message)
