"""Finds plugins without running any: entry points, folders of plugins, single paths.

An entry point of the group `talekeeper.plugins` has the plugin's id as its name and its package as its value. Only the
top-level package is looked up: asking for a submodule would run the package.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NamedTuple

from talekeeper.config import MISSPELT, nearest
from talekeeper.manifest import FILE_NAME, folder_of, installed, lone_package, project_at

_OWN_DISTRIBUTION = "talekeeper"
_ENTRIES = 10_000


class Origin(IntEnum):
    """How a plugin was found. Of two with one id, the one that is named counts, else the lower origin."""

    BUNDLED = 0
    INSTALLED = 1
    HOME = 2
    FOLDER = 3
    PATH = 4

    @property
    def words(self) -> str:
        """As a listing shows it."""
        return ("bundled", "installed", "home folder", "plugins folder", "path")[self]


@dataclass(frozen=True, slots=True)
class Found:
    """`names` are the entry point's or the folder's; the manifest's id must be one of them.

    `package` is the import name where the plugin has one; a bare folder is loaded under a name of the kernel's making.
    `root` is the folder with `plugin.toml`; without one `fault` says why, and `unsafe` that it may not even be read.
    `named` says that a person gave its own path for this run, in whatever other way it was found as well.
    """

    names: tuple[str, ...]
    origin: Origin
    place: str
    root: Path | None = None
    package: str | None = None
    fault: str = ""
    unsafe: bool = False
    named: bool = False

    def is_at(self, other: Found) -> bool:
        """Both lead to the same folder, or to the same place without one."""
        if self.root is None or other.root is None:
            return self.place == other.place
        return self.root.resolve() == other.root.resolve()


def discover(
    *,
    home: Path | None,
    folders: Iterable[Path] = (),
    paths: Iterable[Path] = (),
    entries: Callable[[], Iterable[EntryPoint]] = installed,
) -> list[Found]:
    """Every place a plugin was found at, those named first, then by origin and place.

    One folder found in two ways is listed once, by the lower origin. `home` is the home's folder of
    plugins, which need not be there.
    """
    found = [_from_entry_point(entry) for entry in entries()]
    if home is not None and home.is_dir():
        found += _from_folder(home, Origin.HOME)
    named = [*paths]
    for folder in folders:
        if (folder / FILE_NAME).is_file():
            named.append(folder)  # a person who gives one plugin's folder means that plugin
        else:
            found += _from_folder(folder, Origin.FOLDER)
    found += [replace(_from_path(path), named=True) for path in named]
    found.sort(key=lambda one: (one.origin, one.place))
    return sorted(_without_repeats(found), key=lambda one: not one.named)


def _from_entry_point(entry: EntryPoint) -> Found:
    distribution = entry.dist.name if entry.dist is not None else "?"
    origin = Origin.BUNDLED if distribution == _OWN_DISTRIBUTION else Origin.INSTALLED
    package = entry.value.partition(":")[0].strip()
    root = folder_of(package)
    if root is None or not (root / FILE_NAME).is_file():
        fault = f"entry point {entry.name!r} names {package!r}, which is no importable package with a {FILE_NAME} in it"
        return Found((entry.name,), origin, f"distribution {distribution}", fault=fault)
    root = root.resolve()
    return Found((entry.name,), origin, str(root), root, package)


def _from_folder(folder: Path, origin: Origin) -> Iterator[Found]:
    if not folder.is_dir():
        yield Found((folder.name,), origin, str(folder), fault=f"{folder} is not a folder")
        return
    open_to_all = writable_by_all(folder)
    for child in sorted(folder.iterdir()):
        if child.name.startswith((".", "_")) or not child.is_dir() or _is_something_else(child):
            continue
        if open_to_all:
            yield Found((child.name,), origin, str(child), fault=open_to_all, unsafe=True)
        elif not child.resolve().is_relative_to(folder.resolve()):
            fault = f"{child} is a link that leads out of {folder}; give the path it leads to instead"
            yield Found((child.name,), origin, str(child), fault=fault, unsafe=True)
        else:
            yield _in_folder(child, origin)


def _is_something_else(folder: Path) -> bool:
    """Whether a folder among plugins holds nothing but files, and none of a plugin: no code, schema or manifest.

    A file with a name much like the manifest's was meant to be one: that folder is worth a word.
    """
    entries = list(folder.iterdir())
    return bool(entries) and all(entry.is_file() and not _is_of_a_plugin(entry.name) for entry in entries)


def _is_of_a_plugin(name: str) -> bool:
    return (
        name.endswith((".py", ".schema.json"))
        or name in {FILE_NAME, "pyproject.toml"}
        or nearest(name, (FILE_NAME,), MISSPELT) is not None
    )


def _from_path(path: Path) -> Found:
    folder = (path.parent if path.name == FILE_NAME else path).resolve()
    if not folder.is_dir():
        return Found((path.name,), Origin.PATH, str(path), fault=f"{path} is not a plugin's folder")
    found = _in_folder(folder, Origin.PATH)
    around = project(folder.parents[1] if folder.parent.name == "src" else folder.parent)
    if found.package is None and around is not None and around.root == folder:
        # Its own name is the better one to show, where it counts.
        own = tuple(name for name in found.names if name in around.names)
        names = tuple(dict.fromkeys((*own, *around.names)))
        return Found(names, Origin.PATH, found.place, folder, around.package)
    return found


def _in_folder(folder: Path, origin: Origin) -> Found:
    """The plugin of a folder: the package itself, or the one of a project."""
    inside = None if (folder / FILE_NAME).is_file() else project(folder)
    names, root, package = (inside.names, inside.root, inside.package) if inside else ((folder.name,), folder, None)
    danger = unsafe(folder, root)
    if danger:
        return Found(names, origin, str(root), fault=danger, unsafe=True)
    if inside is None and not (folder / FILE_NAME).is_file():
        fault = f"{folder} holds neither a {FILE_NAME} nor one package with a {FILE_NAME}"
        return Found(names, origin, str(folder), fault=fault)
    return Found(names, origin, str(root), root, package)


def _without_repeats(found: Iterable[Found]) -> Iterator[Found]:
    kept: dict[Path | int, Found] = {}
    for number, one in enumerate(found):
        key = number if one.root is None else one.root.resolve()
        first = kept.setdefault(key, one)
        kept[key] = replace(first, named=first.named or one.named)
    yield from kept.values()


class Project(NamedTuple):
    """`names`: the entry point's, or those of folder and package where none is announced; `root` is the package."""

    names: tuple[str, ...]
    package: str
    root: Path


