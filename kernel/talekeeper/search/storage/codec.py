"""How the postings of one term in one segment are stored: the blob of `posting.data`.

    u8 kind · u8 bits · u16 df - 1 · frequencies · ids            WIDE, GAPS
    u8 kind · u8 0    · u16 df - 1 · n frequencies of one byte    DENSE, 0 where the term is missing

Frequencies less one are packed in `bits` (0, 2, 4 or 8) each, from the lowest bit of a byte up. Local ids count the
segment's passages from 0 and ascend. WIDE stores them as u16; GAPS as one byte for the distance to the id before (to -1
for the first), a zero byte standing for 255 on the way to a farther one. The smallest of the three is chosen: half of
the room of plain u16 ids and u8 frequencies. Numbers are little-endian.

`encode_all` and `decode_all` take many rows at once, since a merge moves some 100,000 blobs. Decoding reads long rows
one by one, at some 10 µs a row and 3 ns a posting, and short ones together, at 90 ns a posting and nothing a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from talekeeper.errors import StoreUnusable
from talekeeper.search.storage.columns import Bools, Bytes, Column, Ids, Positions

WIDE, GAPS, DENSE = 1, 2, 3
HEADER = 4
FAR = 255
BITS = (0, 2, 4, 8)
_ROOMS = ((16, 4), (4, 2), (1, 0))  # up to this frequency, that many bits


@dataclass(frozen=True, slots=True)
class PostingLists:
    """The postings of several rows, one behind the other: row i has `counts[i]` of the `ids` and `tfs`."""

    counts: Positions
    ids: Column
    tfs: Bytes

    @property
    def starts(self) -> Positions:
        """Where each row begins."""
        return np.cumsum(self.counts) - self.counts


def encode_all(postings: PostingLists, n: int) -> list[bytes]:
    """One blob for each row, for a segment of `n` passages; no row is empty."""
    counts = postings.counts
    if not len(counts):
        return []
    bits = _bits(np.maximum.reduceat(postings.tfs, postings.starts))
    tf_bytes = (counts * bits + 7) // 8
    steps = _steps(postings)
    gap_bytes = np.add.reduceat(steps, postings.starts)
    choices = np.stack([tf_bytes + 2 * counts, tf_bytes + gap_bytes, np.full(len(counts), n)])
    kinds = np.argmin(choices, axis=0) + WIDE
    sizes = HEADER + choices.min(axis=0)
    borders = np.concatenate(([0], np.cumsum(sizes)))
    out = np.zeros(borders[-1], np.uint8)
    heads = borders[:-1]
    out[heads] = kinds
    out[heads + 1] = np.where(kinds == DENSE, 0, bits)
    out[heads + 2] = (counts - 1) & 255
    out[heads + 3] = (counts - 1) >> 8
    _write_frequencies(out, postings, kinds, bits, heads + HEADER)
    _write_ids(out, postings, kinds, steps, heads + HEADER + tf_bytes)
    whole = out.tobytes()
    edges = borders.tolist()
    return [whole[edges[i] : edges[i + 1]] for i in range(len(counts))]


def _bits(most: Bytes) -> Positions:
    """How many bits each row's frequencies need, from the highest of each."""
    bits = np.full(len(most), 8, np.intp)
    for highest, room in _ROOMS:
        bits[most <= highest] = room
    return bits


def _steps(postings: PostingLists) -> Positions:
    """Bytes each posting takes as a gap."""
    gaps = np.diff(postings.ids, prepend=-1)
    gaps[postings.starts] = postings.ids[postings.starts] + 1
    return 1 + (gaps - 1) // FAR


def rows_of(counts: Positions, chosen: Positions) -> tuple[Positions, Positions]:
    """For each posting of the chosen rows, its row and its place in it."""
    row = np.repeat(chosen, counts[chosen])
    ends = np.cumsum(counts[chosen])
    return row, np.arange(len(row)) - np.repeat(ends - counts[chosen], counts[chosen])


