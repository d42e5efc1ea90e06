"""Appends batches of drafts to the store, and reports what was there already and which line does not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn

from talekeeper.db import Tx
from talekeeper.errors import Conflict, ImportFileError, NotFound, ParameterError, TalekeeperError
from talekeeper.exchange.source import Notes, Source
from talekeeper.story import Address, Coordinate, Draft, Story
from talekeeper.text import digest

# So many waiting passages become one segment of the index's second level. Tended after each batch, they are written as
# small segments first, and a large import takes half as long again.
_TENDED_AFTER = 2_048


@dataclass(frozen=True, slots=True)
class ReadDraft:
    """A draft and its line in the file; `turn` is the one it has in a session that begins with this file."""

    line: int
    draft: Draft
    turn: int | None = None

    @property
    def refs(self) -> list[str]:
        """The refs of the message and of its takes."""
        return [draft.ref for draft in (self.draft, *self.draft.takes) if draft.ref is not None]

    @property
    def named(self) -> list[tuple[str, int]]:
        """The same, each with the digest of its text."""
        drafts = (self.draft, *self.draft.takes)
        return [(draft.ref, digest(draft.text)) for draft in drafts if draft.ref is not None]

    def numbered(self) -> Draft:
        """The draft with that turn."""
        return self.draft if self.turn is None else replace(self.draft, turn=self.turn)


class _Written(NamedTuple):
    """Whether the session was made, how many messages are new, and whether the head went behind the file's last."""

    made: bool
    new: int
    moved: bool


class _Rehearsed(Exception):
    """Carries what a dry run found out of the transaction that it undoes."""

    def __init__(self, found: _Written) -> None:
        self.found = found


