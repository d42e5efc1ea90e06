"""How the postings of one term in one segment are written: the blob of `posting.data`.

A blob is a kind (u8), a zero byte, the number of passages less one (u16), then by kind:

    ONES    u16 local ids; every term frequency is 1
    PAIRS   u16 local ids, then u8 term frequencies in the same order
    DENSE   u8 term frequencies of all n passages of the segment, 0 where the term is missing

Local ids ascend and count the segment's passages from 0; numbers are little-endian. Whole segments are coded at once,
because a merge moves some 100,000 blobs.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from talekeeper.search.arrays import Bytes, Positions

ONES, PAIRS, DENSE = 1, 2, 3
HEADER = 4
_HEAD = struct.Struct("<BxH")


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of several rows, one behind the other: row i has `counts[i]` of the `ids` and `tfs`."""

    counts: Positions
    ids: Positions
    tfs: Bytes


def decode(blob: bytes) -> tuple[Positions, Bytes]:
    """Local ids and term frequencies of one blob."""
    kind, last = _HEAD.unpack_from(blob)
    df: int = last + 1
    if kind == DENSE:
        table: Bytes = np.frombuffer(blob, np.uint8, -1, HEADER)
        held = np.flatnonzero(table)
        return held, table[held]
    ids: Positions = np.frombuffer(blob, np.dtype("<u2"), df, HEADER).astype(np.intp)
    if kind == ONES:
        return ids, np.ones(df, np.uint8)
    return ids, np.frombuffer(blob, np.uint8, df, HEADER + 2 * df)


def encode_all(postings: Postings, n: int) -> list[bytes]:
    """One blob a row for a segment of `n` passages, in the kind that is smallest."""
    counts = postings.counts
    if not len(counts):
        return []
    ends = np.cumsum(counts)
    starts = ends - counts
    kinds = np.where(np.maximum.reduceat(postings.tfs, starts) == 1, ONES, PAIRS)
    kinds[3 * counts > n] = DENSE
    sizes = HEADER + np.where(kinds == DENSE, n, np.where(kinds == ONES, 2, 3) * counts)
    borders = np.concatenate(([0], np.cumsum(sizes)))
    out = np.zeros(borders[-1], np.uint8)
    heads = borders[:-1]
    out[heads] = kinds
    out[heads + 2] = (counts - 1) & 255
    out[heads + 3] = (counts - 1) >> 8
    _write_sparse(out, postings, kinds, heads + HEADER)
    for row in np.flatnonzero(kinds == DENSE).tolist():
        held = slice(starts[row], ends[row])
        out[heads[row] + HEADER + postings.ids[held]] = postings.tfs[held]
    whole = out.tobytes()
    edges = borders.tolist()
    return [whole[edges[i] : edges[i + 1]] for i in range(len(counts))]


def _write_sparse(out: Bytes, postings: Postings, kinds: Positions, bodies: Positions) -> None:
    counts = postings.counts
    row = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = bodies[row] + 2 * place
    sparse = kinds[row] != DENSE
    out[at[sparse]] = postings.ids[sparse] & 255
    out[at[sparse] + 1] = postings.ids[sparse] >> 8
    pairs = kinds[row] == PAIRS
    out[(bodies[row] + 2 * counts[row] + place)[pairs]] = postings.tfs[pairs]


def decode_all(blobs: Sequence[bytes]) -> Postings:
    """The postings of all `blobs`, a row each."""
    sizes = np.fromiter(map(len, blobs), np.intp, len(blobs))
    raw = np.frombuffer(b"".join(blobs), np.uint8)
    heads = np.cumsum(sizes) - sizes
    kinds = raw[heads]
    counts = raw[heads + 2].astype(np.intp) + (raw[heads + 3].astype(np.intp) << 8) + 1
    starts = np.cumsum(counts) - counts
    total = int(counts.sum())
    ids = np.zeros(total, np.intp)
    tfs = np.ones(total, np.uint8)
    _read_sparse(raw, kinds, counts, heads + HEADER, ids, tfs)
    for row in np.flatnonzero(kinds == DENSE).tolist():
        table = raw[heads[row] + HEADER : heads[row] + sizes[row]]
        held = slice(starts[row], starts[row] + counts[row])
        ids[held] = np.flatnonzero(table)
        tfs[held] = table[ids[held]]
    return Postings(counts, ids, tfs)


def _read_sparse(raw: Bytes, kinds: Bytes, counts: Positions, bodies: Positions, ids: Positions, tfs: Bytes) -> None:
    row = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    sparse = np.flatnonzero(kinds[row] != DENSE)
    at = bodies[row[sparse]] + 2 * place[sparse]
    ids[sparse] = raw[at] + (raw[at + 1].astype(np.intp) << 8)
    pairs = np.flatnonzero(kinds[row] == PAIRS)
    tfs[pairs] = raw[bodies[row[pairs]] + 2 * counts[row[pairs]] + place[pairs]]
