"""Conversations in and out of files.

Reading: bytes → `lines` → a reader of one format → `Entry` → `importer` → story.
Writing: story → `archive` (everything, to be imported again) or `render` (one lineage, for SillyTavern or for people).
"""

from talekeeper.exchange.detect import FORMATS, detect
from talekeeper.exchange.entry import Entry, Notes
from talekeeper.exchange.lines import Source

__all__ = ["FORMATS", "Entry", "Notes", "Source", "detect"]
