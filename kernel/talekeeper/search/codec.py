"""How the postings of one term in one segment are written: the blob of `posting.data`.

    u8 kind · u8 bits · u16 df - 1 · frequencies · ids            WIDE, GAPS
    u8 kind · u8 0    · u16 df - 1 · n frequencies of one byte    DENSE, 0 where the term is missing

Frequencies less one are packed in `bits` (0, 2, 4 or 8) each, from the lowest bit of a byte up. Local ids count the
segment's passages from 0 and ascend. WIDE has them as u16; GAPS as one byte for the distance to the id before (to -1
for the first), a zero byte standing for 255 on the way to a farther one. The smallest of the three is chosen: half of
the room of plain u16 ids and u8 frequencies. Numbers are little-endian. Whole segments are coded at once, since a merge
moves some 100,000 blobs; `decode` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from talekeeper.search.arrays import Bytes, Column, Positions

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
