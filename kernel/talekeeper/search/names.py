"""Keys and digests of the few passages a query looks at closely; the rest are never read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from talekeeper.db import Tx
from talekeeper.search.damage import decoding
from talekeeper.search.shortlist import Place
from talekeeper.search.state import PartState

Name = tuple[str, int]
"""Key and digest."""
_AT_ONCE = 512
_NAMES = "SELECT doc, key, digest FROM doc WHERE part = ? AND doc IN ({})"


class Names:
    """Reads each passage's name once a query."""

    def __init__(self, tx: Tx, states: Sequence[PartState]) -> None:
        self._tx = tx
        self._states = states
        self._known: dict[Place, Name] = {}

    @decoding()
    def of(self, places: Sequence[Place]) -> Mapping[Place, Name]:
        """The names of these places, and of those asked for earlier."""
        unknown = [place for place in places if place not in self._known]
        for number in sorted({number for number, _ in unknown}):
            self._read(number, [position for one, position in unknown if one == number])
        if not self._known.keys() >= {*unknown}:
            raise LookupError("a passage has no name")
        return self._known

    def keys(self, places: Sequence[Place]) -> Mapping[Place, str]:
        """The key of each place."""
        names = self.of(places)
        return {place: names[place][0] for place in places}

    def _read(self, number: int, positions: Sequence[int]) -> None:
        state = self._states[number]
        position_of = dict(zip(state.columns.doc.take(positions).tolist(), positions, strict=True))
        docs = list(position_of)
        for start in range(0, len(docs), _AT_ONCE):
            some = docs[start : start + _AT_ONCE]
            room = _room(len(some))
            asked = [state.row.id, *some, *some[-1:] * (room - len(some))]
            for doc, key, digest in self._tx.rows(_statement(room), asked):
                self._known[number, position_of[doc]] = key, digest


def _room(size: int) -> int:
    """A power of two: with lists of few lengths SQLite prepares few statements."""
    return 1 << (size - 1).bit_length()


@cache
def _statement(room: int) -> str:
    return _NAMES.format(", ".join("?" * room))
