"""Rules of the `[plugin]` and `[permissions]` tables that a schema cannot say; what they must agree with outside."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from talekeeper import __version__
from talekeeper.config import Table, did_you_mean
from talekeeper.manifest import codes
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.package import PathRefused, refuse_unsafe
from talekeeper.manifest.rules.point import RuleContext, listed_once
from talekeeper.text import listed, quoted, visible

_PLAIN_VERSION = re.compile(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))*")
"""The common case of a PEP 440 version, which is in its normal form too."""


def identity(context: RuleContext) -> Iterator[Finding]:
    """Everything about `[plugin]`."""
    plugin = context.plugin
    yield from _version(plugin)
    yield from _host(plugin)
    yield from _needs(plugin)
    yield from _module(context)
    if plugin.raw and "summary" not in plugin:
        yield Finding(codes.NO_SUMMARY, plugin.path, "no summary; people choose plugins by it", on="key")
    yield from _use(context)


def _use(context: RuleContext) -> Iterator[Finding]:
    contributes = context.manifest.table("contributes")
    if context.plugin.raw and not contributes.raw:
        yield Finding(codes.FEEDS_NOTHING, context.plugin.path, "the plugin contributes nothing", on="key")
    spaces = contributes.tables("data")
    if spaces and "module" not in context.plugin and not any("search" in it for it in spaces):
        message = "no namespace has a search table and there is no code, so nothing ever reads the records"
        yield Finding(codes.FEEDS_NOTHING, contributes.at("data"), message, on="key")


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
        yield Finding(codes.VERSION_SPELLING, plugin.at("version"), f"tools will print {quoted(written)} as {normal}")


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
        yield from listed_once(plugin, key)
        for path, name in plugin.texts(key):
            if name == plugin.text("id"):
                yield Finding(codes.NEEDS_ITSELF, path, f"{key} lists the plugin itself, {quoted(name)}")
            elif key == "optional" and name in required:
                yield Finding(codes.NEEDED_TWICE, path, f"{quoted(name)} is in requires already")


def _module(context: RuleContext) -> Iterator[Finding]:
    module = context.plugin.text("module")
    if not module or not all(part.isidentifier() for part in module.split(".")):
        return
    path, file = context.plugin.at("module"), module.replace(".", "/")
    try:
        if context.files.package.has(f"{file}.py") or context.files.package.has(f"{file}/__init__.py"):
            return
        beside = [it.removesuffix(".py") for it in context.files.package.matching("*.py")]
    except PathRefused as refusal:
        yield Finding(codes.OUTSIDE, path, f"module {quoted(module)}: {refusal}")
    except OSError as error:
        reason = (error.strerror or "the system refuses").lower()
        yield Finding(codes.NO_MODULE, path, f"module {quoted(module)} cannot be looked for: {reason}")
    else:
        message = f"there is no module {visible(module)}: neither {file}.py nor {file}/__init__.py is in the package"
        yield Finding(codes.NO_MODULE, path, message, did_you_mean(module, beside))


def permissions(context: RuleContext) -> Iterator[Finding]:
    """Everything about `[permissions]`."""
    table = context.manifest.table("permissions")
    for key in ("read", "models", "files", "http"):
        yield from listed_once(table, key)
    yield from _reads(table, context.plugin)
    for path, name in table.texts("files"):
        try:
            refuse_unsafe(name)
        except PathRefused as refusal:
            message = f"{quoted(name)} is not a path inside the workspace folder: {refusal}"
            yield Finding(codes.FILE_PERMISSION, path, message)


def _reads(table: Table, plugin: Table) -> Iterator[Finding]:
    needed = {name for key in ("requires", "optional") for _, name in plugin.texts(key)}
    for path, name in table.texts("read"):
        other = name.partition("/")[0]
        if other == plugin.text("id"):
            message = f"{quoted(name)} is the plugin's own namespace, which needs no permission"
            yield Finding(codes.READ_TARGET, path, message)
        elif "/" in name and other not in needed:
            message = f"{quoted(other)} is read, but is neither in requires nor in optional"
            yield Finding(codes.READ_UNORDERED, path, message)


class Expected(NamedTuple):
    """What a manifest should agree with, as far as it is known.

    `announced`: the names of its entry points, of which the id must be one; `version`: its distribution's; `folder`:
    the name of its folder, where that is all it is found by, and `around` that of a folder which holds nothing else.
    """

    announced: tuple[str, ...] = ()
    version: str = ""
    folder: str = ""
    around: Callable[[], str] = str


NOTHING = Expected()


def agrees(plugin: Table, expected: Expected) -> Iterator[Finding]:
    """What the `[plugin]` table says otherwise."""
    name = plugin.text("id")
    if name and expected.announced and name not in expected.announced:
        names = listed([quoted(it) for it in expected.announced], "or")
        message = f"id is {quoted(name)}, but the plugin is announced as {names}"
        yield Finding(codes.ENTRY_POINT_NAME, plugin.at("id"), message)
    if name and expected.folder and name != expected.folder and name != expected.around():
        message = f"id is {quoted(name)}, but the folder is called {quoted(expected.folder)}"
        yield Finding(codes.FOLDER_NAME, plugin.at("id"), message)
    version = plugin.text("version")
    if version and expected.version and not _same(version, expected.version):
        message = f"version is {quoted(version)}, but the distribution's is {quoted(expected.version)}"
        yield Finding(codes.OTHER_VERSION, plugin.at("version"), message)


def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - few spell one version in two ways

    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        # The version's own rule says so.
        return True
