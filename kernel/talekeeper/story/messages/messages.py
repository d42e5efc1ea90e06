"""The messages of sessions: adding, reading and changing them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from talekeeper.db import Tx
from talekeeper.errors import Conflict, NotFound, ParameterError
from talekeeper.search import Kind
from talekeeper.story.core import Core
from talekeeper.story.indexing.passages import counted, is_indexed, message_passage, message_texts
from talekeeper.story.messages import append, rows
from talekeeper.story.records.derived import source_changed
from talekeeper.story.views import Address, Coordinate, Draft, Message, TextRevision
from talekeeper.text import check_text

_BATCH = 500
_MINE = "workspace = ? AND session = ? AND id = ?"


class Messages:
    """The messages of every session. A coordinate that is left out is the session's head."""

    def __init__(self, core: Core) -> None:
        self._core = core

    # Adding

    def append(
        self, address: Address, drafts: Sequence[Draft], at: Coordinate | None = None, *, tx: Tx | None = None
    ) -> list[Message]:
        """Adds messages at the head and gives the new ones, each followed by its takes; after an undo this forks.

        With `at`, a head that has moved is a `Conflict`. A draft whose `ref` is there already with the same text is
        skipped, its takes with it; with another text it is a `Conflict` with `data["ref"]`, and nothing is added.
        """
        prepared = append.prepare(drafts)
        return self._core.write(lambda tx: append.append(self._core, tx, address, prepared, at), tx, "append messages")

    def answer(
        self, address: Address, under: Coordinate, drafts: Sequence[Draft], *, tx: Tx | None = None
    ) -> list[Message]:
        """Adds messages under a coordinate: at the head while that is the head, else as a take; the head then stays."""
        prepared = append.prepare(drafts)
        return self._core.write(
            lambda tx: append.answer(self._core, tx, address, under, prepared), tx, "append an answer"
        )

    # Reading

    def read(
        self,
        address: Address,
        *,
        last: int | None = None,
        turns: tuple[int, int] | None = None,
        depths: tuple[int, int] | None = None,
        at: Coordinate | None = None,
        hidden: bool = True,
        tx: Tx | None = None,
    ) -> list[Message]:
        """Messages of a lineage in story order, deleted ones left out: all, the `last` ones, or an inclusive range."""
        if sum(choice is not None for choice in (last, turns, depths)) > 1:
            raise ParameterError("last", "only one of last, turns and depths can be given")
        where = "m.deleted = 0" if hidden else "m.deleted = 0 AND m.hidden = 0"

        def find(tx: Tx) -> list[Message]:
            if turns is not None:
                return rows.of_turns(tx, address, at, turns, where)
            if last is not None:
                end = rows.session(tx, address).head if at is None else at
                return rows.newest(tx, address, end, last, where, kept=at is None)
            first, deepest = (0, rows.NO_LIMIT) if depths is None else depths
            return rows.between(tx, address, at, first, deepest, where)

        return self._core.read(find, tx)

    def story(
        self,
        address: Address,
        first: int,
        last: int,
        *,
        at: Coordinate | None = None,
        hidden: bool = True,
        tx: Tx | None = None,
    ) -> list[Message]:
        """Player's and narrator's messages at an inclusive range of depths, without blank and deleted ones."""
        return self._core.read(lambda tx: rows.story_messages(tx, address, at, first, last, hidden=hidden), tx)

    def outline(self, address: Address, *, tx: Tx | None = None) -> list[tuple[int, str, Coordinate]]:
        """Turn, role and place of every message of the head's lineage, in order, without the texts."""
        what, where = "m.turn, m.role, m.branch, m.depth", "m.deleted = 0 ORDER BY m.depth"
        found = self._core.read(lambda tx: rows.along(tx, address, None, what, where), tx)
        return [(turn, role, Coordinate(branch, depth)) for turn, role, branch, depth in found]

    def speakers(self, address: Address, *, at: Coordinate | None = None, tx: Tx | None = None) -> list[str]:
        """Every name a message of the lineage was spoken under, in order of first appearance."""
        named = "m.deleted = 0 AND m.speaker <> '' GROUP BY m.speaker ORDER BY min(m.depth)"
        found = self._core.read(lambda tx: rows.along(tx, address, at, "m.speaker", named), tx)
        return [speaker for (speaker,) in found]

    def get(self, address: Address, message_id: str, *, tx: Tx | None = None) -> Message:
        """On any branch, deleted or not; raises `NotFound`."""
        return self._core.read(lambda tx: rows.by_id(tx, address, message_id), tx)

    def at(self, address: Address, at: Coordinate, *, tx: Tx | None = None) -> Message | None:
        """The message exactly there, deleted or not."""
        return self._core.read(lambda tx: rows.at_place(tx, address, at), tx)

    def by_id(self, address: Address, ids: Sequence[str], *, tx: Tx | None = None) -> dict[str, Message]:
        """Those of the ids that exist."""
        return self._core.read(lambda tx: rows.by_ids(tx, address, ids), tx)

    def by_ref(self, address: Address, refs: Sequence[str], *, tx: Tx | None = None) -> dict[str, Message]:
        """Those that were imported under one of these ids, deleted ones too."""
        return self._core.read(lambda tx: rows.by_ids(tx, address, refs, "ref"), tx)

    def all(self, address: Address) -> Iterator[Message]:
        """Every message of every branch, deleted ones too, in the order appended; each batch has its own snapshot."""
        after = -1
        while batch := self._core.db.read(partial(rows.appended_after, address=address, seq=after, limit=_BATCH)):
            yield from batch
            after = batch[-1].seq

    def texts(self, address: Address, message_id: str, *, tx: Tx | None = None) -> list[TextRevision]:
        """Every text the message has had, oldest first, the present one last."""
        sql = (
            "SELECT revision, text, written FROM message_text WHERE workspace = ? AND session = ? AND message = ? "
            "UNION ALL SELECT revision, text, written FROM message WHERE workspace = ? AND session = ? AND id = ? "
            "ORDER BY 1"
        )
        key = (address.workspace, address.session, message_id)
        found = self._core.read(lambda tx: tx.rows(sql, key * 2), tx)
        if not found:
            raise NotFound(f"there is no message {message_id!r}", where=address.session)
        return [TextRevision(*row) for row in found]

    # Changing

    def edit(self, address: Address, message_id: str, text: str) -> Message:
        """Gives the message a new text; `texts` keeps the old one, and what was derived from it is followed up."""
        check_text(text, "text")

        def edit(tx: Tx) -> Message:
            message = _live(tx, address, message_id)
            if message.text == text:
                return message
            key = (address.workspace, address.session, message_id)
            tx.run(
                "INSERT INTO message_text(workspace, session, message, revision, text, written) "
                f"SELECT workspace, session, id, revision, text, written FROM message WHERE {_MINE}",
                key,
            )
            tx.run(
                f"UPDATE message SET text = ?, revision = revision + 1, written = ? WHERE {_MINE}",
                (text, self._core.now(), *key),
            )
            edited = _follow(self._core, tx, address, message)
            source_changed(self._core, tx, address, message.coordinate, "edited")
            return edited

        with counted(message_texts(replace(self.get(address, message_id), text=text))):
            return self._core.db.write(edit, name="edit a message")

    def hide(self, address: Address, message_id: str, *, tx: Tx | None = None) -> Message:
        """Takes the message out of prompts and search; the story keeps it."""
        return self._core.write(
            lambda tx: _set(self._core, tx, address, message_id, "hidden = 1"), tx, "hide a message"
        )

    def unhide(self, address: Address, message_id: str) -> Message:
        """Puts a hidden message back."""
        with counted(message_texts(self.get(address, message_id))):
            return self._core.db.write(
                lambda tx: _set(self._core, tx, address, message_id, "hidden = 0"), name="unhide a message"
            )

    def delete(self, address: Address, message_id: str, *, tx: Tx | None = None) -> Message:
        """Takes the message out of the story; its text stays until it is purged."""

        def delete(tx: Tx) -> Message:
            deleted = _set(self._core, tx, address, message_id, "deleted = 1")
            source_changed(self._core, tx, address, deleted.coordinate, "deleted")
            return deleted

        return self._core.write(delete, tx, "delete a message")

    def purge(self, address: Address, message_ids: Sequence[str], *, tx: Tx | None = None) -> int:
        """Blanks deleted messages and all their revisions for good, and gives their number; refuses live ones.

        Their words leave the index's files at the next maintenance.
        """

        def purge(tx: Tx) -> int:
            for message_id in message_ids:
                _purge(self._core, tx, address, message_id)
            return len(message_ids)

        return self._core.write(purge, tx, "purge messages")


