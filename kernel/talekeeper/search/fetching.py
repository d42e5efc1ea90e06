"""Reads the postings of terms: from the cache, from segments in one statement, and from the tail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from talekeeper.db import Tx
from talekeeper.search.bm25 import Chunk
from talekeeper.search.codec import decode_all
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
        blobs = _read(tx, stacks, list(lacking))
        for stack in stacks:
            for term, chunk in _decoded(stack, blobs, [term for term in lacking if (stack.serial, term) not in found]):
                found[stack.serial, term] = chunk
                cache.put((stack.serial, term), chunk, chunk[0].nbytes + chunk[1].nbytes + _OVERHEAD)
    return found


def _read(tx: Tx, stacks: Sequence[Stack], terms: Sequence[str]) -> dict[tuple[int, str], bytes]:
    """(segment, term) → blob."""
    segments = [segment.id for stack in stacks for segment in stack.segments]
    blobs: dict[tuple[int, str], bytes] = {}
    for start in range(0, len(terms), _AT_ONCE):
        some = terms[start : start + _AT_ONCE]
        for segment, term, data in tx.rows(_POSTINGS.format(_marks(segments), _marks(some)), [*segments, *some]):
            blobs[segment, term] = data
    return blobs


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _decoded(stack: Stack, blobs: Mapping[tuple[int, str], bytes], terms: Sequence[str]) -> Iterator[tuple[str, Chunk]]:
    """Each term's postings in all segments of the stack."""
    held = [(term, one.start, one.id) for term in terms for one in stack.segments if (one.id, term) in blobs]
    postings = decode_all([blobs[segment, term] for term, _, segment in held])
    positions = postings.ids + np.repeat(np.array([start for _, start, _ in held], np.intp), postings.counts)
    sizes: dict[str, int] = dict.fromkeys(terms, 0)
    for (term, _, _), count in zip(held, postings.counts.tolist(), strict=True):
        sizes[term] += count
    end = 0
    for term, size in sizes.items():
        start, end = end, end + size
        yield term, (positions[start:end].copy(), postings.tfs[start:end].copy())
