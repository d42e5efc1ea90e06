"""The names of a new plugin: its id, which people type, and its package, which Python imports."""

from __future__ import annotations

import importlib.util
import re
from importlib.metadata import entry_points

from talekeeper.errors import ParameterError
from talekeeper.manifest.misfits import misfit
from talekeeper.manifest.names import PLUGIN_ID
from talekeeper.manifest.project import GROUP

_FIELD = "NAME"


def check_id(name: str) -> str:
    """The name, when it can be a plugin's id and nobody has it here; else raises ParameterError with what could be."""
    if not re.fullmatch(PLUGIN_ID, name):
        _, what, hint = misfit(PLUGIN_ID, _FIELD, name)
        raise ParameterError(_FIELD, what, cure=hint)
    package = package_name(name)
    if any(entry.name == name for entry in entry_points(group=GROUP)):
        raise ParameterError(_FIELD, f'a plugin "{name}" is installed here already', cure="choose another name")
    if importlib.util.find_spec(package) is not None:
        what = f'its package would be called "{package}", and there is one of that name already'
        raise ParameterError(_FIELD, what, cure="choose another name")
    return name


def package_name(plugin: str) -> str:
    """The plugin's id as a name of Python, after a word of ours that keeps it apart from other people's packages."""
    return f"talekeeper_{plugin.replace('-', '_')}"
