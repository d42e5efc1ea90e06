"""Registers more than it declares."""

from talekeeper.api import PluginContext, Registry, hookimpl


def roll(_ctx: PluginContext, _arguments: object) -> int:
    """The same every time."""
    return 4


@hookimpl
def talekeeper_register(registry: Registry) -> None:
    """Registers a tool and a command."""
    registry.tool("roll-dice", roll)
    registry.command("reroll", roll)
