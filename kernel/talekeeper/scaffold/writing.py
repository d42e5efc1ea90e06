"""Writes a project out of the templates, all of it or nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from string import Template

from packaging.version import Version

from talekeeper import __version__
from talekeeper.errors import InputError
from talekeeper.manifest import published_text
from talekeeper.scaffold.naming import package_name

_SUFFIX = ".template"
_PACKAGE_FOLDER = "package"
_FOR_EDITORS = "plugin.schema.json"


def write_project(plugin: str, folder: Path, *, data_only: bool = False) -> list[Path]:
    """Makes `folder` with the project of a plugin and gives its files, as paths below it.

    `plugin` is a checked id. Raises InputError when something is there already or it cannot be written; then nothing
    has been written.
    """
    try:
        return _written(plugin, folder, data_only=data_only)
    except OSError as error:
        reason = (error.strerror or "the system refuses").lower()
        what = f"the project cannot be written: {reason}; nothing is left of it"
        raise InputError(what, where=str(folder), cure="choose another directory") from None


def _written(plugin: str, folder: Path, *, data_only: bool) -> list[Path]:
    if folder.is_symlink() or folder.exists():
        raise InputError("it is there already, and nothing was written", where=str(folder), cure="choose another name")
    texts = dict(_texts(plugin, data_only=data_only))
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Beside its place, so that the last step is a renaming: half a project is never seen.
    with tempfile.TemporaryDirectory(prefix=".new-plugin-", dir=folder.parent) as place:
        project = Path(place) / folder.name
        for name, text in texts.items():
            file = project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        project.rename(folder)
    return sorted(Path(name) for name in texts)


def _texts(plugin: str, *, data_only: bool) -> Iterator[tuple[str, str]]:
    values = {"id": plugin, "package": package_name(plugin), "host": _host(Version(__version__))}
    templates = files("talekeeper.scaffold") / "templates"
    for kind in ("shared", "data" if data_only else "code"):
        for path, template in _below(templates / kind, PurePosixPath()):
            yield _name(path, values), Template(template.read_text("utf-8")).substitute(values)
    yield _FOR_EDITORS, published_text()


def _below(folder: Traversable, path: PurePosixPath) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _below(entry, path / entry.name)
        elif entry.name.endswith(_SUFFIX):
            yield path / entry.name, entry


def _name(path: PurePosixPath, values: Mapping[str, str]) -> str:
    parts = [values["package"] if part == _PACKAGE_FOLDER else part for part in path.parts]
    return "/".join(parts).removesuffix(_SUFFIX)


def _host(version: Version) -> str:
    """The hosts a plugin written for this one is likely to work with."""
    return f">={version.major}.{version.minor},<{version.major + 1}"
