"""A file → messages in sessions; a second run takes up where the first one ended.

Each batch is a transaction of its own; a message whose `ref` is there with the same text is passed over, so an import
that was killed is simply run again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath
from typing import BinaryIO

from talekeeper.errors import ImportFileError
from talekeeper.exchange.batches import Loader, Options, Report
from talekeeper.exchange.formats import READERS
from talekeeper.exchange.source import Entry, Notes, Source
from talekeeper.story import Story


def import_file(story: Story, source: Source, name: str, options: Options, progress: Callable[[int], None]) -> Report:
    """Imports one open, seekable file of the format `name`; `progress` is told how many of its bytes are done.

    A line that cannot be read or does not fit what is there ends the import: `Report.error` has the sentence, and
    everything before that line has been accepted.
    """
    notes = Notes()
    report = Report(source.name, name, dry_run=options.dry_run, notes=notes.taken)
    reader = READERS[name]
    source.stream.seek(0)
    turns = Turns(source.stream, reader(source, Notes(), options.player))
    loader = Loader(story, source, options, report, notes)
    try:
        for entry in _until_fault(reader(source, notes, options.player), report):
            session = options.session or entry.session or _file_session(source, entry.line)
            loader.add(session, replace(entry, turn=turns.of(entry)))
            progress(entry.end)
        loader.flush()
    except ImportFileError as fault:
        report.error = fault
    loader.maintain()
    if options.player is not None and not turns.has_player:
        notes.take(f"nobody is called {options.player!r}, so nobody is the player", 1)
    return report


def _until_fault(entries: Iterator[Entry], report: Report) -> Iterator[Entry]:
    """A bad line ends the reading; what comes before it is still written."""
    try:
        yield from entries
    except ImportFileError as fault:
        report.error = fault


def _file_session(source: Source, line: int) -> str:
    if source.name == "-":
        source.fail(line, "what comes through a pipe has no session's name", "give one with --session NAME")
    return PurePath(source.name).stem.strip()


class Turns:
    """Turn numbers for conversations without a player: the place in the session, on every reading the same.

    Story numbers a message without a turn by its role: a player opens one. Where no player speaks in a whole session,
    every message is a turn of its own, from 1. That has to be known at a session's first message, so the file is read
    ahead from there: to the next player in most files, to its end where a session has none.

    `ahead` gives the entries of the file a second time. It shares `stream` with the caller; each finds the stream where
    it left it.
    """

    def __init__(self, stream: BinaryIO, ahead: Iterator[Entry]) -> None:
        self._stream = stream
        self._ahead = ahead
        self._reached = 0
        self._with_players: set[str | None] = set()
        self._places: Counter[str | None] = Counter()

    @property
    def has_player(self) -> bool:
        """Whether a player was met so far; at the end of the file, whether it has one."""
        return bool(self._with_players)

    def of(self, entry: Entry) -> int | None:
        """The turn where the file gives none and has no player; None where the story numbers the message."""
        session = entry.session
        if session not in self._with_players and session not in self._places:
            self._look_for_a_player(session)
        if session in self._with_players:
            return None
        self._places[session] += 1
        return self._places[session] if entry.draft.turn is None else None

    def _look_for_a_player(self, session: str | None) -> None:
        """A line that cannot be read ends the looking; the import itself will stop there and say so."""
        here = self._stream.tell()
        self._stream.seek(self._reached)
        with suppress(ImportFileError):
            for entry in self._ahead:
                if entry.draft.role == "player":
                    self._with_players.add(entry.session)
                    if entry.session == session:
                        break
        self._reached = self._stream.tell()
        self._stream.seek(here)
