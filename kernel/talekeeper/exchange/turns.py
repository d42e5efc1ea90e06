"""Turn numbers for conversations in which nobody is the player.

Story numbers a message without a turn by its role: a player opens one. Where no player speaks in a whole session, every
message is a turn of its own, from 1; that is known only at the end of the file, so a first pass looks for players.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from talekeeper.errors import ImportFileError
from talekeeper.exchange.entry import Entry


def sessions_with_players(entries: Iterable[Entry]) -> frozenset[str | None]:
    """The sessions in which a player speaks.

    A line that cannot be read ends the pass; the import itself will stop there and say so.
    """
    found: set[str | None] = set()
    with suppress(ImportFileError):
        found.update(entry.session for entry in entries if entry.draft.role == "player")
    return frozenset(found)


class Turns:
    """Counts the messages of a file: the place in the session is the turn, so that reading again gives it again."""

    def __init__(self, with_players: frozenset[str | None]) -> None:
        self._with_players = with_players
        self._places: Counter[str | None] = Counter()

    def of(self, entry: Entry) -> int | None:
        """The turn where the file gives none and nobody is the player; None where story is to number."""
        if entry.session in self._with_players:
            return None
        self._places[entry.session] += 1
        return self._places[entry.session] if entry.draft.turn is None else None
