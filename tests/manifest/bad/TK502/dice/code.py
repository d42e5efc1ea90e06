"""Forgets to mark its hook."""

from talekeeper.api import PluginContext, Registry


def roll(_ctx: PluginContext, _arguments: object) -> int:
    """The same every time."""
    return 4


def talekeeper_register(registry: Registry) -> None:
    """Is never called."""
    registry.tool("roll-dice", roll)
