"""Moving about in a session's tree: no message changes here, and you can return to every place you leave."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from talekeeper.db import Tx
from talekeeper.errors import Conflict, NotFound
from talekeeper.story.checks import check_name
from talekeeper.story.core import Core
from talekeeper.story.messages import rows
from talekeeper.story.messages.append import Growth
from talekeeper.story.messages.lineage import anchor, fork_of, keep, upto
from talekeeper.story.views import Address, Branch, Coordinate, Message, Session, Take

_TURN = 8  # messages looked at first to find where the newest turn began; doubled while it reaches further


class Tree:
    """The branches of every session, and its head among them. Left-out coordinates are the session's head."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def undo(self, address: Address, *, tx: Tx | None = None) -> Session:
        """Moves the head back over the newest turn; raises `NotFound` when there is none."""

        def undo(tx: Tx) -> Session:
            turn = self.newest_turn(address, tx=tx)
            if not turn:
                raise NotFound("there is nothing to undo", where=address.session)
            return _leave_tip(self._core, tx, address, _above(tx, address, turn[0]))

        return self._core.write(undo, tx, "undo a turn")

    def redo(self, address: Address, *, tx: Tx | None = None) -> Session:
        """Goes to the tip last left by undo or retry; raises `NotFound` when the story went on or none was left."""

        def redo(tx: Tx) -> Session:
            tip = rows.redo_tip(tx, address)
            if tip is None:
                raise NotFound("there is nothing to redo", where=address.session)
            return _move(self._core, tx, address, tip)

        return self._core.write(redo, tx, "redo")

    def retry(self, address: Address, *, tx: Tx | None = None) -> Session:
        """Moves the head to where the newest turn is answered from: what is appended next is another take of it."""

        def retry(tx: Tx) -> Session:
            turn = self.newest_turn(address, tx=tx)
            if not turn:
                raise NotFound("there is no turn to retry", where=address.session)
            return _leave_tip(self._core, tx, address, _question_at(tx, address, turn))

        return self._core.write(retry, tx, "retry a turn")

    def takes(self, address: Address, *, tx: Tx | None = None) -> list[Take]:
        """The answers to the newest turn, oldest first; none is `current` while the turn waits for its answer."""

        def takes(tx: Tx) -> list[Take]:
            turn = self.newest_turn(address, tx=tx)
            if not turn:
                return []
            question = _question_at(tx, address, turn)
            number = turn[-1].turn
            firsts = [first for first, turn in _children(tx, address, question) if turn == number]
            current = {message.coordinate for message in turn}
            return [
                Take(place, first, _turn_end(tx, address, first, number), first in current)
                for place, first in enumerate(firsts, start=1)
            ]

        return self._core.read(takes, tx)

    def switch_take(self, address: Address, number: int, *, tx: Tx | None = None) -> Session:
        """Moves the head to the end of a take of the newest turn, counted from 1; raises `NotFound`."""

        def switch(tx: Tx) -> Session:
            known = self.takes(address, tx=tx)
            for take in known:
                if take.number == number:
                    return _move(self._core, tx, address, take.tip)
            cure = f"it has {len(known) or 'none'}"
            raise NotFound(f"there is no take {number} of this turn", where=address.session, cure=cure)

        return self._core.write(switch, tx, "switch the take")

    def fork(self, address: Address, at: Coordinate | None = None, *, name: str = "", tx: Tx | None = None) -> Session:
        """Starts a branch at a coordinate and moves there; a name makes it a checkpoint, unique in the session."""

        def fork(tx: Tx) -> Session:
            session = rows.session(tx, address)
            check_name(name, "name", empty=True)
            if name and any(branch.name == name for branch in _branches(tx, address)):
                raise Conflict(
                    f"there is already a checkpoint {name!r}", where=address.session, cure="choose another name"
                )
            start = anchor(tx, address, session.head if at is None else at)
            grown = Growth(self._core, tx, session)
            made = grown.branch(start, name)
            grown.finish(None)
            return _move(self._core, tx, address, Coordinate(made, start.depth))

        return self._core.write(fork, tx, "fork")

    def go(self, address: Address, to: Coordinate, *, tx: Tx | None = None) -> Session:
        """Moves the head to any place that exists; raises `NotFound` for one that does not."""

        def go(tx: Tx) -> Session:
            rows.session(tx, address)
            anchor(tx, address, to)
            return _move(self._core, tx, address, to)

        return self._core.write(go, tx, "move in the tree")

    def branches(self, address: Address, *, tx: Tx | None = None) -> list[Branch]:
        """All of the session, oldest first."""
        return self._core.read(lambda tx: _branches(tx, address), tx)

    def newest_turn(self, address: Address, *, tx: Tx | None = None) -> list[Message]:
        """The messages of the turn that ends at the head, in story order; empty before the first."""
        return self._core.read(lambda tx: _newest_turn(tx, rows.session(tx, address)), tx)

    def lineage(self, address: Address, at: Coordinate | None = None, *, tx: Tx | None = None) -> dict[int, int]:
        """Branch → deepest depth that lies on the lineage: what a search's `PartScope.upto` takes."""
        return self._core.read(lambda tx: upto(tx, address, at), tx)

    def on_lineage(
        self, address: Address, place: Coordinate, *, at: Coordinate | None = None, tx: Tx | None = None
    ) -> bool:
        """Whether a place lies on the lineage of `at`."""
        return place.depth <= self.lineage(address, at, tx=tx).get(place.branch, -2)


