"""How much of the story a prompt shows: the newest messages for which there is room."""

from __future__ import annotations

from dataclasses import dataclass

from talekeeper.db import Tx
from talekeeper.story import Address, Coordinate, Message, Story
from talekeeper.text import estimate_tokens
from talekeeper.turn.limits import MESSAGE_TOKENS

_FIRST_PAGE = 32
_SHOWN = frozenset({"player", "narrator"})


@dataclass(frozen=True, slots=True)
class History:
    """The messages shown, oldest first. `since` is the first turn shown whole, 0 when nothing is left out."""

    messages: tuple[Message, ...]
    since: int
    tokens: int


def cost(message: Message) -> int:
    """Tokens a message takes, as estimated; the speaker's name may be shown with it."""
    name = f"{message.speaker}: " if message.speaker else ""
    return estimate_tokens(name + message.text) + MESSAGE_TOKENS


def history(story: Story, address: Address, at: Coordinate, room: int) -> History:
    """Player's and narrator's messages up to `at`, newest first while `room` tokens last; the newest in any case.

    Hidden, blank and deleted messages are not there. Reads as many as it shows, and at most as many again.
    """
    return story.read(lambda tx: _history(story, address, at, room, tx))


def _history(story: Story, address: Address, at: Coordinate, room: int, tx: Tx) -> History:
    count = _FIRST_PAGE
    while True:
        page = story.messages(address, last=count, at=at, hidden=False, tx=tx)
        told = [message for message in page if message.role in _SHOWN and message.text.strip()]
        shown, tokens = _newest(told, room)
        if len(shown) < len(told) or len(page) < count:
            return History(tuple(shown), _since(told, len(told) - len(shown)), tokens)
        count *= 2


def _newest(told: list[Message], room: int) -> tuple[list[Message], int]:
    used = 0
    for number, message in enumerate(reversed(told)):
        needed = cost(message)
        if number and used + needed > room:
            return told[len(told) - number :], used
        used += needed
    return told, used


def _since(told: list[Message], left_out: int) -> int:
    if not left_out:
        return 0
    turn = told[left_out].turn
    return turn + 1 if told[left_out - 1].turn == turn else turn
