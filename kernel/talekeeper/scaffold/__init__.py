"""A new plugin's project: a manifest, a record schema, code if wished, and tests that pass from the first minute.

It is written from the templates, all of it or nothing.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from string import Template

from packaging.utils import canonicalize_name
from packaging.version import Version

from talekeeper import __version__
from talekeeper.errors import InputError, ParameterError
from talekeeper.manifest import PLUGIN_ID, installed, name_fault, published_text

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
    version = Version(__version__)
    # The hosts that a plugin written for this one is likely to work with.
    host = f">={version.major}.{version.minor},<{version.major + 1}"
    values = {"id": plugin, "package": package_name(plugin), "host": host}
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


_FIELD = "NAME"
_DEVICES = frozenset(
    {"aux", "con", "nul", "prn"} | {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
)


def check_id(name: str) -> str:
    """The name, if it can be a plugin's id and is free here; else raises ParameterError with a name that could be."""
    if not re.fullmatch(PLUGIN_ID, name):
        _, what, hint = name_fault(PLUGIN_ID, _FIELD, name)
        raise ParameterError(_FIELD, what, cure=hint)
    _refuse_unlucky(name)
    package = package_name(name)
    for entry in installed():
        if entry.name == name:
            what = f'a plugin "{name}" is installed here already'
            raise ParameterError(_FIELD, what, cure=f"choose another name{_or_uninstall(entry)}")
    if importlib.util.find_spec(package) is not None:
        what = f'its package would be called "{package}", and there is one of that name already'
        raise ParameterError(_FIELD, what, cure="choose another name")
    return name


def _or_uninstall(entry: EntryPoint) -> str:
    """How to get rid of what has the name, unless that is the host, with which its own plugins come."""
    distribution = "" if entry.dist is None else entry.dist.name
    if not distribution or canonicalize_name(distribution) == "talekeeper":
        return ""
    return f"; or take the installed one away:  pip uninstall {distribution}"


def _refuse_unlucky(name: str) -> None:
    """Raises for an id that a manifest may have and that would be a nuisance as the name of a project."""
    plain = re.sub("-+", "-", name).rstrip("-")
    if plain != name:
        what = f'"{name}": pip knows no name with two hyphens in a row or one at the end'
        raise ParameterError(_FIELD, what, cure=f'did you mean "{plain}"?')
    if name in _DEVICES:
        raise ParameterError(_FIELD, f'Windows has no folder called "{name}"', cure="choose another name")
    if name == "talekeeper":
        raise ParameterError(
            _FIELD, f'"{name}" is the host itself', cure="choose a name that says what the plugin adds"
        )
    if keyword.iskeyword(name) or name in sys.stdlib_module_names:
        what = f'"{name}" is a word or a module of Python\'s own'
        raise ParameterError(_FIELD, what, cure=f'choose a name that says more, such as "{name}-notes"')


def package_name(plugin: str) -> str:
    """The plugin's id as a name of Python, after a word of ours that keeps it apart from other people's packages."""
    return f"talekeeper_{plugin.replace('-', '_')}"
