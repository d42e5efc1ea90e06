"""Conversations in and out of files.

Reading: a name → `opening` → bytes → `lines` → a reader of one format → `Entry` → `importer` → story.
Writing: story → `dump` (an archive: all of it, to be restored) or `render` (one lineage, for SillyTavern or people).
Restoring: an archive → `unpack` (each row by itself) → `fitting` (each session as a tree) → `restore` → the store.
"""

from talekeeper.exchange.detect import ARCHIVE, FORMATS, GUESSED, detect
from talekeeper.exchange.dump import write_archive
from talekeeper.exchange.entry import Entry, Notes
from talekeeper.exchange.importer import Progress, import_file
from talekeeper.exchange.lines import Source
from talekeeper.exchange.opening import STDIN, opened, read_text
from talekeeper.exchange.render import markdown, siblings_of, sillytavern
from talekeeper.exchange.report import Options, Report, SessionCount
from talekeeper.exchange.restore import restore_archive, sweep_leftovers

__all__ = [
    "ARCHIVE",
    "FORMATS",
    "GUESSED",
    "STDIN",
    "Entry",
    "Notes",
    "Options",
    "Progress",
    "Report",
    "SessionCount",
    "Source",
    "detect",
    "import_file",
    "markdown",
    "opened",
    "read_text",
    "restore_archive",
    "siblings_of",
    "sillytavern",
    "sweep_leftovers",
    "write_archive",
]
