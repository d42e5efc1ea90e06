"""The names of a new plugin: its id, which people type, and its package, which Python imports."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from importlib.metadata import EntryPoint

from packaging.utils import canonicalize_name

from talekeeper.errors import ParameterError
from talekeeper.manifest import PLUGIN_ID, installed, name_fault

_FIELD = "NAME"
_DEVICES = frozenset(
    {"aux", "con", "nul", "prn"} | {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
)


def check_id(name: str) -> str:
    """The name, when it can be a plugin's id and nobody has it here; else raises ParameterError with what could be."""
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
