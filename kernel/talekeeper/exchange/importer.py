"""A file → messages in sessions: batches that keep what was accepted, and a second run that takes up where one ended.

Each batch is a transaction of its own; a message whose `ref` is there with the same text is passed over, so an import
that was killed is simply run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath

from talekeeper.errors import ImportFileError
from talekeeper.exchange.accept import Acceptance, ReadDraft
from talekeeper.exchange.detect import READERS
from talekeeper.exchange.entry import Entry, Notes
from talekeeper.exchange.lines import Source
from talekeeper.exchange.report import Options, Report
from talekeeper.exchange.turns import Turns
from talekeeper.story import Story

# A batch is one transaction: large enough that its fsync weighs little, small enough to lose nothing worth mentioning.
_BATCH_MESSAGES = 512
_BATCH_CHARACTERS = 1_000_000

Progress = Callable[[int], None]
"""Told how many bytes of the file are done."""


def import_file(story: Story, source: Source, name: str, options: Options, progress: Progress) -> Report:
    """Imports one open, seekable file of the format `name`.

    A line that cannot be read or does not fit what is there ends the import: `Report.error` has the sentence, and
    everything before that line has been accepted.
    """
    notes = Notes()
    report = Report(source.name, name, dry_run=options.dry_run, notes=notes.taken)
    reader = READERS[name]
    source.stream.seek(0)
    turns = Turns(source.stream, reader(source, Notes(), options.player))
    acceptance = Acceptance(story, source, options, report, notes)
    batches = _Batches(acceptance)
    try:
        for entry in _until_fault(reader(source, notes, options.player), report):
            session = options.session or entry.session or _file_session(source, entry.line)
            batches.add(session, ReadDraft(entry.line, entry.draft, turns.of(entry)))
            progress(entry.end)
        batches.flush()
    except ImportFileError as fault:
        report.error = fault
    acceptance.tend()
    if options.player is not None and not turns.anybody_plays:
        notes.take(f"nobody is called {options.player!r}, so nobody is the player", 1)
    return report


def _until_fault(entries: Iterator[Entry], report: Report) -> Iterator[Entry]:
    """A bad line ends the reading, not the writing of what stands before it."""
    try:
        yield from entries
    except ImportFileError as fault:
        report.error = fault


def _file_session(source: Source, line: int) -> str:
    if source.name == "-":
        source.fail(line, "what comes through a pipe has no session's name", "give one with --session NAME")
    return PurePath(source.name).stem.strip()


class _Batches:
    """Drafts that wait for their batch, by session: a file may go from one session to another at every line."""

    def __init__(self, acceptance: Acceptance) -> None:
        self._acceptance = acceptance
        self._unwritten: dict[str, list[ReadDraft]] = {}
        self._messages = self._characters = 0

    def add(self, session: str, read: ReadDraft) -> None:
        self._unwritten.setdefault(session, []).append(read)
        self._messages += 1 + len(read.draft.takes)
        self._characters += len(read.draft.text) + sum(len(take.text) for take in read.draft.takes)
        if self._messages >= _BATCH_MESSAGES or self._characters >= _BATCH_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        waiting, self._unwritten = self._unwritten, {}
        self._messages = self._characters = 0
        for session, batch in waiting.items():
            self._acceptance.take(session, batch)