@dataclass(frozen=True, slots=True)
class Loader:
    """Appends batches to sessions, each in a transaction of its own, and counts."""

    story: Story
    source: Source
    options: Options
    report: Report
    notes: Notes
    _begun_here: dict[str, bool] = field(default_factory=dict[str, bool])
    _reached: dict[str, list[Coordinate]] = field(default_factory=dict[str, list[Coordinate]])
    """By session: coordinates of the last message that an earlier import took from this file, and of its takes."""
    _rehearsed: dict[str, dict[int, int]] = field(default_factory=dict[str, dict[int, int]])
    """What a dry run has passed: session → digest of the ref → digest of the text."""
    _untended: Counter[str] = field(default_factory=Counter[str])
    """Messages written since the index was last kept in order, by session."""

    def load(self, name: str, batch: Sequence[ReadDraft]) -> None:
        """Appends what is not there yet; raises `ImportFileError` naming the line, and keeps what comes before it."""
        address = Address(self.options.workspace, name)
        there = self.story.messages.by_ref(address, [ref for one in batch for ref in one.refs])
        known: dict[str | None, int] = {ref: digest(message.text) for ref, message in there.items()}
        for one in batch:
            if found := [there[ref].coordinate for ref in one.refs if ref in there]:
                self._reached[name] = found
        known.update(self._rehearsed_of(name, batch))
        unseen = self._unseen(batch, known)
        begun_here = self._begun_here.setdefault(name, self._begins_here(address, batch[0], known))
        drafts = [one.numbered() if begun_here else one.draft for one in unseen]
        try:
            self._none_rehearsed_otherwise(name, unseen)
            written = self._write(address, drafts)
        except Conflict as fault:
            self._refuse(name, unseen, fault, known)
        except ParameterError as fault:
            raise ImportFileError(self.source.name, batch[0].line, str(fault)) from fault
        count = self.report.session(name)
        count.created = written.made or count.created
        count.imported += written.new
        if written.moved:
            self.notes.take("the session stood before the file's last message and went on behind it", unseen[0].line)
        # What was new to this batch and is not new to the story came with an import that runs beside this one.
        expected = sum(ref not in known for one in unseen for ref in one.refs)
        count.already_there += len(known) + max(0, expected - written.new)
        if self.options.dry_run:
            passed = self._rehearsed.setdefault(name, {})
            passed.update((digest(ref), text) for one in batch for ref, text in one.named)

    def _rehearsed_of(self, name: str, batch: Sequence[ReadDraft]) -> dict[str, int]:
        """Messages of the batch that came before in the file: a dry run does not find them in the story."""
        passed = self._rehearsed.get(name, {})
        return {ref: passed[digest(ref)] for one in batch for ref in one.refs if passed and digest(ref) in passed}

    def _none_rehearsed_otherwise(self, name: str, batch: Sequence[ReadDraft]) -> None:
        passed = self._rehearsed.get(name, {})
        for one in batch if passed else ():
            for ref, text in one.named:
                if passed.get(digest(ref), text) != text:
                    raise Conflict(f"the message {ref!r} is already there with another text", ref=ref)

    def _begins_here(self, address: Address, first: ReadDraft, known: Mapping[str | None, int]) -> bool:
        """Whether the session is new, or begins with an earlier import of this file; else its own turns go on."""
        if known.keys() & first.refs:
            return True
        try:
            return self.story.sessions.get(address).messages == 0
        except NotFound:
            return True

    def _write(self, address: Address, drafts: Sequence[Draft]) -> _Written:
        dry = self.options.dry_run

        def write(tx: Tx) -> _Written:
            written = _Written(self._ensure(address, tx), *self._append(tx, address, drafts))
            if dry:
                raise _Rehearsed(written)
            self._keep_names(tx, address, drafts)
            return written

        try:
            written = self.story.write(write, name="rehearse an import" if dry else "import messages")
        except _Rehearsed as done:
            return done.found
        self._untended[address.session] += written.new
        self.tend(at_least=_TENDED_AFTER)
        return written

    def tend(self, at_least: int = 1) -> None:
        """Brings the index in order for the sessions in which so many messages were written since it was."""
        for name in [name for name, written in self._untended.items() if written >= at_least]:
            self.story.index.maintain(Address(self.options.workspace, name))
            del self._untended[name]

    def _append(self, tx: Tx, address: Address, drafts: Sequence[Draft]) -> tuple[int, bool]:
        """Behind the file's last message where the session was undone past it or left its branch, else at the head."""
        reached = self._reached.get(address.session, []) if drafts else []
        moved = bool(reached) and not any(self.story.tree.on_lineage(address, place, tx=tx) for place in reached)
        if moved:
            self.story.tree.go(address, reached[0], tx=tx)
        return len(self.story.messages.append(address, drafts, tx=tx)), moved

    def _keep_names(self, tx: Tx, address: Address, drafts: Sequence[Draft]) -> None:
        """The story goes on under its own names: the player's last, and the narrator's, unless it has several."""
        settings = self.story.sessions.get(address, tx=tx).settings
        before: Mapping[str, str] = settings.get("imported") or {}
        names = dict(before)
        for draft in drafts:
            if draft.speaker and draft.role == "player":
                names["player"] = draft.speaker
            elif draft.speaker and draft.role == "narrator":
                names["narrator"] = draft.speaker if names.get("narrator", draft.speaker) == draft.speaker else ""
        if names != before:
            self.story.sessions.configure(address, settings={**settings, "imported": names}, tx=tx)

    def _ensure(self, address: Address, tx: Tx) -> bool:
        """Makes the session unless it is there; true when it was made."""
        try:
            self.story.sessions.get(address, tx=tx)
        except NotFound:
            self.story.sessions.create(
                address.workspace,
                session_id=address.session,
                title=self.options.title or address.session,
                locale=self.options.locale,
                plugins=self.options.plugins,
                tx=tx,
            )
            return True
        return False

    def _unseen(self, batch: Sequence[ReadDraft], known: Mapping[str | None, int]) -> list[ReadDraft]:
        """Leaves out what is there as it is in the file, before its terms are counted for nothing.

        Where a message has other takes in the file than in the story, the story keeps those it has.
        """
        unseen: list[ReadDraft] = []
        for one in batch:
            there = known.keys() & one.refs
            if there and len(there) < len(one.refs):
                self.notes.take("a take that was not there at the last import is left out", one.line)
            text = digest(one.draft.text)
            if not there or known.get(one.draft.ref, text) != text:
                unseen.append(one)
        return unseen

    def _refuse(
        self, name: str, batch: Sequence[ReadDraft], fault: Conflict, known: Mapping[str | None, int]
    ) -> NoReturn:
        """Keeps what comes before the message that does not fit, then names its line."""
        place = _misfit(batch, fault.data.get("ref"), known)
        if place is None:
            raise fault
        if place:
            self.load(name, batch[:place])
        cure = (
            "each message needs an id of its own; a file that was changed, or another of its name, "
            "can be another session, --session NAME"
        )
        raise ImportFileError(self.source.name, batch[place].line, fault.what, cure=cure) from fault


def _misfit(batch: Sequence[ReadDraft], ref: object, known: Mapping[str | None, int]) -> int | None:
    """The first place in a batch where `ref` comes with another text than the one that was there first."""
    first = known.get(ref) if isinstance(ref, str) else None
    for place, one in enumerate(batch):
        for name, text in one.named:
            if name == ref and first not in (None, text):
                return place
            if name == ref:
                first = text
    return None


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
