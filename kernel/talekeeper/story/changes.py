"""Changing a message where it stands: its text, whether it is shown, whether it still counts."""

from __future__ import annotations

from collections.abc import Sequence

from talekeeper.db import Tx
from talekeeper.errors import Conflict, NotFound
from talekeeper.search import Kind
from talekeeper.story.core import Core
from talekeeper.story.derived import source_changed
from talekeeper.story.messages import by_id
from talekeeper.story.passages import is_indexed, message_passage
from talekeeper.story.views import Address, Message

_MINE = "workspace = ? AND session = ? AND id = ?"


def edit(core: Core, tx: Tx, address: Address, message_id: str, text: str) -> Message:
    """Gives the message a new text and keeps the old one as a revision; the same text again changes nothing."""
    message = _live(tx, address, message_id)
    if message.text == text:
        return message
    key = (address.workspace, address.session, message_id)
    tx.run(
        "INSERT INTO message_text(workspace, session, message, revision, text, written) "
        f"SELECT workspace, session, id, revision, text, written FROM message WHERE {_MINE}",
        key,
    )
    tx.run(f"UPDATE message SET text = ?, revision = revision + 1, written = ? WHERE {_MINE}", (text, core.now(), *key))
    edited = _changed(core, tx, address, message)
    source_changed(core, tx, address, message.coordinate, "edited")
    return edited


def hide(core: Core, tx: Tx, address: Address, message_id: str, *, hidden: bool) -> Message:
    """Takes the message out of prompts and search, or back in; the story keeps it."""
    message = _live(tx, address, message_id)
    tx.run(f"UPDATE message SET hidden = ? WHERE {_MINE}", (hidden, address.workspace, address.session, message_id))
    return _changed(core, tx, address, message)


def delete(core: Core, tx: Tx, address: Address, message_id: str) -> Message:
    """Takes the message out of the story; its row and text stay until they are purged."""
    message = _live(tx, address, message_id)
    tx.run(f"UPDATE message SET deleted = 1 WHERE {_MINE}", (address.workspace, address.session, message_id))
    deleted = _changed(core, tx, address, message)
    source_changed(core, tx, address, message.coordinate, "deleted")
    return deleted


def purge(core: Core, tx: Tx, address: Address, message_ids: Sequence[str]) -> int:
    """Blanks deleted messages for good, all revisions of them, and gives their number; live ones are refused."""
    for message_id in message_ids:
        if not by_id(tx, address, message_id).deleted:
            raise Conflict(f"the message {message_id!r} is not deleted", where=address.session, cure="delete it first")
        key = (address.workspace, address.session, message_id)
        tx.run(f"UPDATE message SET text = '', caption = '', extra = '', speaker = '', time = NULL WHERE {_MINE}", key)
        tx.run("DELETE FROM message_text WHERE workspace = ? AND session = ? AND message = ?", key)
        part = core.index.part_for(tx, address.workspace, address.session, "")
        core.index.remove(tx, part, kind=Kind.MESSAGE, plugin="", namespace="", key=message_id, forget=True)
    return len(message_ids)


def _live(tx: Tx, address: Address, message_id: str) -> Message:
    message = by_id(tx, address, message_id)
    if message.deleted:
        raise NotFound(f"the message {message_id!r} has been deleted", where=address.session)
    return message


def _changed(core: Core, tx: Tx, address: Address, before: Message) -> Message:
    """Brings index and session revision to the message as it is now."""
    now = by_id(tx, address, before.id)
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
