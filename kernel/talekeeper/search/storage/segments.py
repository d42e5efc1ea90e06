"""Segments as they are written: from the memtable, or out of other segments.

A change is made first (`next_flush`, `combine`), reading a snapshot, and then written (`flush`, `replace`) in a
transaction that checks whether it still holds: most of the work is done outside the write lock.

A large segment is staged: several short transactions write its postings first, where no search looks yet. Each
partition has at most one staged segment; its number is kept beside the counters. Whoever begins another one takes
over: the first writer has died, or sees it at the next step and leaves the partition to the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from talekeeper.db import Row, Tx
from talekeeper.search.storage.codec import PostingLists, decode_all, decoding, encode_all
from talekeeper.search.storage.columns import Columns, Positions, check, concatenate, from_rows, pack, take, unpack
from talekeeper.search.storage.memtable import load_terms
from talekeeper.search.storage.writing import abandon, count_up, new_stamp, staged_name

FLUSH = 128
"""Passages of the tail that make a segment; few, since the first search of a process reads the tail (`memtable`)."""
FAN = 8
"""Segments merged into one. A level's segments hold FLUSH · FAN^level passages, fewer where some were removed."""
TOP_LEVEL = 3
LARGEST = 1 << 16
"""Passages of a segment of the top level, FLUSH · FAN^3, for which a local id has just room."""

_TAIL = """
SELECT tail.doc, slot, branch, depth, turn, revision, source, length, flags, terms, tokens
FROM tail JOIN doc ON doc.part = tail.part AND doc.doc = tail.doc
WHERE tail.part = ? AND tail.doc < ? ORDER BY tail.doc
"""

_FROM = "SELECT term, data FROM posting WHERE segment = ? AND term >= ?"
_FURTHER = "SELECT term FROM posting WHERE segment = ? AND term >= ? ORDER BY term LIMIT 1 OFFSET ?"
# In one statement: one for each took 50 ms and more where a quarter of a large segment goes.
_BURIED = "DELETE FROM dead WHERE part = ? AND removal <= ? AND doc >= ? AND doc < ?"
_AT_ONCE = 2_000  # postings of each segment that a merge reads at once