def project(folder: Path) -> Project | None:
    """The plugin that `folder/pyproject.toml` announces, else the only package in the folder with a manifest."""
    described = project_at(folder)
    for name, value in described.announced.items() if described else ():
        package = value.partition(":")[0].strip()
        for base in (folder, folder / "src"):
            root = base.joinpath(*package.split("."))
            if package and (root / FILE_NAME).is_file():
                return Project((name,), package, root)
    alone = lone_package(folder)
    return Project((folder.name, alone.name), alone.name, alone) if alone else None


def unsafe(folder: Path, package: Path) -> str:
    """Why the package in this folder may not be loaded, in a sentence; empty when it may. Both may be the same.

    Refused are files and folders that everybody may write to, links that lead out, what is neither file nor folder,
    and a package of more than 10,000 entries.
    """
    try:
        return writable_by_all(folder) or _unsafe_package(package, folder.resolve())
    except OSError as error:
        return f"{error.filename or folder} cannot be read: {error.strerror}"


def writable_by_all(path: Path | str, facts: os.stat_result | None = None) -> str:
    """Why nothing may be loaded from this path, when everybody may write to it; else empty."""
    # Windows keeps rights in access lists that the mode does not show.
    if os.name != "posix" or not (facts or Path(path).stat()).st_mode & stat.S_IWOTH:
        return ""
    return f"everybody may write to {path}; take that right away (chmod o-w)"


def _unsafe_package(package: Path, folder: Path) -> str:
    root = package.resolve()
    if not root.is_relative_to(folder):
        return f"{package} is a link that leads out of {folder}, to {root}"
    if reason := writable_by_all(root):
        return reason
    seen, waiting = 0, [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                seen += 1
                reason = _unsafe_entry(entry, root)
                if seen > _ENTRIES:
                    reason = f"{root} holds more than {_ENTRIES:,} files; a plugin's package holds the plugin alone"
                if reason:
                    return reason
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
    return ""


def _unsafe_entry(entry: os.DirEntry[str], root: Path) -> str:
    if entry.is_symlink():
        target = Path(os.path.realpath(entry.path))  # resolve() fails on links that lead in a circle
        return (
            "" if target.is_relative_to(root) else f"{entry.path} is a link that leads out of the plugin, to {target}"
        )
    facts = entry.stat(follow_symlinks=False)
    if not (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode)):
        return f"{entry.path} is neither a file nor a folder"
    return writable_by_all(entry.path, facts)
