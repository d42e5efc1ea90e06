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

    Hidden, blank and deleted messages are not there. Reads at most twice as many as it shows.
    """
    return story.read(lambda tx: _history(story, address, at, room, tx))


def _history(story: Story, address: Address, at: Coordinate, room: int, tx: Tx) -> History:
    shown: list[Message] = []  # newest first
    used, last, count = 0, at.depth, _FIRST_PAGE
    while last >= 0:
        first = max(0, last - count + 1)
        page = story.messages(address, depths=(first, last), at=at, hidden=False, tx=tx)
        for message in reversed(page):
            if message.role not in _SHOWN or not message.text.strip():
                continue
            needed = cost(message)
            if shown and used + needed > room:
                return History(tuple(reversed(shown)), _since(shown[-1], message), used)
            shown.append(message)
            used += needed
        last, count = first - 1, count * 2
    return History(tuple(reversed(shown)), 0, used)


def _since(oldest: Message, left_out: Message) -> int:
    return oldest.turn + 1 if left_out.turn == oldest.turn else oldest.turn
