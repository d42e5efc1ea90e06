"""Adding messages to the tree: at the head, or under a coordinate as a take.

A draft may carry an importer's own id, its `ref`: what was imported before is skipped, what comes back changed is
refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from talekeeper.db import Tx
from talekeeper.errors import Conflict, ParameterError
from talekeeper.story.checks import check_name
from talekeeper.story.core import Core
from talekeeper.story.indexing.passages import draft_terms, is_indexed, message_passage
from talekeeper.story.messages import rows
from talekeeper.story.messages.lineage import anchor, extend, has_message, keep
from talekeeper.story.views import ROOT, Address, Coordinate, Draft, Message, Session
from talekeeper.text import Terms, check_text

_ROLES = ("player", "narrator", "tool", "system")
_ORIGINS = ("typed", "pasted", "tool", "imported", "generated")
_REFS = 500  # looked for in one statement
_TYPED_LINES = 20  # longer than this in either way, and it was not typed here
_TYPED_CHARACTERS = 2_000
_LARGEST_TURN = 2**31 - 1  # what the index has four bytes for

_INSERT = (
    "INSERT INTO message(workspace, session, id, seq, ref, branch, depth, turn, role, kind, speaker, text, time, "
    "origin, caption, extra, created, written) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_BRANCH = "INSERT INTO branch(workspace, session, id, parent, fork_depth, name, created) VALUES (?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked draft with its terms, which need no transaction to be counted."""

    draft: Draft
    origin: str
    terms: Terms
    takes: tuple[Prepared, ...]


def prepare(drafts: Sequence[Draft]) -> list[Prepared]:
    """Checks every field and counts the terms; raises `ParameterError` naming the field."""
    return [
        Prepared(_checked(draft), _origin(draft), draft_terms(draft), tuple(prepare(draft.takes))) for draft in drafts
    ]


def append(core: Core, tx: Tx, address: Address, prepared: Sequence[Prepared], at: Coordinate | None) -> list[Message]:
    """Adds at the head; a head that is not `at`, when given, is a `Conflict`. Gives only what is new."""
    session = rows.session(tx, address)
    if at is not None and at != session.head:
        raise Conflict(
            f"the story has moved on to {session.head.branch}:{session.head.depth}",
            where=address.session,
            cure="read it again and repeat",
            head=session.head,
        )
    return _grow(core, tx, session, session.head, prepared)


def answer(core: Core, tx: Tx, address: Address, under: Coordinate, prepared: Sequence[Prepared]) -> list[Message]:
    """Adds under a coordinate whatever happened meanwhile; the head follows only if it is still there."""
    return _grow(core, tx, rows.session(tx, address), under, prepared)


def _grow(core: Core, tx: Tx, session: Session, under: Coordinate, prepared: Sequence[Prepared]) -> list[Message]:
    fresh = _new_only(tx, session.address, prepared)
    if not fresh:
        return []
    grown = Growth(core, tx, session)
    if session.head == under:
        grown.finish(grown.add(under, fresh))
    else:
        grown.add(anchor(tx, session.address, under), fresh)
        grown.finish(None)
    return grown.messages


