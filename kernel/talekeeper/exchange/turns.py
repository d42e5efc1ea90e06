"""Turn numbers for conversations in which nobody is the player.

Story numbers a message without a turn by its role: a player opens one. Where no player speaks in a whole session, every
message is a turn of its own, from 1. Which it is has to be known at a session's first message, so the file is read
ahead from there: to the next player in most files, to its end where a session has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

from talekeeper.errors import ImportFileError
from talekeeper.exchange.entry import Entry


class Turns:
    """Counts the messages of a file: the place in the session is the turn, so that reading again gives it again.

    `ahead` gives the entries of the file anew. It reads from `stream`, as whoever asks for turns does; each finds the
    stream where it left it.
    """

    def __init__(self, stream: BinaryIO, ahead: Iterator[Entry]) -> None:
        self._stream = stream
        self._ahead = ahead
        self._reached = 0
        self._with_players: set[str | None] = set()
        self._places: Counter[str | None] = Counter()

    @property
    def anybody_plays(self) -> bool:
        """Whether a player was met: at the end of the file, whether there is one in it."""
        return bool(self._with_players)

    def of(self, entry: Entry) -> int | None:
        """The turn where the file gives none and nobody is the player; None where story is to number."""
        session = entry.session
        if session not in self._with_players and session not in self._places:
            self._look_for_a_player(session)
        if session in self._with_players:
            return None
        self._places[session] += 1
        return self._places[session] if entry.draft.turn is None else None

    def _look_for_a_player(self, session: str | None) -> None:
        """A line that cannot be read ends the looking; the import itself will stop there and say so."""
        here = self._stream.tell()
        self._stream.seek(self._reached)
        with suppress(ImportFileError):
            for entry in self._ahead:
                if entry.draft.role == "player":
                    self._with_players.add(entry.session)
                    if entry.session == session:
                        break
        self._reached = self._stream.tell()
        self._stream.seek(here)
