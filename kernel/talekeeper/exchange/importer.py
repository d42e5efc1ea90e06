"""A file → messages in sessions; a second run takes up where the first one ended.

Each batch of drafts is a transaction of its own; a message whose `ref` is there with the same text is passed over, so
an import that was killed is simply run again. The report counts what was new and what was there already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import BinaryIO, NamedTuple, NoReturn

from talekeeper.db import Tx
from talekeeper.errors import Conflict, ImportFileError, NotFound, ParameterError, TalekeeperError
from talekeeper.exchange.formats import READERS
from talekeeper.exchange.source import Entry, Notes, Source
from talekeeper.story import Address, Coordinate, Draft, Story
from talekeeper.text import digest

# A batch is one transaction: large enough that its fsync weighs little, small enough to lose nothing worth mentioning.
_BATCH_MESSAGES = 512
_BATCH_CHARACTERS = 1_000_000
# So many waiting passages become one segment of the index's second level. Maintained after each batch, they are written
# as small segments first, and a large import takes half as long again.
_MAINTAINED_AFTER = 2_048


@dataclass(frozen=True, slots=True)
class Options:
    """`session` puts every message of the file into that session; `player` names the speaker who is the player.

    `title`, `locale` and `plugins` are what a new session starts with. A dry run reads and compares everything and
    changes nothing.
    """

    workspace: str = "default"
    session: str | None = None
    player: str | None = None
    title: str = ""
    locale: str = "en"
    plugins: tuple[str, ...] = ()
    dry_run: bool = False


@dataclass(slots=True)
class SessionCount:
    """What became of one session's messages, takes included."""

    session: str
    created: bool = False
    imported: int = 0
    already_there: int = 0


@dataclass(slots=True)
class Report:
    """`notes` say what was not imported as it is in the file: reason → how often, and the first line.

    `error` is what ended the import, if anything did.
    """

    file: str
    format: str
    dry_run: bool = False
    sessions: dict[str, SessionCount] = field(default_factory=dict[str, SessionCount])
    notes: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    error: TalekeeperError | None = None

    @property
    def imported(self) -> int:
        """Messages that were not there before, takes included."""
        return sum(one.imported for one in self.sessions.values())

    @property
    def already_there(self) -> int:
        """Messages an earlier import had brought."""
        return sum(one.already_there for one in self.sessions.values())

    def session(self, name: str) -> SessionCount:
        """The counts of one session."""
        return self.sessions.setdefault(name, SessionCount(name))


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


@dataclass(slots=True)
class _Session:
    """What the import knows of one session so far."""

    address: Address
    begins_here: bool | None = None
    """Whether it is new or begins with an earlier import of this file, else its own turns go on; None at first."""
    reached: list[Coordinate] = field(default_factory=list[Coordinate])
    """Of the last message that an earlier import took from this file, and of its takes."""
    rehearsed: dict[int, int] = field(default_factory=dict[int, int])
    """What a dry run has passed: digest of the ref → digest of the text."""
    unmaintained: int = 0
    """Messages written since the index was last maintained."""


class _Written(NamedTuple):
    """Whether the session was made, how many messages are new, and whether the head went behind the file's last."""

    made: bool
    new: int
    moved: bool


class _Rehearsed(Exception):
    """Carries what a dry run found out of the transaction that it undoes."""

    def __init__(self, found: _Written) -> None:
        self.found = found


