"""Vectors of passages as they are stored: in half precision, written by background work, gone with their passages.

`matrix` reads them. A passage's number is never given to another text, so a vector that comes late belongs to the text
it was made from or to nothing: it is written only where its passage still is. That the passage's removal takes the
vector along is a trigger's work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from talekeeper.db import Row, Tx
from talekeeper.search.arrays import Singles
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
