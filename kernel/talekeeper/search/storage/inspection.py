"""Compares the index, as searches read it, with what it should hold (words by checksum), and measures its size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from talekeeper.db import Tx
from talekeeper.search.message_features import flags_of
from talekeeper.search.passage import LONGEST, Kind, Passage
from talekeeper.search.storage.codec import decode_all, decoding
from talekeeper.search.storage.memtable import load_terms
from talekeeper.search.storage.partition import PartState, load, read_rows

_WORD = (1 << 64) - 1
_AT_ONCE = 20_000

VersionName = tuple[Kind, str, str, str, int]
"""Kind, plugin, namespace, key, revision."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One passage that is otherwise than it should be; `what` is a clause for a person."""

    kind: Kind
    plugin: str
    namespace: str
    key: str
    revision: int
    what: str

    def __str__(self) -> str:
        source = "message" if self.kind is Kind.MESSAGE else f"{self.plugin}/{self.namespace}"
        return f"{source} {self.key}, revision {self.revision}: {self.what}"


@decoding
def check_index(tx: Tx, part: int, expected: Iterable[Passage]) -> list[Difference]:
    """What the partition has otherwise than `expected`, which lists all its passages; empty when all is right.

    First what the index has against itself, then passage by passage, then what is too much.
    """
    row = read_rows(tx, [part]).get(part)
    if row is None:
        return [Difference(*_name(passage), "is not in the index") for passage in expected]
    state = load(tx, row, None)
    extra, differences = _live_passages(tx, state)
    words = [*_settled_words(tx, state), *_tail_words(tx, state)]
    for passage in expected:
        name = _name(passage)
        position = extra.pop(name, None)
        if position is None:
            differences.append(Difference(*name, "is not in the index"))
        else:
            differences.extend(Difference(*name, what) for what in _compare_columns(state, position, passage))
            if words[position] != _checksum(passage.terms.counts):
                differences.append(Difference(*name, "has other words in the index"))
    differences.extend(Difference(*name, "is in the index and should not be") for name in extra)
    return differences


def _name(passage: Passage) -> VersionName:
    return passage.kind, passage.plugin, passage.namespace, passage.key, passage.revision


def _live_passages(tx: Tx, state: PartState) -> tuple[dict[VersionName, int], list[Difference]]:
    """Their positions by name, and what the index has against itself."""
    columns = state.columns
    position_of = {doc: i for i, doc in enumerate(columns.doc.tolist()) if state.live[i]}
    names = {number: name for name, number in state.sources.items()}
    positions: dict[VersionName, int] = {}
    faults: list[Difference] = []
    sql = "SELECT doc, source, key, revision, slot FROM doc WHERE part = ? ORDER BY doc"
    for doc, source, key, revision, slot in tx.rows(sql, (state.row.id,)):
        name = (*names[source], key, revision)
        position = position_of.pop(doc, None)
        if position is None:
            faults.append(Difference(*name, "has no words in the index"))
        elif name in positions:
            faults.append(Difference(*name, "is in the index twice"))
        elif (columns.source[position], columns.revision[position], columns.slot[position]) != (source, revision, slot):
            faults.append(Difference(*name, "is filed under another name"))
        else:
            positions[name] = position
    for doc, position in position_of.items():
        kind, plugin, namespace = names[int(columns.source[position])]
        what = "has words in the index and no name"
        faults.append(Difference(kind, plugin, namespace, f"passage {doc}", int(columns.revision[position]), what))
    return positions, faults


def _compare_columns(state: PartState, position: int, passage: Passage) -> Iterator[str]:
    wanted = {
        "branch": passage.branch,
        "depth": passage.depth,
        "turn": passage.turn,
        "length": min(passage.terms.length, LONGEST),
        "flags": flags_of(passage),
    }
    for field, value in wanted.items():
        held = int(getattr(state.columns, field)[position])
        if held != value:
            yield f"has {field} {held} in the index, and {value} is right"


def _checksum(counts: Mapping[str, int]) -> int:
    """Sum of hash · (2 tf + 1), modulo 2^64, whatever the order of the terms."""
    return sum(hash(term) * (2 * tf + 1) for term, tf in counts.items()) & _WORD


def _settled_words(tx: Tx, state: PartState) -> list[int]:
    words: list[int] = []
    for segment in state.stack.segments:
        sums = np.zeros(segment.n, np.uint64)
        rows = tx.rows("SELECT term, data FROM posting WHERE segment = ?", (segment.id,))
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            postings = decode_all([data for _, data in some], segment.n)
            hashes = np.array([hash(term) & _WORD for term, _ in some], np.uint64)
            np.add.at(sums, postings.ids, np.repeat(hashes, postings.counts) * (2 * postings.tfs.astype(np.uint64) + 1))
        words.extend(sums.tolist())
    return words


def _tail_words(tx: Tx, state: PartState) -> list[int]:
    sql = "SELECT terms FROM tail JOIN doc USING (part, doc) WHERE part = ? ORDER BY doc"
    return [_checksum(load_terms(terms)) for (terms,) in tx.rows(sql, (state.row.id,))]


class Unreadable(Difference):
    """Stands for every passage of the partition; `what` is the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(Kind.MESSAGE, "", "", "", 0, reason)

    def __str__(self) -> str:
        return self.what


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
