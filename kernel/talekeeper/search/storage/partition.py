"""A partition in memory, as one snapshot of the database shows it, and how it is read.

A known state may be built upon only if this snapshot shares its history. It may not: a transaction that had searched
its own writes may have been rolled back, or the reader's snapshot may be older. Additions and removals are numbered and
carry random stamps, so one look at the last of each tells. Segments never change, so those with a known id are kept.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from talekeeper.db import Tx
from talekeeper.search.passage import Kind
from talekeeper.search.storage.codec import decoding
from talekeeper.search.storage.columns import ROW_BYTES, Bools, Columns, Shelf, check, from_rows, unpack
from talekeeper.search.storage.memtable import Memtable

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
SourceName = tuple[Kind, str, str]
_SCOPES = 4
_SCOPE_BYTES = 9  # of a passage: its label, its place on the lineage
_serial = itertools.count()


class ByteLru(Generic[K, V]):
    """A mapping with a budget, as a rule of bytes, that forgets what was used longest ago; threads may share it.

    A value larger than the whole budget is kept until the next one comes.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._held = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """The value, now the most recently used one."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def get_each(self, keys: Sequence[K]) -> dict[K, V]:
        """The values there are, now the most recently used ones."""
        with self._lock:
            found = {key: self._entries[key][0] for key in keys if key in self._entries}
            for key in found:
                self._entries.move_to_end(key)
            return found

    def put(self, key: K, value: V, size: int) -> None:
        """Keeps `value` as `size` bytes, in place of what `key` had."""
        with self._lock:
            self._held += size - self._drop(key)
            self._entries[key] = (value, size)
            while self._held > self._budget and len(self._entries) > 1:
                self._held -= self._drop(next(iter(self._entries)))

    def _drop(self, key: K) -> int:
        return self._entries.pop(key, (None, 0))[1]


class PlacedSegment(NamedTuple):
    """A segment and where its positions begin."""

    id: int
    lo: int
    hi: int
    n: int
    start: int


@dataclass(frozen=True, slots=True)
class Stack:
    """The segments of a partition, oldest first, and the average length of their passages.

    `serial` is unique in the process, for caches to go by.
    """

    segments: tuple[PlacedSegment, ...]
    average: float = field(default=0.0, compare=False)
    serial: int = field(default_factory=_serial.__next__, compare=False)

    @property
    def size(self) -> int:
        """Positions in segments."""
        return self.segments[-1].start + self.segments[-1].n if self.segments else 0


class PartRow(NamedTuple):
    """The counters of a partition in one snapshot; made and compared in each query."""

    id: int
    docs: int
    removals: int
    layout: int
    stamp: int


Mark = tuple[int, int]
"""A numbered row and the random stamp written with it: who finds both has the same history up to it."""


class Extent(NamedTuple):
    """What is known of all passages of a partition, dead ones included, so that a scope need not look at each."""

    branch: int = 0
    """The highest."""
    depth: int = -1
    """The deepest."""
    length: int = 0
    """The sum of all lengths."""
    ascends: bool = True
    """Whether no passage stands less deep than one before it."""

    def joined(self, more: Columns) -> Extent:
        """With more passages behind the last."""
        if not len(more):
            return self
        depth = more.depth
        return Extent(
            max(self.branch, int(more.branch.max())),
            max(self.depth, int(depth.max())),
            self.length + int(more.length.sum(dtype=np.int64)),
            self.ascends and bool(depth[0] >= self.depth and (depth[1:] >= depth[:-1]).all()),
        )


@dataclass(frozen=True, slots=True)
class PartState:
    """Never changes, so threads and snapshots can share it; a newer snapshot gets a state of its own built on it."""

    row: PartRow
    last_add: Mark | None
    """The last passage that was in the tail; None when the tail was empty."""
    last_removal: Mark | None
    stack: Stack
    shelf: Shelf
    columns: Columns
    extent: Extent
    live: Bools
    tail: Memtable
    sources: Mapping[SourceName, int]
    _derived: ByteLru[Hashable, Any] = field(default_factory=lambda: ByteLru(_SCOPES))

    def __len__(self) -> int:
        return len(self.live)

    @property
    def nbytes(self) -> int:
        """Roughly what it holds in memory, scopes included."""
        return len(self) * (ROW_BYTES + 1 + _SCOPES * _SCOPE_BYTES) + self.tail.nbytes + 4096

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was derived from this state earlier under `key`, or what `make` gives; the last few are kept."""
        found: T | None = self._derived.get(key)
        if found is None:
            found = make()
            self._derived.put(key, found, 1)
        return found


