"""Conversations in and out of files.

Reading: bytes → `lines` → a reader of one format → `Entry` → `importer` → story.
Writing: story → `archive` (everything, to be imported again) or `render` (one lineage, for SillyTavern or for people).
"""

from talekeeper.exchange.detect import FORMATS, detect
from talekeeper.exchange.entry import Entry, Notes
from talekeeper.exchange.importer import Progress, import_file
from talekeeper.exchange.lines import Source
from talekeeper.exchange.report import Options, Report, SessionCount

__all__ = [
    "FORMATS",
    "Entry",
    "Notes",
    "Options",
    "Progress",
    "Report",
    "SessionCount",
    "Source",
    "detect",
    "import_file",
]
