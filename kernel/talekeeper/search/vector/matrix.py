"""The vectors of a partition in memory, as one matrix to multiply a question's vector with.

They are stored in half precision, as anything that reads them expects, and held as fixed-point numbers of the same
size, whose values of a vector of length 1 are as exact: a processor turns these into single precision nine times as
fast, which is most of what a search by meaning takes.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from talekeeper.db import Row, Tx
from talekeeper.search.arrays import Column, Positions, Singles
from talekeeper.search.corruption import decoding
from talekeeper.search.passage import Elsewhere
from talekeeper.search.storage.cache import ByteLru
from talekeeper.search.vector.stored import ELSEWHERE, STORED, packed

Fixed = NDArray[np.int16]
_ONE = 32_767
"""What a vector's 1 is in memory."""
_AT_ONCE = 1 << 17
"""Numbers turned into single precision at a time: what fits a processor's cache, and is not worth a second thread."""
_SPARE = 8
"""Room for this part of a matrix more is left behind it once it has grown."""

_NEW = "SELECT doc, data, batch FROM vector WHERE part = ? AND batch > ? AND space = ? ORDER BY doc"
_LAST = "SELECT max(batch) FROM vector WHERE part = ?"


class _Room:
    """Rows with room behind them, so that a turn's vectors cost what they are and not what there is."""

    def __init__(self, rows: int, width: int) -> None:
        self.docs: Column = np.empty(rows, np.uint32)
        self.rows: Fixed = np.empty((rows, width), np.int16)
        self._used = 0
        self._lock = threading.Lock()

    def add(self, behind: int, docs: Column, rows: Fixed) -> bool:
        """Writes them behind the first so many; False if somebody else has, or there is no room."""
        end = behind + len(docs)
        with self._lock:
            if behind != self._used or end > len(self.docs):
                return False
            self._used = end
        self.docs[behind:end], self.rows[behind:end] = docs, rows
        return True


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of a partition in one space, fixed-point: row i is of passage `docs[i]`, ascending.

    `batch` is the last seen.
    """

    docs: Column
    rows: Fixed
    batch: int = 0
    room: _Room | None = None

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        held = self if self.room is None else self.room
        return held.docs.nbytes + held.rows.nbytes

    def followed_by(self, docs: Column, rows: Fixed, batch: int) -> Matrix:
        """With more passages behind the last; this one stays as it is."""
        there, end, room = len(self.docs), len(self.docs) + len(docs), self.room
        if room is None or not room.add(there, docs, rows):
            room = _Room(end + end // _SPARE, rows.shape[1])
            room.add(0, self.docs, self.rows)
            room.add(there, docs, rows)
        return Matrix(room.docs[:end], room.rows[:end], batch, room)

    def part(self, rows: Positions) -> Matrix:
        """The chosen rows."""
        return Matrix(self.docs[rows], self.rows[rows], self.batch)

    def cosines(self, vector: Singles) -> Singles:
        """The cosine of every row with a vector of length 1."""
        found = np.empty(len(self.docs), np.float32)
        scaled = vector / np.float32(_ONE)
        stretch = max(1, _AT_ONCE // max(1, len(vector)))
        some = np.empty((stretch, len(vector)), np.float32)
        for start in range(0, len(found), stretch):
            end = min(start + stretch, len(found))
            np.copyto(some[: end - start], self.rows[start:end])
            np.matmul(some[: end - start], scaled, out=found[start:end])
        return found


NO_VECTORS = Matrix(np.empty(0, np.uint32), np.empty((0, 0), np.int16))


class MatrixCache:
    """Matrices by partition and space, the one used longest ago forgotten first; `budget` is bytes.

    One may hold vectors of passages that are gone; whoever uses it looks at live passages only.
    """

    def __init__(self, budget: int) -> None:
        self._held: ByteLru[tuple[int, int], Matrix] = ByteLru(budget)

    @decoding
    def load(self, tx: Tx, part: int, space: int, elsewhere: Elsewhere | None = None) -> Matrix:
        """As this snapshot has it, and perhaps newer; raises what `elsewhere` raises."""
        held = self._held.get((part, space)) or NO_VECTORS
        last = tx.one(_LAST, (part,))
        if last is None or last[0] is None or last[0] <= held.batch:
            return held
        rows = tx.rows(_NEW, (part, held.batch, space))
        found = _joined(held, _fetched(rows, part, elsewhere), int(last[0]))
        self._held.put((part, space), found, found.nbytes)
        return found


def _fetched(rows: Sequence[Row], part: int, elsewhere: Elsewhere | None) -> dict[int, bytes]:
    """The stored vectors by passage, those that are elsewhere asked for; passages without one are left out.

    So are vectors that are not as long as the last written: those of a store outside are not the database's to delete.
    """
    found = {int(doc): bytes(data) for doc, data, _ in sorted(rows, key=itemgetter(2)) if data}
    away = [doc for doc, data in found.items() if data == ELSEWHERE]
    if away:
        given: Mapping[int, Sequence[float]] = elsewhere(part, away) if elsewhere is not None else {}
        found |= {doc: packed(given.get(doc, ())) for doc in away}
    last = next((len(data) for data in reversed(found.values()) if data), 0)
    return {doc: data for doc, data in sorted(found.items()) if data and len(data) == last}


def _joined(held: Matrix, found: Mapping[int, bytes], batch: int) -> Matrix:
    if not found:
        return replace(held, batch=batch)
    docs: Column = np.array(list(found), np.uint32)
    rows = _fixed(np.frombuffer(b"".join(found.values()), STORED).reshape(len(docs), -1))
    if not len(held.docs) or held.rows.shape[1] != rows.shape[1]:
        return Matrix(docs, rows, batch)
    if docs[0] > held.docs[-1]:
        return held.followed_by(docs, rows, batch)
    kept = ~np.isin(held.docs, docs)
    every = np.concatenate([held.docs[kept], docs])
    order = np.argsort(every, kind="stable")
    return Matrix(every[order], np.concatenate([held.rows[kept], rows])[order], batch)


def _fixed(halves: NDArray[np.float16]) -> Fixed:
    found = np.empty(halves.shape, np.int16)
    stretch = max(1, _AT_ONCE // max(1, halves.shape[1]))
    for start in range(0, len(found), stretch):
        some = halves[start : start + stretch].astype(np.float32)
        found[start : start + stretch] = np.rint(np.clip(some, -1, 1) * _ONE)
    return found
