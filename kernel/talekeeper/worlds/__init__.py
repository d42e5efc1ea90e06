"""World files: a TOML file → what a story begins with → a new session that has it.

A world names its opening, its player and its preset, and gives plugins their first records. It names plugins; nothing
here does.
"""

from talekeeper.worlds.begin import Begun, begin
from talekeeper.worlds.read import Entry, World, read_world

__all__ = ["Begun", "Entry", "World", "begin", "read_world"]
