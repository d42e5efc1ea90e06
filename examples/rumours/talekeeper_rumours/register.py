"""Tells the kernel which function does what `plugin.toml` declares."""

from talekeeper.api import Registry, hookimpl

from .lines import read_lines
from .log import about, hear, settle


@hookimpl
def talekeeper_register(registry: Registry) -> None:
    """Called once, when one of the functions is first needed."""
    registry.command("hear", hear)
    registry.command("about", about)
    registry.command("settle", settle)
    registry.importer("lines", read_lines)
