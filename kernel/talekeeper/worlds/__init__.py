"""World files: a TOML file → what a story begins with → a new session that has it.

A world names its opening, its player and its preset, and gives plugins their first records. It names plugins; nothing
here does.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.worlds.begin import Begun, begin_story
    from talekeeper.worlds.read import Entry, World, read_world
else:
    __getattr__ = lazy_face(__name__)

__all__ = ["Begun", "Entry", "World", "begin_story", "read_world"]
