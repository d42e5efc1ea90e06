"""A large segment is written in several short transactions: its postings first, where nobody looks yet.

One segment a partition is in the making; its number is kept beside the counters. Who begins another one takes over:
whoever made the first has died, or sees it at his next step and leaves the partition to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

from talekeeper.db import Tx
from talekeeper.search.writing import count_up

AT_ONCE = 2_000
"""Postings written in a transaction: some 10 ms."""


def begin(tx: Tx, part: int) -> int:
    """The number of a segment to be made in the partition."""
    abandon(tx, part)
    segment = count_up(tx, "segment")
    tx.run("INSERT INTO search_counter (name, value) VALUES (?, ?)", (_name(part), segment))
    return segment


def put(tx: Tx, part: int, segment: int, terms: Sequence[str], blobs: Sequence[bytes]) -> bool:
    """Writes some postings; False, with nothing done, if somebody else has taken over."""
    if not is_in_the_making(tx, part, segment):
        return False
    write_postings(tx, segment, terms, blobs)
    return True


def is_in_the_making(tx: Tx, part: int, segment: int) -> bool:
    """Whether nobody has taken over."""
    return tx.one("SELECT 1 FROM search_counter WHERE name = ? AND value = ?", (_name(part), segment)) is not None


def finish(tx: Tx, part: int) -> None:
    """Takes the segment for made; the caller gives it to the partition."""
    tx.run("DELETE FROM search_counter WHERE name = ?", (_name(part),))


def abandon(tx: Tx, part: int) -> None:
    """Has the next maintenance delete what was written of a segment in the making, if there is one."""
    tx.run("INSERT INTO retired (segment) SELECT value FROM search_counter WHERE name = ?", (_name(part),))
    finish(tx, part)


def write_postings(tx: Tx, segment: int, terms: Sequence[str], blobs: Sequence[bytes]) -> None:
    """Writes postings of a segment."""
    rows = zip(repeat(segment), terms, blobs, strict=False)
    tx.run_many("INSERT INTO posting (segment, term, data) VALUES (?, ?, ?)", rows)


def _name(part: int) -> str:
    return f"segment in the making of part {part}"