def _write_frequencies(out: Bytes, postings: PostingLists, kinds: Positions, bits: Positions, at: Positions) -> None:
    row, place = rows_of(postings.counts, np.flatnonzero((kinds != DENSE) & (bits > 0)))
    bit = place * bits[row]
    values = (postings.tfs[postings.starts[row] + place] - 1) << (bit % 8).astype(np.uint8)
    np.bitwise_or.at(out, at[row] + bit // 8, values)
    row, place = rows_of(postings.counts, np.flatnonzero(kinds == DENSE))
    held = postings.starts[row] + place
    out[at[row] + postings.ids[held]] = postings.tfs[held]


def _write_ids(out: Bytes, postings: PostingLists, kinds: Positions, steps: Positions, at: Positions) -> None:
    row, place = rows_of(postings.counts, np.flatnonzero(kinds == WIDE))
    ids = postings.ids[postings.starts[row] + place]
    out[at[row] + 2 * place] = ids & 255
    out[at[row] + 2 * place + 1] = ids >> 8
    row, place = rows_of(postings.counts, np.flatnonzero(kinds == GAPS))
    held = postings.starts[row] + place
    before = np.where(place == 0, -1, postings.ids[held - 1])
    ends = np.cumsum(steps[held])
    first = ends - steps[held]
    in_row = ends - 1 - np.repeat(first[place == 0], postings.counts[kinds == GAPS])
    out[at[row] + in_row] = (postings.ids[held] - before - 1) % FAR + 1


_LONG = 200  # postings of a row


def _table(bits: int) -> NDArray[np.unsignedinteger[Any]]:
    """For each byte the frequencies it holds, a byte each, as one number."""
    held = 8 // bits
    values = (np.arange(256)[:, np.newaxis] >> np.arange(0, 8, bits) & (1 << bits) - 1) + 1
    return values.astype(np.uint8).view(f"u{held}")[:, 0]


_TABLES = {bits: _table(bits) for bits in BITS if bits}


def decode_all(blobs: Sequence[bytes], n: int | Positions, first: Positions | None = None) -> PostingLists:
    """The postings of all `blobs`, a row each; undoes `encode_all`. Ids are 32 bits wide.

    `n` is the number of passages of the segment, or one for each row; `first`, for each row, what its ids count from,
    0 unless given. Damaged bytes raise `ValueError` or `IndexError`, or give postings that are wrong and still ascend
    from `first` to below `first + n`.
    """
    raw = np.frombuffer(b"".join(blobs), np.uint8)
    sizes = np.fromiter(map(len, blobs), np.intp, len(blobs))
    heads = np.cumsum(sizes) - sizes
    ends = heads + sizes
    counts = raw[heads + 2].astype(np.intp) + (raw[heads + 3].astype(np.intp) << 8) + 1
    total = int(counts.sum())
    ids: Ids = np.empty(total, np.int32)
    postings = PostingLists(counts, ids, np.ones(total, np.uint8))
    kinds = raw[heads]
    bits = raw[heads + 1].astype(np.intp)
    if not (np.isin(kinds, (WIDE, GAPS, DENSE)).all() and np.isin(bits, BITS).all()):
        raise ValueError("postings begin with what is no header")
    bodies = heads + HEADER + (counts * bits + 7) // 8
    is_long = (counts > _LONG) | (kinds == DENSE)
    first = np.zeros(len(blobs), np.intp) if first is None else first
    edges = [heads + HEADER, bodies, ends, postings.starts, counts, kinds, bits, first]
    _read_long(raw, ids, postings.tfs, [edge[is_long].tolist() for edge in edges])
    if not is_long.all():
        _read_frequencies(raw, postings, np.where(is_long, 0, bits), heads + HEADER)
        _read_wide(raw, postings, ~is_long & (kinds == WIDE), bodies, first)
        _read_gaps(raw, postings, ~is_long & (kinds == GAPS), bodies, ends, first)
    _check_ids(postings, first, first + n)
    return postings


def _read_long(raw: Bytes, ids: Ids, tfs: Bytes, edges: Sequence[Sequence[int]]) -> None:
    """Fills `ids` and `tfs` row by row; `edges` have of each where it is and what its header says."""
    for head, body, end, start, count, kind, width, base in zip(*edges, strict=True):
        held = slice(start, start + count)
        if kind == DENSE:
            _read_table(raw[head:end], base, ids[held], tfs[held])
        else:
            _read_row(raw[head:body], raw[body:end], kind, width, base, ids[held], tfs[held])


def _check_ids(postings: PostingLists, first: Positions, end: Positions) -> None:
    """Whoever takes these ids for positions may rely on their order and range."""
    if not len(postings.counts):
        return
    ids, starts = postings.ids, postings.starts
    ascends = ids[1:] > ids[:-1]
    ascends[starts[1:] - 1] = True
    if not ascends.all() or (ids[starts] < first).any() or (ids[starts + postings.counts - 1] >= end).any():
        raise ValueError("postings name passages the segment does not have")


def _read_row(packed: Bytes, body: Bytes, kind: int, bits: int, base: int, ids: Ids, tfs: Bytes) -> None:
    """Fills `ids` and `tfs` from the frequencies and ids of one row."""
    if bits:
        tfs[:] = _TABLES[bits].take(packed).view(np.uint8)[: len(tfs)]
    if kind == WIDE:
        ids[:] = body.view("<u2")
        ids += base
    elif body.all():
        np.add.accumulate(body, dtype=np.int32, out=ids)  # cumsum, with less around it
        ids += base - 1
    else:
        reached = np.cumsum(np.where(body, body, np.uint8(FAR)), dtype=np.int32)
        ids[:] = reached[body > 0]
        ids += base - 1


def _read_table(table: Bytes, base: int, ids: Ids, tfs: Bytes) -> None:
    held = (table != 0).nonzero()[0]
    ids[:] = held
    ids += base
    tfs[:] = table.take(held)


def _read_frequencies(raw: Bytes, postings: PostingLists, bits: Positions, at: Positions) -> None:
    row, place = rows_of(postings.counts, np.flatnonzero(bits > 0))
    bit = place * bits[row]
    mask = ((1 << bits[row]) - 1).astype(np.uint8)
    packed = raw[at[row] + bit // 8] >> (bit % 8).astype(np.uint8)
    postings.tfs[postings.starts[row] + place] = (packed & mask) + 1


def _read_wide(raw: Bytes, postings: PostingLists, chosen: Bools, at: Positions, first: Positions) -> None:
    row, place = rows_of(postings.counts, np.flatnonzero(chosen))
    low = at[row] + 2 * place
    postings.ids[postings.starts[row] + place] = first[row] + raw[low] + (raw[low + 1].astype(np.intp) << 8)


def _read_gaps(
    raw: Bytes, postings: PostingLists, chosen: Bools, at: Positions, ends: Positions, first: Positions
) -> None:
    rows = np.flatnonzero(chosen)
    row, place = rows_of(ends - at, rows)
    gaps = raw[at[row] + place]
    reached = np.cumsum(np.where(gaps == 0, FAR, gaps), dtype=np.intp)
    starts = np.flatnonzero(place == 0)
    before = np.where(starts > 0, reached[starts - 1], 0)
    ids = (reached - np.repeat(before, (ends - at)[rows]) - 1)[gaps > 0]
    row, place = rows_of(postings.counts, rows)
    postings.ids[postings.starts[row] + place] = first[row] + ids


P = ParamSpec("P")
R = TypeVar("R")
_RAW = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""What numpy, json and Python raise over bytes they cannot make sense of."""


class IndexDamaged(StoreUnusable):
    """The rows may be sound: the index can be rebuilt from them."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the search index is damaged ({reason})", cure="'talekeeper doctor --rebuild' makes it anew")


def decoding(decoder: Callable[P, R]) -> Callable[P, R]:
    """Around every decoder of what is in the index's tables, which may have changed on the disk.

    What its bytes make it raise comes out as `IndexDamaged`.
    """

    @wraps(decoder)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return decoder(*args, **kwargs)
        except _RAW as error:
            raise IndexDamaged(f"{type(error).__name__}: {error}") from error

    return guarded
