"""The postings of a query's terms: read from cache, segments and memtable, and narrowed to what the query may see.

Rare terms are held all together (`JoinedPostings`), the others one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from talekeeper.db import Tx
from talekeeper.search.passage import Kind
from talekeeper.search.query.bm25 import K1, B, worth
from talekeeper.search.query.scope import Scope, label_of
from talekeeper.search.storage.codec import decode_all, decoding
from talekeeper.search.storage.columns import Bools, Bytes, Doubles, Ids, Positions, Singles
from talekeeper.search.storage.partition import ByteLru, PartState


@dataclass(frozen=True, slots=True)
class SparsePostings:
    """A term in all segments of a partition: ascending positions, its frequency there, and what it is roughly worth.

    Worth is what BM25 gives messages without idf, with the average length of the segments for the scope's; a term of
    few postings has none.
    """

    positions: Ids
    tfs: Bytes
    worth: Singles | None = None

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.positions.nbytes + self.tfs.nbytes + (0 if self.worth is None else self.worth.nbytes)

    def within(self, first: int, end: int) -> SparsePostings:
        """The postings from position `first` to before `end`."""
        start, stop = self.positions.searchsorted(np.array((first, end), np.int32)).tolist()
        return self._part(slice(start, stop))

    def where(self, is_seen: Bools) -> SparsePostings:
        """The postings at positions for which `is_seen` is true."""
        return self._part(is_seen.take(self.positions))

    def of(self, wanted: Ids) -> Bytes:
        """Frequencies at these positions; 0 where the term is missing."""
        at = self.positions.searchsorted(wanted)
        is_held = self.positions.take(at, mode="clip") == wanted
        held: Bytes = self.tfs.take(at, mode="clip") * is_held
        return held

    def _part(self, chosen: slice | Bools) -> SparsePostings:
        return SparsePostings(
            self.positions[chosen], self.tfs[chosen], None if self.worth is None else self.worth[chosen]
        )


@dataclass(frozen=True, slots=True)
class DensePostings:
    """A term that many passages hold, in all segments of a partition: frequency and worth of every position."""

    tfs: Bytes
    worth: Singles
    df: int

    def __len__(self) -> int:
        return self.df

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.tfs.nbytes + self.worth.nbytes

    def within(self, first: int, end: int) -> SparsePostings:
        """The postings from position `first` to before `end`."""
        held: Positions = (self.tfs[first:end] != 0).nonzero()[0]
        held += first
        return SparsePostings(held.astype(np.int32), self.tfs.take(held), self.worth.take(held))

    def of(self, wanted: Ids) -> Bytes:
        """Frequencies at these positions; 0 where the term is missing, and beyond the segments."""
        held: Bytes = self.tfs.take(wanted, mode="clip") * (wanted < len(self.tfs))
        return held


@dataclass(frozen=True, slots=True)
class JoinedPostings:
    """Postings of several terms, one behind the other: `which` has for each the place of its term in `terms`."""

    terms: tuple[str, ...]
    positions: Positions
    tfs: Bytes
    which: Positions

    def __len__(self) -> int:
        return len(self.positions)


class Postings(NamedTuple):
    """What one partition has of the terms of a query: `heavy` terms, and all other postings in `light`.

    A heavy term has postings in `light`, too, where passages of the tail hold it. `average` is the one that the worth
    of the heavy ones was made with.
    """

    heavy: Mapping[str, SparsePostings | DensePostings]
    light: JoinedPostings
    average: float

    def df(self) -> dict[str, int]:
        """How many passages hold each term."""
        counts = np.bincount(self.light.which, minlength=len(self.light.terms)).tolist()
        df = dict(zip(self.light.terms, counts, strict=True))
        for term, listed in self.heavy.items():
            df[term] += len(listed)
        return df


def frequencies(postings: Postings, terms: Sequence[str], positions: Positions) -> Doubles:
    """Term frequencies of ascending `positions` (rows) for `terms` (columns), which are among those of the postings."""
    light = postings.light
    table = np.zeros((len(positions), len(light.terms)))
    if len(positions):
        wanted = positions.astype(np.int32)  # of another type than the postings, it would have them copied
        for term, listed in postings.heavy.items():
            table[:, light.terms.index(term)] = listed.of(wanted)
        is_wanted = np.zeros(positions[-1] + 2, np.bool_)
        is_wanted[positions] = True
        found = is_wanted.take(light.positions, mode="clip").nonzero()[0]
        table[positions.searchsorted(light.positions.take(found)), light.which.take(found)] = light.tfs.take(found)
    return table if tuple(terms) == light.terms else table[:, [light.terms.index(term) for term in terms]]


Term = SparsePostings | DensePostings
_NOTHING = SparsePostings(np.empty(0, np.int32), np.empty(0, np.uint8))
_LIGHT = 1024  # postings; a term with no more is added up together with others like it, whose worth is not kept
_OVERHEAD = 400  # bytes of a cache entry beside its arrays
_POSTINGS = "SELECT segment, term, data FROM posting WHERE segment IN ({}) AND term IN ({})"
_AT_ONCE = 500  # terms a statement
_TOGETHER = 1 << 18  # bytes of postings decoded together
_SELDOM = 8  # a term in more than one of so many passages is added to all scores, held or not, which is faster
_MANY = 1 << 18  # positions; with more, all scores do not fit a processor's cache, and
_SELDOM_OF_MANY = 2  # half of them must hold a term before that is faster (0.8 ms at a million)

PostingCache = ByteLru[tuple[int, str], Term]
"""(serial of a stack, term) → its postings in all segments. Segments never change, so it is right."""


@decoding
def fetch(tx: Tx, cache: PostingCache, states: Sequence[PartState], terms: Sequence[str]) -> list[Postings]:
    """For each state, what it holds of the terms."""
    settled = _settled(tx, cache, states, terms)
    return [_postings(state, held, terms) for state, held in zip(states, settled, strict=True)]


def _postings(state: PartState, settled: Mapping[str, Term], terms: Sequence[str]) -> Postings:
    tail = state.tail.find(terms, len(state))
    heavy: dict[str, Term] = {}
    light: list[SparsePostings] = []
    places: list[int] = []
    for place, term in enumerate(terms):
        listed = settled.get(term, _NOTHING)
        if isinstance(listed, DensePostings) or listed.worth is not None:
            heavy[term] = listed
        else:
            light.append(listed)
            places.append(place)
    joined = JoinedPostings(
        tuple(terms),
        np.concatenate([*[listed.positions for listed in light], tail.positions], dtype=np.intp),
        np.concatenate([*[listed.tfs for listed in light], tail.tfs]),
        np.array([*places, *range(len(terms))], np.intp).repeat([*[listed.tfs.size for listed in light], *tail.counts]),
    )
    return Postings(heavy, joined, state.stack.average)


def _settled(tx: Tx, cache: PostingCache, states: Sequence[PartState], terms: Sequence[str]) -> list[dict[str, Term]]:
    found: list[dict[str, Term]] = []
    lacking: dict[str, None] = {}
    for state in states:
        serial = state.stack.serial
        kept = {term: listed for (_, term), listed in cache.get_each([(serial, term) for term in terms]).items()}
        found.append(kept)
        if state.stack.segments:
            lacking.update(dict.fromkeys([term for term in terms if term not in kept]))
    if lacking:
        blobs = _read(tx, states, list(lacking))
        for state, held in zip(states, found, strict=True):
            for some in _groups(state, blobs, [term for term in lacking if term not in held]):
                for term, listed in _decoded(state, blobs, some):
                    held[term] = listed
                    cache.put((state.stack.serial, term), listed, listed.nbytes + _OVERHEAD)
    return found


def _read(tx: Tx, states: Sequence[PartState], terms: Sequence[str]) -> dict[tuple[int, str], bytes]:
    """(segment, term) → blob."""
    segments = [segment.id for state in states for segment in state.stack.segments]
    blobs: dict[tuple[int, str], bytes] = {}
    for start in range(0, len(terms), _AT_ONCE):
        some = terms[start : start + _AT_ONCE]
        for segment, term, data in tx.rows(_POSTINGS.format(_marks(segments), _marks(some)), [*segments, *some]):
            blobs[segment, term] = data
    return blobs


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _groups(state: PartState, blobs: Mapping[tuple[int, str], bytes], terms: Sequence[str]) -> Iterator[Sequence[str]]:
    """Terms to decode together: few enough for what is made on the way to stay small."""
    group: list[str] = []
    room = _TOGETHER
    for term in terms:
        size = sum(len(blobs.get((one.id, term), b"")) for one in state.stack.segments)
        if size > _TOGETHER:
            yield [term]
            continue
        group.append(term)
        room -= size
        if room < 0:
            yield group
            group, room = [], _TOGETHER
    if group:
        yield group


def _decoded(
    state: PartState, blobs: Mapping[tuple[int, str], bytes], terms: Sequence[str]
) -> Iterator[tuple[str, Term]]:
    """Each term's postings in all segments of the state."""
    held = [(term, one) for term in terms for one in state.stack.segments if (one.id, term) in blobs]
    if not held:
        yield from ((term, _NOTHING) for term in terms)
        return
    sizes, starts = np.array([(one.n, one.start) for _, one in held], np.intp).T
    postings = decode_all([blobs[one.id, term] for term, one in held], sizes, starts)
    positions: Ids = postings.ids.astype(np.int32, copy=False)
    if len(terms) == 1:
        yield terms[0], _term(state, positions, postings.tfs)
        return
    lengths: dict[str, int] = dict.fromkeys(terms, 0)
    for (term, _), count in zip(held, postings.counts.tolist(), strict=True):
        lengths[term] += count
    end = 0
    for term, size in lengths.items():
        start, end = end, end + size  # copied, for a slice would keep the arrays of all terms
        yield term, _term(state, positions[start:end].copy(), postings.tfs[start:end].copy())