def _branches(tx: Tx, address: Address) -> list[Branch]:
    found = tx.rows(
        "SELECT b.id, b.parent, b.fork_depth, b.name, b.created, coalesce((SELECT max(m.depth) FROM message m "
        "WHERE m.workspace = b.workspace AND m.session = b.session AND m.branch = b.id), b.fork_depth) "
        "FROM branch b WHERE b.workspace = ? AND b.session = ? ORDER BY b.id",
        (address.workspace, address.session),
    )
    return [
        Branch(id=row[0], fork=Coordinate(row[1], row[2]), tip=row[5], name=row[3], created=row[4]) for row in found
    ]


def _newest_turn(tx: Tx, session: Session) -> list[Message]:
    count = _TURN
    while True:
        found = rows.newest(tx, session.address, session.head, count, kept=True)
        turns = [list(messages) for _, messages in groupby(found, attrgetter("turn"))]
        turn = turns[-1] if turns else []
        if len(turn) < len(found) or len(found) < count:
            return turn
        count *= 2


def _question_at(tx: Tx, address: Address, turn: Sequence[Message]) -> Coordinate:
    """The turn's last player message, or where the turn began when it has none."""
    for message in reversed(turn):
        if message.role == "player":
            return message.coordinate
    return _above(tx, address, turn[0])


def _above(tx: Tx, address: Address, message: Message) -> Coordinate:
    at = message.coordinate
    fork = fork_of(tx, address, at.branch)
    return fork if at.depth - 1 == fork.depth else Coordinate(at.branch, at.depth - 1)


def _children(tx: Tx, address: Address, at: Coordinate) -> list[tuple[Coordinate, int]]:
    """The places right below one, and their turns."""
    place, below = (address.workspace, address.session), at.depth + 1
    found = tx.rows(
        "SELECT m.branch, m.turn FROM message m WHERE m.workspace = ? AND m.session = ? AND m.depth = ? "
        "AND m.deleted = 0 AND m.branch = ? UNION ALL SELECT m.branch, m.turn FROM branch b JOIN message m "
        "ON m.workspace = b.workspace AND m.session = b.session AND m.branch = b.id AND m.depth = ? AND m.deleted = 0 "
        "WHERE b.workspace = ? AND b.session = ? AND b.parent = ? AND b.fork_depth = ? AND b.id > 0 ORDER BY 1",
        (*place, below, at.branch, below, *place, at.branch, at.depth),
    )
    return [(Coordinate(branch, below), turn) for branch, turn in found]


def _turn_end(tx: Tx, address: Address, first: Coordinate, turn: int) -> Coordinate:
    """The last message of the turn on the branch it begins on here."""
    row = tx.one(
        "SELECT min(CASE WHEN turn <> ? THEN depth END), max(depth) FROM message "
        "WHERE workspace = ? AND session = ? AND branch = ? AND depth >= ?",
        (turn, address.workspace, address.session, first.branch, first.depth),
    )
    if row is None or row[1] is None:
        return first
    return Coordinate(first.branch, row[1] if row[0] is None else row[0] - 1)


def _leave_tip(core: Core, tx: Tx, address: Address, to: Coordinate) -> Session:
    """Moves back and remembers the tip: several steps back are one way to redo."""
    tip = rows.redo_tip(tx, address) or rows.session(tx, address).head
    return _move(core, tx, address, to, tip if tip != to else None)


def _move(core: Core, tx: Tx, address: Address, to: Coordinate, tip: Coordinate | None = None) -> Session:
    keep(tx, address, to)
    return rows.update(
        core,
        tx,
        address,
        head_branch=to.branch,
        head_depth=to.depth,
        redo_branch=None if tip is None else tip.branch,
        redo_depth=None if tip is None else tip.depth,
    )