_Row = tuple[str, int, int, bytes]


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment in the database, without its blobs."""

    id: int
    lo: int
    hi: int
    level: int
    n: int
    tokens: str


@dataclass(frozen=True, slots=True)
class NewSegment:
    """A segment to write; `blobs` are the postings of `terms`."""

    lo: int
    hi: int
    level: int
    tokens: str
    columns: Columns
    terms: Sequence[str]
    blobs: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Flush:
    """A segment for passages `lo` to `hi` - 1 of the tail, None where all were removed, as of `removals` tombstones."""

    lo: int
    hi: int
    removals: int
    new: NewSegment | None


@dataclass(frozen=True, slots=True)
class Replacement:
    """A new segment for old ones, without the passages removed up to the tombstone numbered `buried`."""

    old: Sequence[int]
    new: NewSegment
    buried: int


def read_segments(tx: Tx, part: int) -> list[Segment]:
    """The segments of a partition, oldest first."""
    rows = tx.rows("SELECT id, lo, hi, level, n, tokens FROM segment WHERE part = ? ORDER BY lo", (part,))
    return [Segment(*row) for row in rows]


@decoding
def next_flush(tx: Tx, part: int) -> Flush | None:
    """Makes a segment of the oldest passages of the tail once 128 numbers are given out; only reads.

    A tail of 1,024 becomes a segment of the next level at once, which spares an import a merge.
    """
    row = tx.one("SELECT docs, settled, removals FROM part WHERE id = ?", (part,))
    if row is None or row[0] - row[1] < FLUSH:
        return None
    docs, settled, removals = row
    level = 1 if docs - settled >= FLUSH * FAN else 0
    hi = settled + FLUSH * FAN**level
    rows = tx.rows(_TAIL, (part, hi))
    if not rows:  # all removed: on to the next that was not
        (first,) = tx.rows("SELECT min(doc) FROM tail WHERE part = ?", (part,))[0]
        return Flush(settled, docs if first is None else first, removals, None)
    other = next((i for i, row in enumerate(rows) if row[-1] != rows[0][-1]), None)
    if other is not None:  # a segment holds the terms of one tokeniser only
        rows = rows[:other]
        hi = rows[-1][0] + 1
    return Flush(settled, hi, removals, _from_tail(rows, settled, hi, level))


def flush(tx: Tx, part: int, change: Flush, staged: int | None = None) -> bool:
    """Writes what `next_flush` made; False, with nothing done, if passages were flushed or removed meanwhile.

    `staged` is the number of the segment where its postings are written already.
    """
    row = tx.one("SELECT settled, removals FROM part WHERE id = ?", (part,))
    if row != (change.lo, change.removals):
        return False
    if change.new is not None:
        _insert(tx, part, change.new, staged)
    tx.run("DELETE FROM tail WHERE part = ? AND doc < ?", (part, change.hi))
    tx.run("DELETE FROM dead WHERE part = ? AND doc >= ? AND doc < ?", (part, change.lo, change.hi))
    tx.run("UPDATE part SET settled = ? WHERE id = ?", (change.hi, part))
    _renew(tx, part)
    return True


def _from_tail(rows: Sequence[Row], lo: int, hi: int, level: int) -> NewSegment:
    counts = [load_terms(row[-2]) for row in rows]
    terms = sorted({term for held in counts for term in held})
    number = {term: i for i, term in enumerate(terms)}
    sizes = [len(held) for held in counts]
    total = sum(sizes)
    term_of = np.fromiter((number[term] for held in counts for term in held), np.intp, total)
    tfs = np.fromiter((tf for held in counts for tf in held.values()), np.uint8, total)
    by_term = np.argsort(term_of, kind="stable")
    ids = np.repeat(np.arange(len(rows)), sizes)[by_term]
    postings = PostingLists(np.bincount(term_of, minlength=len(terms)), ids, tfs[by_term])
    return NewSegment(lo, hi, level, rows[0][-1], from_rows(rows), terms, encode_all(postings, len(rows)))


@decoding
def combine(tx: Tx, part: int, old: Sequence[Segment], level: int) -> Replacement:
    """Puts adjacent segments of one tokeniser together and leaves their dead out; only reads."""
    marks = ", ".join("?" * len(old))
    ids = [segment.id for segment in old]
    sql = f"SELECT columns, n, lo, hi FROM segment WHERE id IN ({marks}) ORDER BY lo"  # noqa: S608 -- marks
    columns = concatenate([check(unpack(blob, n), lo, hi) for blob, n, lo, hi in tx.rows(sql, ids)])
    tombstones = tx.rows(
        "SELECT removal, doc FROM dead WHERE part = ? AND doc >= ? AND doc < ?", (part, old[0].lo, old[-1].hi)
    )
    live = ~np.isin(columns.doc, np.array([doc for _, doc in tombstones], np.uint32))
    kept = take(columns, np.flatnonzero(live))
    terms, blobs = _combined_postings(tx, old, np.where(live, np.cumsum(live) - 1, -1), len(kept))
    new = NewSegment(old[0].lo, old[-1].hi, level, old[0].tokens, kept, terms, blobs)
    return Replacement(ids, new, max((removal for removal, _ in tombstones), default=0))


def _combined_postings(
    tx: Tx, old: Sequence[Segment], moved: Positions, n: int
) -> tuple[Sequence[str], Sequence[bytes]]:
    """`moved` maps the passages of all old segments to their new local ids, -1 for the dead."""
    terms: list[str] = []
    blobs: list[bytes] = []
    for rows in _stretches(tx, old):
        more_terms, more_blobs = _merged(rows, moved, n)
        terms += more_terms
        blobs += more_blobs
    return terms, blobs


def _stretches(tx: Tx, old: Sequence[Segment]) -> Iterator[list[_Row]]:
    """The postings of all segments from term to term; one read of all would be 80 MB of small objects for the largest.

    Each with its term, where its segment's passages begin among those of all, and how many these are.
    """
    firsts = np.cumsum([0, *(one.n for one in old)]).tolist()
    start: str | None = ""
    while start is not None:
        ends = [row[0] for one in old if (row := tx.one(_FURTHER, (one.id, start, _AT_ONCE))) is not None]
        end = min(ends, default=None)
        sql, bounds = (_FROM, (start,)) if end is None else (f"{_FROM} AND term < ?", (start, end))
        yield [
            (term, first, segment.n, data)
            for segment, first in zip(old, firsts, strict=False)
            for term, data in tx.rows(sql, (segment.id, *bounds))
        ]
        start = end


def _merged(rows: Sequence[_Row], moved: Positions, n: int) -> tuple[list[str], list[bytes]]:
    if not rows:
        return [], []
    terms = sorted({row[0] for row in rows})
    number = {term: i for i, term in enumerate(terms)}
    term_of_row = np.array([number[row[0]] for row in rows], np.intp)
    by_term = np.argsort(term_of_row, kind="stable")
    blobs: list[bytes] = [rows[i][3] for i in by_term.tolist()]
    first, sizes = np.array([row[1:3] for row in rows], np.intp)[by_term].T
    postings = decode_all(blobs, sizes, first)
    ids = moved[postings.ids]
    kept = ids >= 0
    counts = np.bincount(np.repeat(term_of_row[by_term], postings.counts)[kept], minlength=len(terms))
    held = np.flatnonzero(counts)
    merged = encode_all(PostingLists(counts[held], ids[kept], postings.tfs[kept]), n)
    return [terms[i] for i in held.tolist()], merged


def replace(tx: Tx, part: int, change: Replacement, staged: int | None = None) -> bool:
    """Writes what `combine` made; False, with nothing done, if another process has changed these segments meanwhile.

    `staged` is the number of the segment where its postings are written already.
    """
    marks = ", ".join("?" * len(change.old))
    there = tx.rows(f"SELECT id FROM segment WHERE id IN ({marks})", change.old)  # noqa: S608 -- marks
    if len(there) < len(change.old):
        return False
    if len(change.new.columns):
        _insert(tx, part, change.new, staged)
    for segment in change.old:
        tx.run("DELETE FROM segment WHERE id = ?", (segment,))
        tx.run("INSERT INTO retired (segment) VALUES (?)", (segment,))
    tx.run(_BURIED, (part, change.buried, change.new.lo, change.new.hi))
    _renew(tx, part)
    return True


def _insert(tx: Tx, part: int, new: NewSegment, staged: int | None) -> None:
    segment = count_up(tx, "segment") if staged is None else staged
    tx.run(
        "INSERT INTO segment (id, part, lo, hi, level, n, tokens, columns) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (segment, part, new.lo, new.hi, new.level, len(new.columns), new.tokens, pack(new.columns)),
    )
    if staged is None:
        write_postings(tx, segment, new.terms, new.blobs)


def _renew(tx: Tx, part: int) -> None:
    """Tells everybody that the set of segments is another."""
    tx.run("UPDATE part SET layout = ?, stamp = ? WHERE id = ?", (new_stamp(), new_stamp(), part))


STAGED_AT_ONCE = 2_000
"""Postings written in a transaction: some 10 ms."""


def begin(tx: Tx, part: int) -> int:
    """The number of a segment to be made in the partition."""
    abandon(tx, part)
    segment = count_up(tx, "segment")
    tx.run("INSERT INTO search_counter (name, value) VALUES (?, ?)", (staged_name(part), segment))
    return segment


def put(tx: Tx, part: int, segment: int, terms: Sequence[str], blobs: Sequence[bytes]) -> bool:
    """Writes some postings; False, with nothing done, if somebody else has taken over."""
    if not is_in_the_making(tx, part, segment):
        return False
    write_postings(tx, segment, terms, blobs)
    return True


def is_in_the_making(tx: Tx, part: int, segment: int) -> bool:
    """Whether no other writer has taken over."""
    return tx.one("SELECT 1 FROM search_counter WHERE name = ? AND value = ?", (staged_name(part), segment)) is not None


def write_postings(tx: Tx, segment: int, terms: Sequence[str], blobs: Sequence[bytes]) -> None:
    """Writes postings of a segment."""
    rows = zip(repeat(segment), terms, blobs, strict=False)
    tx.run_many("INSERT INTO posting (segment, term, data) VALUES (?, ?, ?)", rows)
