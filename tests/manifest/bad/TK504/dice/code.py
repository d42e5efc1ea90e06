"""Forgets the tool."""

from talekeeper.api import Registry, hookimpl


@hookimpl
def talekeeper_register(registry: Registry) -> None:
    """Registers nothing."""
    del registry
