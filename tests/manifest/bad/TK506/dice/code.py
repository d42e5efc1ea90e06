"""Registers once in the life of a process."""

import os

from talekeeper.api import PluginContext, Registry, hookimpl


def roll(_ctx: PluginContext, _arguments: object) -> int:
    """The same every time."""
    return 4


@hookimpl
def talekeeper_register(registry: Registry) -> None:
    """Remembers outside its module that it was here."""
    if "DICE_WERE_HERE" not in os.environ:
        registry.tool("roll-dice", roll)
    os.environ["DICE_WERE_HERE"] = "1"
