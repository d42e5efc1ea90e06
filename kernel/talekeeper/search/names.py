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

    @decoding
    def of(self, places: Sequence[Place]) -> Mapping[Place, Name]:
        """The names of these places, each given once, and of those asked for earlier."""
        for number in range(len(self._states)):
            unknown = [place for place in places if place[0] == number and place not in self._known]
            if unknown:
                self._read(self._states[number], unknown)
        return self._known

    def keys(self, places: Sequence[Place]) -> Mapping[Place, str]:
        """The key of each place."""
        names = self.of(places)
        return {place: names[place][0] for place in places}

    def _read(self, state: PartState, places: Sequence[Place]) -> None:
        place_of = {state.columns.doc.item(place[1]): place for place in places}
        docs = list(place_of)
        known = len(self._known)
        for start in range(0, len(docs), _AT_ONCE):
            some = docs[start : start + _AT_ONCE]
            for doc, key, digest in self._tx.rows(_statement(len(some)), [state.row.id, *_filled(some)]):
                self._known[place_of[doc]] = key, digest
        if len(self._known) < known + len(places):
            raise LookupError("a passage has no name")


def _room(size: int) -> int:
    """A power of two: with lists of few lengths SQLite prepares few statements."""
    return 1 << (size - 1).bit_length()


def _filled(docs: list[int]) -> list[int]:
    """The same numbers, as many as there is room for."""
    return docs + docs[-1:] * (_room(len(docs)) - len(docs))


@cache
def _statement(size: int) -> str:
    return _NAMES.format(", ".join("?" * _room(size)))