def _term(state: PartState, positions: Ids, tfs: Bytes) -> Term:
    if len(positions) <= _LIGHT:
        return SparsePostings(positions, tfs)
    size = state.stack.size
    if len(positions) * (_SELDOM if size <= _MANY else _SELDOM_OF_MANY) <= size:
        return SparsePostings(
            positions, tfs, worth(tfs, state.columns.length.take(positions), state.stack.average, K1, B)
        )
    spread = np.zeros(size, np.uint8)
    spread[positions] = tfs
    return DensePostings(spread, worth(spread, state.columns.length[:size], state.stack.average, K1, B), len(positions))


def narrow(postings: Postings, scope: Scope, kind: Kind) -> Postings:
    """What is in scope and of `kind`.

    A scope is often one stretch of positions, such as some turns, so the ends are cut off before single ones are
    looked at.
    """
    if scope.is_whole(kind):
        return postings
    label, (first, end) = label_of(kind), scope.span(kind)
    is_seen = scope.labels == label
    is_solid = scope.counts[kind] == end - first
    heavy: dict[str, SparsePostings] = {}
    for term, listed in postings.heavy.items():
        inside = listed.within(first, end)
        if not is_solid:
            inside = inside.where(is_seen)
        if len(inside):
            heavy[term] = inside
    light = postings.light
    chosen = is_seen.take(light.positions)
    seen = JoinedPostings(light.terms, light.positions[chosen], light.tfs[chosen], light.which[chosen])
    return Postings(heavy, seen, postings.average)
