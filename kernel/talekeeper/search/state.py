"""A partition in memory, as one snapshot of the database shows it."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from talekeeper.search.arrays import Bools
from talekeeper.search.columns import ROW_BYTES, Columns, Shelf
from talekeeper.search.passage import Kind
from talekeeper.search.tail import Tail

if TYPE_CHECKING:
    from talekeeper.search.scope import Scope, Wanted

SourceName = tuple[Kind, str, str]
_SCOPES = 4
_SCOPE_BYTES = 9  # of a passage: its label, its place on the lineage
_serial = itertools.count()


@dataclass(frozen=True, slots=True)
class PlacedSegment:
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


@dataclass(frozen=True, slots=True)
class Mark:
    """A numbered row and the random stamp written with it: who finds both has the same history up to it."""

    number: int
    stamp: int


@dataclass(frozen=True, slots=True)
class Extent:
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
    tail: Tail
    sources: Mapping[SourceName, int]
    _scopes: OrderedDict[Wanted, Scope] = field(default_factory=OrderedDict["Wanted", "Scope"])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __len__(self) -> int:
        return len(self.live)

    @property
    def nbytes(self) -> int:
        """Roughly what it holds in memory, scopes included."""
        return len(self) * (ROW_BYTES + 1 + _SCOPES * _SCOPE_BYTES) + self.tail.nbytes + 4096

    def scope(self, wanted: Wanted, make: Callable[[PartState, Wanted], Scope]) -> Scope:
        """The scope made earlier for the same wish, or a new one."""
        with self._lock:
            found = self._scopes.get(wanted)
            if found is not None:
                self._scopes.move_to_end(wanted)
                return found
        made = make(self, wanted)
        with self._lock:
            self._scopes[wanted] = made
            while len(self._scopes) > _SCOPES:
                self._scopes.popitem(last=False)
        return made
