"""Keys and digests of the few passages a query looks at closely; the rest are never read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from talekeeper.db import Tx
from talekeeper.search.damage import decoding
from talekeeper.search.shortlist import Place
from talekeeper.search.state import PartState

_AT_ONCE = 512
_NAMES = "SELECT doc, key, digest FROM doc WHERE part = ? AND doc IN ({})"


class Names:
    """Reads each passage's name once a query."""

    def __init__(self, tx: Tx, states: Sequence[PartState]) -> None:
        self._tx = tx
        self._states = states
        self._known: dict[Place, tuple[str, int]] = {}

    @decoding()
    def keys(self, places: Sequence[Place]) -> Mapping[Place, str]:
        """The key of each place."""
        self._read(places)
        return {place: self._known[place][0] for place in places}

    @decoding()
    def digests(self, places: Sequence[Place]) -> Mapping[Place, int]:
        """The digest of each place."""
        self._read(places)
        return {place: self._known[place][1] for place in places}

    def _read(self, places: Sequence[Place]) -> None:
        unknown = [place for place in places if place not in self._known]
        if not unknown:
            return
        for number, state in enumerate(self._states):
            mine = [place for place in unknown if place[0] == number]
            docs = dict(zip(state.columns.doc[[position for _, position in mine]].tolist(), mine, strict=True))
            wanted = iter(docs)
            while some := list(islice(wanted, _AT_ONCE)):
                # Lists of few lengths, so that SQLite prepares few statements.
                some += some[-1:] * ((1 << (len(some) - 1).bit_length()) - len(some))
                for doc, key, digest in self._tx.rows(_NAMES.format(", ".join("?" * len(some))), [state.row.id, *some]):
                    self._known[docs[doc]] = (key, digest)
