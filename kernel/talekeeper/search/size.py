"""How much room the index takes, by what it is kept for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from talekeeper.db import Tx

_COUNTS = {
    "partitions": "SELECT count(*) FROM part",
    "passages": "SELECT count(*) FROM doc",
    "segments": "SELECT count(*) FROM segment",
    "postings": "SELECT count(*) FROM posting",
}
_BYTES = {
    "postings": "SELECT sum(length(data) + length(CAST(term AS BLOB))) FROM posting",
    "columns": "SELECT sum(length(columns)) FROM segment",
    "tail": "SELECT sum(length(CAST(terms AS BLOB))) FROM tail",
    "vectors": "SELECT sum(length(data)) FROM vector",
    "names": "SELECT sum(length(CAST(key AS BLOB))) FROM doc",
}


@dataclass(frozen=True, slots=True)
class IndexSize:
    """`bytes` are of what is kept, without what SQLite adds to each row and page."""

    partitions: int
    passages: int
    segments: int
    postings: int
    bytes: Mapping[str, int]


def index_size(tx: Tx) -> IndexSize:
    """Reads all of the index's tables."""
    counts = {name: _number(tx, sql) for name, sql in _COUNTS.items()}
    return IndexSize(**counts, bytes={name: _number(tx, sql) for name, sql in _BYTES.items()})


def _number(tx: Tx, sql: str) -> int:
    row = tx.one(sql)
    return int(row[0] or 0) if row else 0
