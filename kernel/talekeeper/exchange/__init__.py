"""Conversations in and out of files.

Reading: a name → `source` (bytes, lines) → a reader in `formats` → `Entry` → `importer` → story.
Writing: story → `export` (an archive: all of it, to be restored; or one lineage, for SillyTavern or people).
Restoring: an archive → `archive.reader` (rows by themselves and as trees) → `archive.restore` → the store.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.exchange.archive.restore import restore_archive, sweep_leftovers
    from talekeeper.exchange.export import render_markdown, render_sillytavern, siblings_of, write_archive
    from talekeeper.exchange.formats import ARCHIVE, FORMATS, GUESSED, detect_format
    from talekeeper.exchange.formats.jsonl import read_jsonl
    from talekeeper.exchange.importer import Options, Report, import_file
    from talekeeper.exchange.source import STDIN, Entry, JsonRow, Notes, Source, opened, read_text
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "ARCHIVE",
    "FORMATS",
    "GUESSED",
    "STDIN",
    "Entry",
    "JsonRow",
    "Notes",
    "Options",
    "Report",
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
