"""Does a manifest agree with where it was found: entry point, distribution, folder?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from talekeeper.config import Table
from talekeeper.manifest.codes import packaging as codes
from talekeeper.manifest.diagnostic import Finding
from talekeeper.text import listed, quoted


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
