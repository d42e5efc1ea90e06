"""Where a turn begins: the player's message appended, or the one that still waits for its answer."""

from __future__ import annotations

from dataclasses import dataclass

from talekeeper.db import Tx
from talekeeper.errors import NotFound
from talekeeper.story import Address, Coordinate, Draft, Message, Session, Story


@dataclass(frozen=True, slots=True)
class Accepted:
    """A turn to be told. `at` is what it is answered under; `session` is as it stood after the message was appended.

    `before` are messages the player sent in this turn before `player`, unanswered.
    """

    session: Session
    at: Coordinate
    number: int
    player: Message | None
    before: tuple[Message, ...] = ()
    resumed: bool = False
    anew: bool = False


def accept(story: Story, address: Address, draft: Draft | None, *, tx: Tx | None = None) -> Accepted:
    """Appends the message, unless it waits at the head already; a message beside one that waits joins its turn."""
    if tx is not None:
        return _accept(story, address, draft, tx)
    return story.write(lambda tx: _accept(story, address, draft, tx), name="accept a message")


def anew(story: Story, address: Address) -> Accepted:
    """The newest turn once more; raises `NotFound` when there is none."""
    return story.read(lambda tx: _anew(story, address, tx))


def asked(story: Story, address: Address, text: str) -> Accepted:
    """A turn that nobody has sent: what the player's message would be, at the head."""
    session = story.session(address)
    newest = story.newest_turn(address)
    number = newest[-1].turn + (0 if _waiting(newest) else 1) if newest else 1
    unsent = Message(
        id="",
        coordinate=session.head,
        seq=session.messages,
        ref=None,
        turn=number,
        role="player",
        kind="",
        speaker="",
        text=text,
        time=None,
        origin="typed",
        caption="",
        extra="",
        created="",
        revision=0,
        hidden=False,
        deleted=False,
    )
    return Accepted(session, session.head, number, unsent)


def _accept(story: Story, address: Address, draft: Draft | None, tx: Tx) -> Accepted:
    waiting = _waiting(story.newest_turn(address, tx=tx))
    if draft is None or (waiting and waiting[-1].text == draft.text):
        return _go_on(story, address, waiting, tx)
    if waiting:
        draft = Draft(
            draft.role, draft.text, speaker=draft.speaker, kind=draft.kind, turn=waiting[-1].turn, origin=draft.origin
        )
    (message,) = story.append(address, [draft], tx=tx)
    session = story.session(address, tx=tx)
    return Accepted(session, message.coordinate, message.turn, message, tuple(waiting))


def _go_on(story: Story, address: Address, waiting: list[Message], tx: Tx) -> Accepted:
    session = story.session(address, tx=tx)
    if waiting:
        player = waiting[-1]
        return Accepted(session, player.coordinate, player.turn, player, tuple(waiting[:-1]), resumed=True)
    newest = story.newest_turn(address, tx=tx)
    number = newest[-1].turn + 1 if newest else 0
    return Accepted(session, session.head, number, None)


def _anew(story: Story, address: Address, tx: Tx) -> Accepted:
    newest = story.newest_turn(address, tx=tx)
    if not newest:
        raise NotFound("there is no turn to retry", where=address.session)
    session = story.session(address, tx=tx)
    places = [place for place, message in enumerate(newest) if message.role == "player"]
    if not places:
        first = newest[0].coordinate
        return Accepted(session, Coordinate(first.branch, first.depth - 1), newest[0].turn, None, anew=True)
    player = newest[places[-1]]
    before = tuple(message for message in newest[: places[-1]] if message.role == "player")
    return Accepted(session, player.coordinate, player.turn, player, before, anew=True)


def _waiting(newest: list[Message]) -> list[Message]:
    """The player's messages at the end of the newest turn, which nobody has answered."""
    start = len(newest)
    while start and newest[start - 1].role == "player":
        start -= 1
    return newest[start:]