class Growth:
    """One addition to one session's tree: writes branches, messages and passages, then the session's counters."""

    def __init__(self, core: Core, tx: Tx, session: Session) -> None:
        self.messages: list[Message] = []
        self._core = core
        self._tx = tx
        self._session = session
        self._address = session.address
        self._place = (session.workspace, session.id)
        self._now = core.now()
        self._seq = session.messages
        self._branches = session.branches
        self._terms: dict[str, Terms] = {}

    def add(self, under: Coordinate, prepared: Sequence[Prepared]) -> Coordinate:
        """Grows one line of messages from `under`, each with its takes beside it, and gives its tip."""
        above, turn = self._above(under)
        at = under
        if has_message(self._tx, self._address, Coordinate(under.branch, under.depth + 1)):
            at = Coordinate(self.branch(above), under.depth)
        for item in prepared:
            at = Coordinate(at.branch, at.depth + 1)
            message = self._message(item, at, turn)
            for take in item.takes:
                beside = self.branch(above)
                self._message(take, Coordinate(beside, at.depth), turn, of=message.turn)
            above, turn = at, message.turn
        return at

    def branch(self, fork: Coordinate, name: str = "") -> int:
        """A new branch growing from an anchored coordinate."""
        made = self._branches
        self._branches += 1
        self._tx.run(_BRANCH, (*self._place, made, fork.branch, fork.depth, name, self._now))
        return made

    def finish(self, head: Coordinate | None) -> None:
        """Writes what was added; a `head` is moved to and ends what could be redone."""
        self._tx.run_many(_INSERT, ((*self._place, *_columns(message)) for message in self.messages))
        self._index()
        counted = "messages = ?, branches = ?, revision = revision + 1, updated = ?"
        counts = (self._seq, self._branches, self._now)
        if head is None:
            self._tx.run(f"UPDATE session SET {counted} WHERE workspace = ? AND id = ?", (*counts, *self._place))
            return
        self._tx.run(
            f"UPDATE session SET {counted}, head_branch = ?, head_depth = ?, redo_branch = NULL, redo_depth = NULL "
            "WHERE workspace = ? AND id = ?",
            (*counts, head.branch, head.depth, *self._place),
        )
        if head.branch == self._session.head.branch:
            extend(self._tx, self._address, head)
        else:
            keep(self._tx, self._address, head)

    def _above(self, under: Coordinate) -> tuple[Coordinate, int]:
        message = rows.at_place(self._tx, self._address, under)
        if message is None:
            message = rows.at_place(self._tx, self._address, anchor(self._tx, self._address, under))
        return (ROOT, 0) if message is None else (message.coordinate, message.turn)

    def _message(self, item: Prepared, at: Coordinate, before: int, of: int | None = None) -> Message:
        draft = item.draft
        turn = draft.turn if draft.turn is not None else of
        if turn is None:
            turn = before + 1 if draft.role == "player" else before
        message = Message(
            id=self._core.ids.new(),
            coordinate=at,
            seq=self._seq,
            ref=draft.ref,
            turn=turn,
            role=draft.role,
            kind=draft.kind,
            speaker=draft.speaker,
            text=draft.text,
            time=draft.time,
            origin=item.origin,
            caption=draft.caption,
            extra=draft.extra,
            created=self._now,
            revision=0,
            hidden=False,
            deleted=False,
        )
        self._seq += 1
        self.messages.append(message)
        self._terms[message.id] = item.terms
        return message

    def _index(self) -> None:
        part = self._core.index.part_for(self._tx, self._address.workspace, self._address.session, "")
        for message in self.messages:
            if is_indexed(message):
                self._core.index.add(self._tx, part, message_passage(message, self._terms[message.id]))


def _columns(message: Message) -> tuple[object, ...]:
    at = message.coordinate
    place = (message.id, message.seq, message.ref, at.branch, at.depth, message.turn)
    said = (message.role, message.kind, message.speaker, message.text, message.time, message.origin, message.caption)
    return (*place, *said, message.extra, message.created, message.created)


def _checked(draft: Draft) -> Draft:
    if draft.role not in _ROLES:
        raise ParameterError("role", f"{draft.role!r} is not a role", cure=f"use one of {', '.join(_ROLES)}")
    if draft.origin and draft.origin not in _ORIGINS:
        raise ParameterError("origin", f"{draft.origin!r} is not an origin", cure=f"use one of {', '.join(_ORIGINS)}")
    if draft.turn is not None and not 0 <= draft.turn <= _LARGEST_TURN:
        raise ParameterError("turn", f"{draft.turn} is not a turn", cure=f"turns are counted from 0 to {_LARGEST_TURN}")
    check_name(draft.kind, "kind", empty=True)
    for field in ("text", "speaker", "ref", "time", "caption", "extra"):
        check_text(getattr(draft, field) or "", field)
    return draft


def _origin(draft: Draft) -> str:
    if draft.origin:
        return draft.origin
    if draft.role != "player":
        return "generated" if draft.role == "narrator" else "tool"
    long = len(draft.text) > _TYPED_CHARACTERS or draft.text.count("\n") >= _TYPED_LINES
    return "pasted" if long else "typed"


def _new_only(tx: Tx, address: Address, prepared: Sequence[Prepared]) -> list[Prepared]:
    """Leaves out drafts whose `ref` is there with the same text; raises `Conflict` with `data["ref"]` on another text.

    The text counts as the same when the message ever had it: an edit made here does not make a file unreadable.
    """
    known = _known(
        tx,
        address,
        [draft.ref for item in prepared for draft in (item.draft, *item.draft.takes) if draft.ref is not None],
    )
    fresh: list[Prepared] = []
    for item in prepared:
        if item.draft.ref is None or item.draft.ref not in known:
            fresh.append(item)
        for draft in (item.draft, *item.draft.takes):
            if draft.ref is not None and draft.text not in known.setdefault(draft.ref, {draft.text}):
                raise Conflict(
                    f"the message {draft.ref!r} is already there with another text",
                    where=address.session,
                    cure="edit it there, or import the file as another session",
                    ref=draft.ref,
                )
    return fresh


def _known(tx: Tx, address: Address, refs: list[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for start in range(0, len(refs), _REFS):
        some = refs[start : start + _REFS]
        rows = tx.rows(
            "SELECT m.ref, m.text, t.text FROM message m LEFT JOIN message_text t "
            "ON t.workspace = m.workspace AND t.session = m.session AND t.message = m.id "
            f"WHERE m.workspace = ? AND m.session = ? AND m.ref IN ({', '.join('?' * len(some))})",
            (address.workspace, address.session, *some),
        )
        for ref, now, before in rows:
            found.setdefault(ref, set()).update({now} if before is None else {now, before})
    return found