_ROWS = "SELECT id, docs, removals, layout, stamp FROM part WHERE id IN ({})"
_TAIL = """
SELECT tail.doc, slot, branch, depth, turn, revision, source, length, flags, terms, stamp
FROM tail JOIN doc ON doc.part = tail.part AND doc.doc = tail.doc
WHERE tail.part = ? AND tail.doc >= ? ORDER BY tail.doc
"""
_COLUMNS = 9
_HIGHEST = 1 << 32
_MOST_SOURCES = 65_535  # what the column's type holds
_DEAD = "SELECT removal, doc, stamp FROM dead WHERE part = ? AND removal >= ? ORDER BY removal"
_SEGMENTS = "SELECT id, lo, hi, n FROM segment WHERE part = ? ORDER BY lo"
_SEGMENT_COLUMNS = "SELECT columns, n, lo, hi FROM segment WHERE part = ? AND lo >= ? ORDER BY lo"
_SOURCES = "SELECT kind, plugin, namespace, id FROM part_source WHERE part = ?"


@decoding
def read_rows(tx: Tx, parts: Sequence[int]) -> dict[int, PartRow]:
    """The counters of those of `parts` that exist."""
    rows = tx.rows(_ROWS.format(", ".join("?" * len(parts))), list(parts))
    return {row[0]: PartRow(*row) for row in rows}


@decoding
def load(tx: Tx, row: PartRow, base: PartState | None) -> PartState:
    """The state of this snapshot, built on `base` as far as that is the same."""
    if base is not None and base.row.layout == row.layout:
        state = _continue(tx, row, base)
        if state is not None:
            return _checked(state, len(base))
    return _checked(_rebuild(tx, row, base), 0)


def _checked(state: PartState, known: int) -> PartState:
    """The state, whose columns beyond the `known` rows are now known to name sources that there are."""
    numbers = state.sources.values()
    if not 0 <= min(numbers, default=0) <= max(numbers, default=0) <= _MOST_SOURCES:
        raise ValueError("a source has a number that is out of range")
    if state.columns.source[known:].max(initial=0) > max(numbers, default=0):
        raise ValueError("a passage has a source that is not there")
    return state


def _continue(tx: Tx, row: PartRow, base: PartState) -> PartState | None:
    """None where the histories differ."""
    rows = tx.rows(_TAIL, (row.id, base.last_add[0] if base.last_add else base.row.docs))
    tombstones = tx.rows(_DEAD, (row.id, base.row.removals))
    if base.last_add is not None:
        if _last_mark(rows[:1]) != base.last_add:
            return None
        del rows[0]
    removed = [tombstone for tombstone in tombstones if tombstone[0] > base.row.removals]
    if _last_mark(tombstones[: len(tombstones) - len(removed)]) != base.last_removal:
        return None
    added, texts = _of_tail(rows)
    shelf = base.shelf.extend(len(base), [added])
    columns = shelf.view(len(base) + len(rows))
    live = np.ones(len(columns), np.bool_)
    live[: len(base)] = base.live
    _mark_dead(columns, live, removed)
    known = set(base.sources.values())
    return PartState(
        row=row,
        last_add=_last_mark(rows) or base.last_add,
        last_removal=_last_mark(removed) or base.last_removal,
        stack=base.stack,
        shelf=shelf,
        columns=columns,
        extent=base.extent.joined(added),
        live=live,
        tail=base.tail.extend(len(base), texts),
        sources=base.sources if known.issuperset(added.source.tolist()) else _sources(tx, row.id),
    )


