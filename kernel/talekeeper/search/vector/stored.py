"""Vectors of passages, stored by background work and gone with their passages; in memory one matrix a partition.

A passage's number is never given to another text, so a vector that comes late belongs to the text
it was made from or to nothing: it is written only where its passage still is. That the passage's removal takes the
vector along is a trigger's work.

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
from talekeeper.search.passage import Elsewhere
from talekeeper.search.storage.codec import decoding
from talekeeper.search.storage.columns import Column, Positions, Singles
from talekeeper.search.storage.partition import ByteLru
from talekeeper.search.storage.writing import count_up

STORED = np.dtype("<f2")
ELSEWHERE = b"\1"
"""In place of a vector: a store outside this database has it."""
StoredVector = tuple[int, bytes]
"""The space of a vector and what is stored of it."""

_BATCH = "vector batch"
_PUT = """
INSERT INTO vector (part, doc, space, batch, data)
SELECT part, doc, ?, ?, ? FROM doc WHERE part = ? AND doc = ?
ON CONFLICT (part, doc) DO UPDATE SET space = excluded.space, batch = excluded.batch, data = excluded.data
"""
_MISSING = """
SELECT doc.doc, source.plugin, source.namespace, doc.key, doc.revision FROM doc
JOIN part_source AS source ON source.part = doc.part AND source.id = doc.source
LEFT JOIN vector ON vector.part = doc.part AND vector.doc = doc.doc AND vector.space = ?
WHERE doc.part = ? AND doc.doc > ? AND vector.doc IS NULL ORDER BY doc.doc LIMIT ?
"""
_LENGTH = """
SELECT length(data) FROM vector WHERE part = ? AND space = ? AND length(data) > 1 ORDER BY batch DESC LIMIT 1
"""
_OF_OTHER_LENGTH = "DELETE FROM vector WHERE part = ? AND space = ? AND length(data) > 1 AND length(data) <> ?"
_KEPT = "SELECT 1 FROM vector WHERE part = ? AND doc = ? AND space = ?"
_HELD = """
SELECT vector.space, vector.data FROM vector JOIN doc ON doc.part = vector.part AND doc.doc = vector.doc
WHERE vector.part = ? AND vector.doc = ? AND doc.digest = ?
"""
_COUNTS = """
SELECT count(*), count(vector.doc) FROM doc
LEFT JOIN vector ON vector.part = doc.part AND vector.doc = doc.doc AND vector.space = ? WHERE doc.part = ?
"""


def vector_space(tx: Tx, fingerprint: str) -> int | None:
    """The number of a space, None while nothing was written in it."""
    row = tx.one("SELECT id FROM vector_space WHERE fingerprint = ?", (fingerprint,))
    return None if row is None else int(row[0])


def _make_space(tx: Tx, fingerprint: str) -> int:
    found = vector_space(tx, fingerprint)
    if found is None:
        tx.run("INSERT INTO vector_space (fingerprint) VALUES (?)", (fingerprint,))
        found = int(tx.rows("SELECT id FROM vector_space WHERE fingerprint = ?", (fingerprint,))[0][0])
    return found


def put_vectors(tx: Tx, part: int, fingerprint: str, vectors: Mapping[int, Sequence[float] | None]) -> list[int]:
    """Keeps vectors by passage number, none where the passage is gone meanwhile; gives the passages that have theirs.

    An empty vector says that the passage has no text, None that it is kept elsewhere. Those of another space are
    replaced, and those of another length deleted: the encoder has changed without saying so.
    """
    space, batch = _make_space(tx, fingerprint), count_up(tx, _BATCH)
    stored = {doc: packed(vector) for doc, vector in vectors.items()}
    length = max(map(len, stored.values()), default=0)
    before = tx.one(_LENGTH, (part, space))
    if length > len(ELSEWHERE) and before is not None and before[0] != length:
        tx.run(_OF_OTHER_LENGTH, (part, space, length))
    return [doc for doc, data in stored.items() if tx.run(_PUT, (space, batch, data, part, doc))]


def held(tx: Tx, part: int, docs: Sequence[int], digest: int) -> StoredVector | None:
    """The vector of the first of these passages whose text has this digest, if it has one in this database."""
    for doc in docs:
        row = tx.one(_HELD, (part, doc, digest))
        if row is not None and row[1] != ELSEWHERE:
            return int(row[0]), bytes(row[1])
    return None


def move(tx: Tx, part: int, vectors: Mapping[int, StoredVector]) -> None:
    """Gives passages by number vectors that others of the same text had."""
    if vectors:
        batch = count_up(tx, _BATCH)
        tx.run_many(_PUT, [(space, batch, data, part, doc) for doc, (space, data) in vectors.items()])


def has_vectors(tx: Tx, fingerprint: str, places: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Those of the places, partition and passage, that have been dealt with in the space."""
    space = vector_space(tx, fingerprint)
    return {place for place in places if tx.one(_KEPT, (*place, space)) is not None}


def without_vectors(tx: Tx, part: int, fingerprint: str, after: int, limit: int) -> list[Row]:
    """Number, plugin, namespace, key and revision of passages behind the number `after` without a vector, in order."""
    return tx.rows(_MISSING, (vector_space(tx, fingerprint), part, after, limit))


def count_vectors(tx: Tx, part: int, fingerprint: str) -> tuple[int, int]:
    """Passages of a partition, and those of them that have been dealt with in the space."""
    row = tx.one(_COUNTS, (vector_space(tx, fingerprint), part))
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


def unit(vector: Sequence[float]) -> Singles:
    """The vector at length 1; zeros stay."""
    array = np.array(vector, np.float64)
    most = np.abs(array).max(initial=0)
    if most:
        array /= most  # so that no square is out of range, whatever the numbers
        array /= np.sqrt(np.square(array).sum())
    return array.astype(np.float32)


def packed(vector: Sequence[float] | None) -> bytes:
    """What is stored of a vector, which is made as long as 1; of an empty one nothing."""
    if vector is None:
        return ELSEWHERE
    return unit(vector).astype(STORED).tobytes() if len(vector) else b""


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
    """The vectors of a partition in one space, to multiply a question's with: row i is of passage `docs[i]`, ascending.

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
