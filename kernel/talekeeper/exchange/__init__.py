"""Conversations in and out of files.

Reading: a name → `opening` → bytes → `lines` → a reader of one format → `Entry` → `importer` → story.
Writing: story → `dump` (an archive: all of it, to be restored) or `render` (one lineage, for SillyTavern or people).
Restoring: an archive → `unpack` (each row by itself) → `fitting` (each session as a tree) → `restore` → the store.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.exchange.detect import ARCHIVE, FORMATS, GUESSED, detect_format
    from talekeeper.exchange.dump import write_archive
    from talekeeper.exchange.entry import Entry, Notes
    from talekeeper.exchange.importer import Progress, import_file
    from talekeeper.exchange.jsonl import read_jsonl
    from talekeeper.exchange.lines import Source
    from talekeeper.exchange.opening import STDIN, opened, read_text
    from talekeeper.exchange.render import render_markdown, render_sillytavern, siblings_of
    from talekeeper.exchange.report import Options, Report, SessionCount
    from talekeeper.exchange.restore import restore_archive, sweep_leftovers
else:
    __getattr__ = lazy_face(__name__)

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
    "detect_format",
    "import_file",
    "opened",
    "read_jsonl",
    "read_text",
    "render_markdown",
    "render_sillytavern",
    "restore_archive",
    "siblings_of",
    "sweep_leftovers",
    "write_archive",
]