def _rebuild(tx: Tx, row: PartRow, base: PartState | None) -> PartState:
    stack = _read_stack(tx, row.id)
    kept = 0 if base is None else _common(stack, base.stack)
    if base is not None and stack == base.stack:
        stack = base.stack
    start = stack.segments[kept].start if kept < len(stack.segments) else stack.size
    blobs = tx.rows(_SEGMENT_COLUMNS, (row.id, stack.segments[kept].lo)) if kept < len(stack.segments) else []
    rows, removed = tx.rows(_TAIL, (row.id, 0)), tx.rows(_DEAD, (row.id, 0))
    added, texts = _of_tail(rows)
    shelf = base.shelf if base is not None and start else Shelf()
    shelf = shelf.extend(start, [*(check(unpack(blob, n), lo, hi) for blob, n, lo, hi in blobs), added])
    columns = shelf.view(stack.size + len(rows))
    live = np.ones(len(columns), np.bool_)
    _mark_dead(columns, live, removed)
    if stack.segments and not stack.average:
        stack = replace(stack, average=float(columns.length[: stack.size].mean()))
    return PartState(
        row=row,
        last_add=_last_mark(rows),
        last_removal=_last_mark([tombstone for tombstone in removed[-1:] if tombstone[0] == row.removals]),
        stack=stack,
        shelf=shelf,
        columns=columns,
        extent=Extent().joined(columns),
        live=live,
        tail=Memtable(stack.size).extend(stack.size, texts),
        sources=_sources(tx, row.id),
    )


def _read_stack(tx: Tx, part: int) -> Stack:
    segments: list[PlacedSegment] = []
    start = 0
    for number, lo, hi, n in tx.rows(_SEGMENTS, (part,)):
        segments.append(PlacedSegment(number, lo, hi, n, start))
        start += n
    return Stack(tuple(segments))


def _common(one: Stack, other: Stack) -> int:
    """How many segments both begin with."""
    both = zip(one.segments, other.segments, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], both))


def _of_tail(rows: Sequence[Sequence[int]]) -> tuple[Columns, list[str]]:
    """The columns and the stored texts of rows of `_TAIL`."""
    return check(from_rows([row[:_COLUMNS] for row in rows]), 0, _HIGHEST), [str(row[_COLUMNS]) for row in rows]


def _last_mark(rows: Sequence[Sequence[int]]) -> Mark | None:
    """Of rows of `_TAIL` or `_DEAD`, which begin with their number and end with their stamp."""
    return (rows[-1][0], rows[-1][-1]) if rows else None


def _mark_dead(columns: Columns, live: Bools, tombstones: Sequence[Sequence[int]]) -> None:
    """Marks the passages of rows of `_DEAD` dead; some may be gone from the columns already."""
    if not tombstones or not len(columns):
        return
    wanted = np.array([doc for _, doc, _ in tombstones], np.uint32)
    places = np.minimum(np.searchsorted(columns.doc, wanted), len(columns) - 1)
    live[places[columns.doc[places] == wanted]] = False


def _sources(tx: Tx, part: int) -> Mapping[SourceName, int]:
    return {(Kind(kind), plugin, namespace): number for kind, plugin, namespace, number in tx.rows(_SOURCES, (part,))}


_SNAPSHOTS = 3


class PartCache:
    """Has a few states a partition, last used first.

    A reader on an old snapshot and a writer would else evict each other's at every query.
    """

    def __init__(self, budget: int) -> None:
        self._held: ByteLru[int, tuple[PartState, ...]] = ByteLru(budget)

    def load(self, tx: Tx, parts: Sequence[int]) -> dict[int, PartState]:
        """The states of those of `parts` that exist in this snapshot."""
        return {} if not parts else {part: self._state(tx, row) for part, row in read_rows(tx, parts).items()}

    def _state(self, tx: Tx, row: PartRow) -> PartState:
        held = self._held.get(row.id) or ()
        if held and held[0].row == row:
            return held[0]
        found = next((state for state in held if state.row == row), None)
        if found is None:
            found = load(tx, row, held[0] if held else None)
        states = (found, *(state for state in held if state is not found))[:_SNAPSHOTS]
        self._held.put(row.id, states, found.nbytes + 64 * len(states))
        return found
