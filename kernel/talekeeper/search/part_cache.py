"""The partitions held in memory: the one used longest ago is forgotten first."""

from __future__ import annotations

from collections.abc import Sequence

from talekeeper.db import Tx
from talekeeper.search.loading import load, read_rows
from talekeeper.search.lru import ByteLru
from talekeeper.search.state import PartRow, PartState

_SNAPSHOTS = 3


class PartCache:
    """Has a few states a partition, last used first.

    A reader on an old snapshot and a writer would else evict each other's at every query.
    """

    def __init__(self, budget: int) -> None:
        self._held: ByteLru[int, tuple[PartState, ...]] = ByteLru(budget)

    def load(self, tx: Tx, parts: Sequence[int]) -> dict[int, PartState]:
        """The states of those of `parts` that exist in this snapshot."""
        return {} if not parts else {part: self._state(tx, row) for part, row in read_rows(tx, parts).items()}

    def _state(self, tx: Tx, row: PartRow) -> PartState:
        held = self._held.get(row.id) or ()
        if held and held[0].row == row:
            return held[0]
        found = next((state for state in held if state.row == row), None)
        if found is None:
            found = load(tx, row, held[0] if held else None)
        states = (found, *(state for state in held if state is not found))[:_SNAPSHOTS]
        self._held.put(row.id, states, found.nbytes + 64 * len(states))
        return found
