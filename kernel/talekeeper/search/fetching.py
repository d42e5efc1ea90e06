"""Reads the postings of terms: from the cache, from segments in one statement, and from the tail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from talekeeper.db import Tx
from talekeeper.search.arrays import Bytes, Positions
from talekeeper.search.bm25 import Chunk
from talekeeper.search.codec import decode
from talekeeper.search.lru import ByteLru
from talekeeper.search.state import PartState, Stack

_NOTHING: Chunk = (np.empty(0, np.intp), np.empty(0, np.uint8))
_OVERHEAD = 300  # bytes of a cache entry beside its arrays
_POSTINGS = "SELECT segment, term, data FROM posting WHERE segment IN ({}) AND term IN ({})"
_AT_ONCE = 500  # terms a statement

PostingCache = ByteLru[tuple[int, str], Chunk]
"""(serial of a stack, term) → positions and frequencies in all its segments. Segments never change, so it is right."""


def fetch(
    tx: Tx, cache: PostingCache, states: Sequence[PartState], terms: Sequence[str]
) -> list[dict[str, list[Chunk]]]:
    """For each state, the chunks of each term it holds: of its segments, then of its tail."""
    settled = _settled(tx, cache, [state.stack for state in states], terms)
    return [
        {term: chunks for term in terms if (chunks := list(_chunks(state, term, settled[state.stack.serial, term])))}
        for state in states
    ]


def _chunks(state: PartState, term: str, settled: Chunk) -> Iterator[Chunk]:
    if len(settled[0]):
        yield settled
    unsettled = state.tail.find(term, len(state))
    if unsettled is not None and len(unsettled[0]):
        yield unsettled


def _settled(
    tx: Tx, cache: PostingCache, stacks: Sequence[Stack], terms: Sequence[str]
) -> dict[tuple[int, str], Chunk]:
    found: dict[tuple[int, str], Chunk] = {}
    lacking: dict[str, None] = {}
    for stack in stacks:
        for term in terms:
            chunk = cache.get((stack.serial, term)) if stack.segments else _NOTHING
            if chunk is None:
                lacking[term] = None
            else:
                found[stack.serial, term] = chunk
    if lacking:
        read = _read(tx, stacks, list(lacking))
        for stack in stacks:
            for term in lacking:
                if (stack.serial, term) not in found:
                    chunk = _joined(stack, read[term])
                    found[stack.serial, term] = chunk
                    cache.put((stack.serial, term), chunk, chunk[0].nbytes + chunk[1].nbytes + _OVERHEAD)
    return found


def _read(tx: Tx, stacks: Sequence[Stack], terms: Sequence[str]) -> dict[str, dict[int, bytes]]:
    """Term → segment → blob."""
    segments = [segment.id for stack in stacks for segment in stack.segments]
    read: dict[str, dict[int, bytes]] = defaultdict(dict)
    for start in range(0, len(terms), _AT_ONCE):
        some = terms[start : start + _AT_ONCE]
        for segment, term, data in tx.rows(_POSTINGS.format(_marks(segments), _marks(some)), [*segments, *some]):
            read[term][segment] = data
    return read


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _joined(stack: Stack, blobs: dict[int, bytes]) -> Chunk:
    positions: list[Positions] = []
    tfs: list[Bytes] = []
    for segment in stack.segments:
        blob = blobs.get(segment.id)
        if blob is not None:
            ids, counts = decode(blob)
            ids += segment.start
            positions.append(ids)
            tfs.append(counts)
    return (np.concatenate(positions), np.concatenate(tfs)) if positions else _NOTHING