def _live(tx: Tx, address: Address, message_id: str) -> Message:
    message = rows.by_id(tx, address, message_id)
    if message.deleted:
        raise NotFound(f"the message {message_id!r} has been deleted", where=address.session)
    return message


def _set(core: Core, tx: Tx, address: Address, message_id: str, flag: str) -> Message:
    message = _live(tx, address, message_id)
    tx.run(f"UPDATE message SET {flag} WHERE {_MINE}", (address.workspace, address.session, message_id))
    return _follow(core, tx, address, message)


def _purge(core: Core, tx: Tx, address: Address, message_id: str) -> None:
    if not rows.by_id(tx, address, message_id).deleted:
        raise Conflict(f"the message {message_id!r} is not deleted", where=address.session, cure="delete it first")
    key = (address.workspace, address.session, message_id)
    tx.run(f"UPDATE message SET text = '', caption = '', extra = '', speaker = '', time = NULL WHERE {_MINE}", key)
    tx.run("DELETE FROM message_text WHERE workspace = ? AND session = ? AND message = ?", key)
    part = core.index.part_for(tx, address.workspace, address.session, "")
    core.index.remove(tx, part, kind=Kind.MESSAGE, plugin="", namespace="", key=message_id, forget=True)


def _follow(core: Core, tx: Tx, address: Address, before: Message) -> Message:
    """Brings the index and the session's revision up to the message as it is now."""
    now = rows.by_id(tx, address, before.id)
    if is_indexed(before) or is_indexed(now):
        part = core.index.part_for(tx, address.workspace, address.session, "")
        core.index.remove(tx, part, kind=Kind.MESSAGE, plugin="", namespace="", key=before.id)
        if is_indexed(now):
            core.index.add(tx, part, message_passage(now))
    tx.run(
        "UPDATE session SET revision = revision + 1, updated = ? WHERE workspace = ? AND id = ?",
        (core.now(), address.workspace, address.session),
    )
    return now
