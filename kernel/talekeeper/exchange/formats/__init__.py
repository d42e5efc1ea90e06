"""Readers of conversations, one module a format, and which format a file has by its first lines.

A new format is a module here with a reader, a line in `READERS`, and its mark in `_json_format` or `detect_format`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

from talekeeper.errors import ImportFileError
from talekeeper.exchange.archive import ARCHIVE_KEY
from talekeeper.exchange.formats.jsonl import read_jsonl
from talekeeper.exchange.formats.kobold import is_kobold, read_kobold
from talekeeper.exchange.formats.sillytavern import HEADER_KEYS, read_sillytavern
from talekeeper.exchange.formats.transcript import read_transcript, speaker_line
from talekeeper.exchange.source import Entry, Line, Notes, Source

Reader = Callable[[Source, Notes, str | None], Iterator[Entry]]

READERS: dict[str, Reader] = {
    "jsonl": read_jsonl,
    "sillytavern": read_sillytavern,
    "kobold": read_kobold,
    "transcript": read_transcript,
}
ARCHIVE = "talekeeper"
GUESSED = "transcript"
"""The format that has no mark of its own: any text may look like it."""
FORMATS = (*READERS, ARCHIVE)

# A transcript may open with a page of narration; prose and program text, too, have a colon here and there.
_LINES_LOOKED_AT = 200
_LEAST_SPOKEN = 0.05


def detect_format(source: Source, player: str | None = None) -> str:
    """One of `FORMATS`, or `ImportFileError` when the start of the file is none. Leaves the stream at its start."""
    source.stream.seek(0)
    try:
        lines = (line for line in source.lines() if line.text.strip())
        first = next(lines, None)
        if first is None:
            source.fail(None, "the file is empty")
        if first.text.lstrip().startswith(("{", "[")) and not speaker_line(first.text):
            return _json_format(source, first)
        known = frozenset({player.casefold()} if player else ())
        looked_at = [first, *islice(lines, _LINES_LOOKED_AT)]
        spoken = sum(speaker_line(line.text, known) is not None for line in looked_at)
        if spoken >= max(1, _LEAST_SPOKEN * len(looked_at)):
            return GUESSED
    finally:
        source.stream.seek(0)
    return source.fail(first.number, "no conversation: no line reads `Name: text` and none is JSON", _CURE)


_CURE = f"name the format with --format {'|'.join(FORMATS)}"


def _json_format(source: Source, line: Line) -> str:
    try:
        row = source.json_object(line)
    except ImportFileError:
        # A save may be one document over many lines, or hold numbers that no line of ours may.
        with suppress(ImportFileError):
            if is_kobold(source.document()):
                return "kobold"
        raise
    if is_kobold(row):
        return "kobold"
    if ARCHIVE_KEY in row:
        return ARCHIVE
    if "mes" in row or HEADER_KEYS & row.keys():
        return "sillytavern"
    if "text" in row:
        return "jsonl"
    keys = ", ".join(sorted(row)[:5])
    return source.fail(line.number, f"a JSON line of no known format (its keys: {keys})", _CURE)