class Loader:
    """Appends drafts to sessions in batches, each a transaction of its own, and counts.

    `add` and `flush` raise `ImportFileError` naming the line that does not fit, and keep what comes before it.
    """

    def __init__(self, story: Story, source: Source, options: Options, report: Report, notes: Notes) -> None:
        self._story = story
        self._source = source
        self._options = options
        self._report = report
        self._notes = notes
        self._sessions: dict[str, _Session] = {}
        self._waiting: dict[str, list[Entry]] = {}
        self._messages = self._characters = 0

    def add(self, session: str, entry: Entry) -> None:
        """Lets a draft wait for its batch: a file may go from one session to another at every line."""
        self._waiting.setdefault(session, []).append(entry)
        self._messages += 1 + len(entry.draft.takes)
        self._characters += len(entry.draft.text) + sum(len(take.text) for take in entry.draft.takes)
        if self._messages >= _BATCH_MESSAGES or self._characters >= _BATCH_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Writes what waits."""
        waiting, self._waiting = self._waiting, {}
        self._messages = self._characters = 0
        for name, batch in waiting.items():
            session = self._sessions.setdefault(name, _Session(Address(self._options.workspace, name)))
            self._load(session, batch)

    def maintain(self, least: int = 1) -> None:
        """Brings the index up to date in every session that has so many new messages."""
        for session in self._sessions.values():
            if session.unmaintained >= least:
                self._story.index.maintain(session.address)
                session.unmaintained = 0

    def _load(self, session: _Session, batch: Sequence[Entry]) -> None:
        known = self._known(session, batch)
        unseen = self._unseen(batch, known)
        if session.begins_here is None:
            session.begins_here = self._begins_here(session.address, batch[0], known)
        drafts = [
            replace(one.draft, turn=one.turn) if session.begins_here and one.turn is not None else one.draft
            for one in unseen
        ]
        try:
            _refuse_other_text(session.rehearsed, unseen)
            written = self._write(session, drafts)
        except Conflict as fault:
            self._refuse(session, unseen, fault, known)
        except ParameterError as fault:
            raise ImportFileError(self._source.name, batch[0].line, str(fault)) from fault
        count = self._report.session(session.address.session)
        count.created = written.made or count.created
        count.imported += written.new
        if written.moved:
            self._notes.take("the session stood before the file's last message and went on behind it", unseen[0].line)
        # What was new to this batch and is not new to the story came with an import that runs beside this one.
        expected = sum(ref not in known for one in unseen for ref in one.refs)
        count.already_there += len(known) + max(0, expected - written.new)
        if self._options.dry_run:
            session.rehearsed.update((digest(ref), text) for one in batch for ref, text in one.digests)

    def _known(self, session: _Session, batch: Sequence[Entry]) -> dict[str | None, int]:
        """Refs of the batch that the story has, or a dry run has passed, each with the digest of the text there."""
        refs = [ref for one in batch for ref in one.refs]
        there = self._story.messages.by_ref(session.address, refs)
        for one in batch:
            if found := [there[ref].coordinate for ref in one.refs if ref in there]:
                session.reached = found
        known: dict[str | None, int] = {ref: digest(message.text) for ref, message in there.items()}
        passed = session.rehearsed
        return known | {ref: passed[digest(ref)] for ref in refs if passed and digest(ref) in passed}

    def _begins_here(self, address: Address, first: Entry, known: Mapping[str | None, int]) -> bool:
        if known.keys() & first.refs:
            return True
        try:
            return self._story.sessions.get(address).messages == 0
        except NotFound:
            return True

    def _write(self, session: _Session, drafts: Sequence[Draft]) -> _Written:
        """Behind the file's last message where the session was undone past it or left its branch, else at the head."""
        dry, address, tree = self._options.dry_run, session.address, self._story.tree

        def write(tx: Tx) -> _Written:
            made = self._ensure(address, tx)
            reached = session.reached if drafts else []
            moved = bool(reached) and not any(tree.on_lineage(address, place, tx=tx) for place in reached)
            if moved:
                tree.go(address, reached[0], tx=tx)
            written = _Written(made, len(self._story.messages.append(address, drafts, tx=tx)), moved)
            if dry:
                raise _Rehearsed(written)
            self._keep_names(tx, address, drafts)
            return written

        try:
            written = self._story.write(write, name="rehearse an import" if dry else "import messages")
        except _Rehearsed as done:
            return done.found
        session.unmaintained += written.new
        self.maintain(_MAINTAINED_AFTER)
        return written

    def _keep_names(self, tx: Tx, address: Address, drafts: Sequence[Draft]) -> None:
        """The story goes on under its own names: the player's last, and the narrator's, unless it has several."""
        settings = self._story.sessions.get(address, tx=tx).settings
        before: Mapping[str, str] = settings.get("imported") or {}
        names = dict(before)
        for draft in drafts:
            if draft.speaker and draft.role == "player":
                names["player"] = draft.speaker
            elif draft.speaker and draft.role == "narrator":
                names["narrator"] = draft.speaker if names.get("narrator", draft.speaker) == draft.speaker else ""
        if names != before:
            self._story.sessions.configure(address, settings={**settings, "imported": names}, tx=tx)

    def _ensure(self, address: Address, tx: Tx) -> bool:
        """Makes the session unless it is there; true when it was made."""
        try:
            self._story.sessions.get(address, tx=tx)
        except NotFound:
            self._story.sessions.create(
                address.workspace,
                session_id=address.session,
                title=self._options.title or address.session,
                locale=self._options.locale,
                plugins=self._options.plugins,
                tx=tx,
            )
            return True
        return False

    def _unseen(self, batch: Sequence[Entry], known: Mapping[str | None, int]) -> list[Entry]:
        """Leaves out what is there as it is in the file, before its terms are counted for nothing.

        Where a message has other takes in the file than in the story, the story keeps those it has.
        """
        unseen: list[Entry] = []
        for one in batch:
            there = known.keys() & one.refs
            if there and len(there) < len(one.refs):
                self._notes.take("a take that was not there at the last import is left out", one.line)
            text = digest(one.draft.text)
            if not there or known.get(one.draft.ref, text) != text:
                unseen.append(one)
        return unseen

    def _refuse(
        self, session: _Session, batch: Sequence[Entry], fault: Conflict, known: Mapping[str | None, int]
    ) -> NoReturn:
        """Keeps what comes before the message that does not fit, then names its line."""
        place = _misfit(batch, fault.data.get("ref"), known)
        if place is None:
            raise fault
        if place:
            self._load(session, batch[:place])
        cure = (
            "each message needs an id of its own; a file that was changed, or another of its name, "
            "can be another session, --session NAME"
        )
        raise ImportFileError(self._source.name, batch[place].line, fault.what, cure=cure) from fault


def _refuse_other_text(passed: Mapping[int, int], batch: Sequence[Entry]) -> None:
    """Raises `Conflict` for a ref that a dry run has passed with another text."""
    for one in batch if passed else ():
        for ref, text in one.digests:
            if passed.get(digest(ref), text) != text:
                raise Conflict(f"the message {ref!r} is already there with another text", ref=ref)


def _misfit(batch: Sequence[Entry], ref: object, known: Mapping[str | None, int]) -> int | None:
    """The first place in a batch where `ref` comes with another text than the one that was there first."""
    first = known.get(ref) if isinstance(ref, str) else None
    for place, one in enumerate(batch):
        for name, text in one.digests:
            if name == ref:
                if first not in (None, text):
                    return place
                first = text
    return None
