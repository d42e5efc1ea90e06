"""The front of the store: sessions and their trees; `records`, `jobs`, `told` and `vectors` hang on it.

Every method takes part in the caller's transaction when `tx` is given, and opens one of its own otherwise. Coordinates
that are left out are the session's head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from talekeeper.clock import Clock
from talekeeper.db import Database, Tx, dumps
from talekeeper.errors import ParameterError
from talekeeper.ids import Ids
from talekeeper.story import (
    append,
    changes,
    coverage,
    deletion,
    lineage,
    messages,
    sessions,
    tree,
)
from talekeeper.story.core import Core
from talekeeper.story.counting import counted
from talekeeper.story.jobs import Jobs
from talekeeper.story.names import check_line, check_name
from talekeeper.story.passages import message_texts
from talekeeper.story.records import Records
from talekeeper.story.tended import Tended
from talekeeper.story.turn_log import TurnLog
from talekeeper.story.vectors import Vectors
from talekeeper.story.views import (
    Address,
    Branch,
    Coordinate,
    Draft,
    Message,
    Session,
    Take,
    TextRevision,
    Workspace,
)
from talekeeper.text import check_text

if TYPE_CHECKING:
    from talekeeper.search import Index

T = TypeVar("T")

_BATCH = 500


class Story(Tended):
    """Everything kept about workspaces, in one database; threads may share it."""

    def __init__(self, db: Database, index: Index, clock: Clock, ids: Ids) -> None:
        super().__init__(Core(db, index, clock, ids))
        self.records = Records(self._core)
        self.jobs = Jobs(self._core)
        self.turn_log = TurnLog(self._core)
        self.vectors = Vectors(self._core)

    def write(self, fn: Callable[[Tx], T], *, name: str) -> T:
        """One transaction for several calls, each given its `tx`."""
        return self._core.db.write(fn, name=name)

    def read(self, fn: Callable[[Tx], T]) -> T:
        """One snapshot for several calls, each given its `tx`."""
        return self._core.db.read(fn)

    # Workspaces and sessions

    def create_workspace(self, workspace: str, *, title: str = "", tx: Tx | None = None) -> Workspace:
        """Makes the workspace, or finds it as it is."""
        return self._core.write(
            lambda tx: sessions.create_workspace(self._core, tx, workspace, title), tx, "make a workspace"
        )

    def workspaces(self, *, tx: Tx | None = None) -> list[Workspace]:
        """All of the home, by name."""
        return self._core.read(sessions.workspaces, tx)

    def rename_workspace(self, workspace: str, title: str, *, tx: Tx | None = None) -> None:
        """Changes the title; the name is a folder's and stays."""
        self._core.write(lambda tx: sessions.rename_workspace(tx, workspace, title), tx, "rename a workspace")

    def delete_workspace(self, workspace: str) -> None:
        """Deletes the workspace with all that is in it. Interrupted, `maintain` goes on with it."""
        self._core.db.write(lambda tx: deletion.delete_workspace(self._core, tx, workspace), name="delete a workspace")
        self.maintain()

    def create_session(
        self,
        workspace: str,
        *,
        session_id: str | None = None,
        title: str = "",
        preset: str = "",
        channel: str = "local",
        locale: str = "en",
        plugins: Sequence[str] = (),
        tx: Tx | None = None,
    ) -> Session:
        """Makes an empty session and, when it is new, its workspace; raises `Conflict` when the id is taken."""
        address = Address(workspace, self._core.ids.new() if session_id is None else session_id)
        return self._core.write(
            lambda tx: sessions.create_session(
                self._core,
                tx,
                address,
                title=title,
                preset=preset,
                channel=channel,
                locale=locale,
                plugins=plugins,
            ),
            tx,
            "make a session",
        )

    def session(self, address: Address, *, tx: Tx | None = None) -> Session:
        """Raises `NotFound`."""
        return self._core.read(lambda tx: sessions.session(tx, address), tx)

    def sessions(self, workspace: str, *, tx: Tx | None = None) -> list[Session]:
        """All of a workspace, the one used last first."""
        return self._core.read(lambda tx: sessions.sessions(tx, workspace), tx)

    def rename_session(self, address: Address, title: str, *, tx: Tx | None = None) -> Session:
        """Changes the title; the id stays."""
        line = check_line(title, "title")
        return self._core.write(lambda tx: sessions.update(self._core, tx, address, title=line), tx, "rename a session")

    def configure_session(
        self,
        address: Address,
        *,
        preset: str | None = None,
        locale: str | None = None,
        plugins: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        tx: Tx | None = None,
    ) -> Session:
        """Sets what is given and leaves the rest; `settings` replaces the whole of them."""
        given = {
            "preset": None if preset is None else check_name(preset, "preset", empty=True),
            "locale": None if locale is None else check_name(locale, "locale"),
            "plugins": None if plugins is None else dumps(list(plugins), "plugins"),
            "settings": None if settings is None else dumps(settings, "settings"),
        }
        columns = {name: value for name, value in given.items() if value is not None}
        return self._core.write(
            lambda tx: sessions.update(self._core, tx, address, **columns), tx, "configure a session"
        )

    def delete_session(self, address: Address) -> None:
        """Deletes the session with all that is in it. Interrupted, `maintain` goes on with it."""
        self._core.db.write(lambda tx: deletion.delete_session(self._core, tx, address), name="delete a session")
        self.maintain()

    def unfinished(self) -> list[str]:
        """Workspaces with a session that an import has begun and not completed; it may be at work."""
        return self._core.db.read(
            lambda tx: [one.id for one in sessions.workspaces(tx) if deletion.unfinished(tx, one.id)]
        )

    def take_away_unfinished(self, workspace: str) -> None:
        """Deletes what such imports left; whoever calls this has made sure that none is at work."""
        if workspace in self.unfinished():
            self._core.db.write(
                lambda tx: deletion.take_away(self._core, tx, workspace), name="take away an unfinished session"
            )
        self.maintain()

    # Adding messages

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
        """Adds messages under a coordinate: at the head while it stands there, else as a take, and the head stays."""
        prepared = append.prepare(drafts)
        return self._core.write(
            lambda tx: append.answer(self._core, tx, address, under, prepared), tx, "append an answer"
        )

    # Moving about

    def undo(self, address: Address, *, tx: Tx | None = None) -> Session:
        """Moves the head back over the newest turn; raises `NotFound` when there is none."""
        return self._core.write(lambda tx: tree.undo(self._core, tx, address), tx, "undo a turn")

    def redo(self, address: Address, *, tx: Tx | None = None) -> Session:
        """Goes to the tip last left by undo or retry; raises `NotFound` when there is none."""
        return self._core.write(lambda tx: tree.redo(self._core, tx, address), tx, "redo")

    def retry(self, address: Address, *, tx: Tx | None = None) -> Session:
        """Moves the head to where the newest turn is answered from: what is appended next is another take of it."""
        return self._core.write(lambda tx: tree.retry(self._core, tx, address), tx, "retry a turn")

    def takes(self, address: Address, *, tx: Tx | None = None) -> list[Take]:
        """The answers to the newest turn, oldest first."""
        return self._core.read(lambda tx: tree.takes(tx, address), tx)

    def switch_take(self, address: Address, number: int, *, tx: Tx | None = None) -> Session:
        """Moves the head to the end of a take of the newest turn, counted from 1."""
        return self._core.write(lambda tx: tree.switch_take(self._core, tx, address, number), tx, "switch the take")

    def fork(self, address: Address, at: Coordinate | None = None, *, name: str = "", tx: Tx | None = None) -> Session:
        """Starts a branch at a coordinate and moves there; a name makes it a checkpoint, unique in the session."""
        return self._core.write(lambda tx: tree.fork(self._core, tx, address, at, name), tx, "fork")

    def go(self, address: Address, to: Coordinate, *, tx: Tx | None = None) -> Session:
        """Moves the head to any place that exists; raises `NotFound` for one that does not."""
        return self._core.write(lambda tx: tree.go(self._core, tx, address, to), tx, "move in the tree")

    def branches(self, address: Address, *, tx: Tx | None = None) -> list[Branch]:
        """All of the session, oldest first."""
        return self._core.read(lambda tx: tree.branches(tx, address), tx)

    def newest_turn(self, address: Address, *, tx: Tx | None = None) -> list[Message]:
        """The messages of the newest turn, in story order; empty before the first."""
        return self._core.read(lambda tx: tree.newest_turn(tx, address), tx)

    # Changing messages

    def edit(self, address: Address, message_id: str, text: str, *, tx: Tx | None = None) -> Message:
        """Gives the message a new text; `texts` keeps the old one, and what was derived from it is followed up."""
        check_text(text, "text")
        with counted(() if tx is not None else self._texts(address, message_id, text)):
            return self._core.write(
                lambda tx: changes.edit(self._core, tx, address, message_id, text), tx, "edit a message"
            )

    def hide(self, address: Address, message_id: str, *, tx: Tx | None = None) -> Message:
        """Takes the message out of prompts and search; the story keeps it."""
        return self._core.write(
            lambda tx: changes.hide(self._core, tx, address, message_id, hidden=True), tx, "hide a message"
        )

    def unhide(self, address: Address, message_id: str, *, tx: Tx | None = None) -> Message:
        """Puts a hidden message back."""
        with counted(() if tx is not None else self._texts(address, message_id)):
            return self._core.write(
                lambda tx: changes.hide(self._core, tx, address, message_id, hidden=False), tx, "unhide a message"
            )

    def delete(self, address: Address, message_id: str, *, tx: Tx | None = None) -> Message:
        """Takes the message out of the story; its text stays until it is purged."""
        return self._core.write(lambda tx: changes.delete(self._core, tx, address, message_id), tx, "delete a message")

    def purge(self, address: Address, message_ids: Sequence[str], *, tx: Tx | None = None) -> int:
        """Blanks deleted messages for good; their words leave the index's files at the next maintenance."""
        return self._core.write(lambda tx: changes.purge(self._core, tx, address, message_ids), tx, "purge messages")

    # Reading messages

    def messages(
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

        def read(tx: Tx) -> list[Message]:
            if turns is not None:
                return messages.of_turns(tx, address, at, turns, where)
            if last is not None:
                end = sessions.session(tx, address).head if at is None else at
                return messages.newest(tx, address, end, last, where, kept=at is None)
            first, deepest = (0, messages.NO_LIMIT) if depths is None else depths
            return messages.between(tx, address, at, first, deepest, where)

        return self._core.read(read, tx)

    def message(self, address: Address, message_id: str, *, tx: Tx | None = None) -> Message:
        """On whatever branch, deleted or not; raises `NotFound`."""
        return self._core.read(lambda tx: messages.by_id(tx, address, message_id), tx)

    def outline(self, address: Address, *, tx: Tx | None = None) -> list[tuple[int, str, Coordinate]]:
        """Turn, role and place of every message of the story as it stands, in order, without the texts."""
        return self._core.read(lambda tx: messages.outline(tx, address), tx)

    def messages_by_id(self, address: Address, ids: Sequence[str], *, tx: Tx | None = None) -> dict[str, Message]:
        """Those of the ids that exist."""
        return self._core.read(lambda tx: messages.by_ids(tx, address, ids), tx)

    def messages_by_ref(self, address: Address, refs: Sequence[str], *, tx: Tx | None = None) -> dict[str, Message]:
        """Those that were imported under one of these ids, deleted ones too."""
        return self._core.read(lambda tx: messages.by_refs(tx, address, refs), tx)

    def message_at(self, address: Address, at: Coordinate, *, tx: Tx | None = None) -> Message | None:
        """The message standing exactly there, deleted or not."""
        return self._core.read(lambda tx: messages.at_place(tx, address, at), tx)

    def on_lineage(
        self, address: Address, place: Coordinate, *, at: Coordinate | None = None, tx: Tx | None = None
    ) -> bool:
        """Whether a place lies on the lineage of `at`."""
        reach = self.lineage(address, at, tx=tx)
        return place.depth <= reach.get(place.branch, -2)

    def all_messages(self, address: Address) -> Iterator[Message]:
        """Every message of every branch, deleted ones too, in the order appended; each batch has its own snapshot."""
        after = -1
        while batch := self._core.db.read(partial(messages.appended_after, address=address, seq=after, limit=_BATCH)):
            yield from batch
            after = batch[-1].seq

    def texts(self, address: Address, message_id: str, *, tx: Tx | None = None) -> list[TextRevision]:
        """Every text the message has had, oldest first, the present one last."""
        return self._core.read(lambda tx: messages.texts(tx, address, message_id), tx)

    def speakers(self, address: Address, *, at: Coordinate | None = None, tx: Tx | None = None) -> list[str]:
        """Every name a message of the lineage was spoken under, in order of first appearance."""
        return self._core.read(lambda tx: messages.speakers(tx, address, at), tx)

    def story_messages(
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
        return self._core.read(lambda tx: coverage.story_messages(tx, address, at, first, last, hidden=hidden), tx)

    def count_story(self, address: Address, *, at: Coordinate | None = None, tx: Tx | None = None) -> int:
        """How many story messages the lineage has."""
        return self._core.read(lambda tx: coverage.count_story(tx, address, at), tx)

    def lineage(self, address: Address, at: Coordinate | None = None, *, tx: Tx | None = None) -> dict[int, int]:
        """Branch → deepest depth that lies on the lineage: what a search's `PartScope.upto` takes."""
        return self._core.read(lambda tx: lineage.upto(tx, address, at), tx)

    def _texts(self, address: Address, message_id: str, text: str | None = None) -> tuple[str, ...]:
        """What will be counted of the message as it is, or with another text."""
        message = self.message(address, message_id)
        return message_texts(message if text is None else replace(message, text=text))
