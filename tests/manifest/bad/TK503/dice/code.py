"""Fails halfway."""

from talekeeper.api import PluginContext, Registry, hookimpl


def roll(_ctx: PluginContext, _arguments: object) -> int:
    """The same every time."""
    return 4


@hookimpl
def talekeeper_register(registry: Registry) -> None:
    """Registers, then fails."""
    registry.tool("roll-dice", roll)
    raise RuntimeError("no dice")
