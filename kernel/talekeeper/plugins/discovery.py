"""Finds plugins without running any: entry points, folders of plugins, single paths.

An entry point of the group `talekeeper.plugins` has the plugin's id as its name and its package as its value. Only the
top-level package is looked up: asking for a submodule would run the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

from talekeeper.config import MISSPELT, nearest
from talekeeper.manifest import folder_of, installed
from talekeeper.plugins.found import Found, Origin
from talekeeper.plugins.project import MANIFEST, project
from talekeeper.plugins.safety import unsafe, writable_by_all

_OWN_DISTRIBUTION = "talekeeper"


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
    for folder in folders:
        # A person who gives one plugin's folder means that plugin.
        found += [_named(folder)] if (folder / MANIFEST).is_file() else _from_folder(folder, Origin.FOLDER)
    found += [_named(path) for path in paths]
    found.sort(key=lambda one: (one.origin, one.place))
    return sorted(_without_repeats(found), key=lambda one: not one.named)


def _from_entry_point(entry: EntryPoint) -> Found:
    distribution = entry.dist.name if entry.dist is not None else "?"
    origin = Origin.BUNDLED if distribution == _OWN_DISTRIBUTION else Origin.INSTALLED
    package = entry.value.partition(":")[0].strip()
    root = folder_of(package)
    if root is None or not (root / MANIFEST).is_file():
        fault = f"entry point {entry.name!r} names {package!r}, which is no importable package with a {MANIFEST} in it"
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
        or name in {MANIFEST, "pyproject.toml"}
        or nearest(name, (MANIFEST,), MISSPELT) is not None
    )


def _named(path: Path) -> Found:
    return replace(_from_path(path), named=True)


def _from_path(path: Path) -> Found:
    folder = (path.parent if path.name == MANIFEST else path).resolve()
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
    inside = None if (folder / MANIFEST).is_file() else project(folder)
    names, root, package = (inside.names, inside.root, inside.package) if inside else ((folder.name,), folder, None)
    danger = unsafe(folder, root)
    if danger:
        return Found(names, origin, str(root), fault=danger, unsafe=True)
    if inside is None and not (folder / MANIFEST).is_file():
        fault = f"{folder} holds neither a {MANIFEST} nor one package with a {MANIFEST}"
        return Found(names, origin, str(folder), fault=fault)
    return Found(names, origin, str(root), root, package)


def _without_repeats(found: Iterable[Found]) -> Iterator[Found]:
    kept: dict[Path | int, Found] = {}
    for number, one in enumerate(found):
        key = number if one.root is None else one.root.resolve()
        first = kept.setdefault(key, one)
        kept[key] = replace(first, named=first.named or one.named)
    yield from kept.values()
