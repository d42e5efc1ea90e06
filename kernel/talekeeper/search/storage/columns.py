"""What filters and lengths need of every passage, as one array a column; a row is a passage's *position*.

Positions run through a partition's segments and then its tail, in the order of passage numbers. A segment stores its
columns as one blob of little-endian numbers:

    u32 2^31 + the sum of 2^i for each field i that is short · for each field below, in this order, its values

A field has n values; a short one has a single value for all passages, but `slot` has none then and is `doc`. A story's
messages take 15 bytes so in place of 29, or less. Four-byte fields come first, so that every array is aligned wherever
the blob begins on a four-byte border. A blob that does not begin so has no short fields and no such head.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The array types of all of search.
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Positions = NDArray[np.intp]
Ints = NDArray[np.int64]
Ids = NDArray[np.int32]
Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]
Column = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Columns:
    """Equally long arrays. `doc` ascends; `slot` is the first passage number of the passage's key."""

    doc: Column
    slot: Column
    branch: Column
    depth: Column
    turn: Column
    revision: Column
    source: Column
    length: Column
    flags: Column

    def __len__(self) -> int:
        return len(self.doc)


TYPES: dict[str, np.dtype[np.integer[Any]]] = {
    "doc": np.dtype("<u4"),
    "slot": np.dtype("<u4"),
    "branch": np.dtype("<i4"),
    "depth": np.dtype("<i4"),
    "turn": np.dtype("<i4"),
    "revision": np.dtype("<u4"),
    "source": np.dtype("<u2"),
    "length": np.dtype("<u2"),
    "flags": np.dtype("u1"),
}
NAMES = tuple(field.name for field in fields(Columns))
_HEAD = 4
_MARK = 1 << 31
ROW_BYTES = sum(kind.itemsize for kind in TYPES.values())


def from_rows(rows: Sequence[Sequence[int]]) -> Columns:
    """Turns rows with the values in the order of `NAMES` into columns."""
    return Columns(*(np.array([row[i] for row in rows], TYPES[name]) for i, name in enumerate(NAMES)))


def pack(columns: Columns) -> bytes:
    """The blob of a segment."""
    head = _MARK
    values: list[bytes] = []
    for place, name in enumerate(NAMES):
        column: Column = getattr(columns, name).astype(TYPES[name], copy=False)
        if len(column) and bool((column == (columns.doc if name == "slot" else column[0])).all()):
            head |= 1 << place
            column = column[: name != "slot"]
        values.append(column.tobytes())
    return b"".join([head.to_bytes(_HEAD, "little"), *values])


def unpack(blob: bytes, n: int) -> Columns:
    """Views into `blob`, read-only; raises `ValueError` for a blob that was not packed from `n` rows."""
    head = int.from_bytes(blob[:_HEAD], "little")
    start = _HEAD if head & _MARK else 0
    short = [bool(start and head >> place & 1) for place in range(len(NAMES))]
    counts = [(name != "slot") if is_short else n for name, is_short in zip(NAMES, short, strict=True)]
    if len(blob) != start + sum(count * TYPES[name].itemsize for name, count in zip(NAMES, counts, strict=True)):
        raise ValueError(f"{len(blob)} bytes are not {n} rows")
    arrays: dict[str, Column] = {}
    for name, count, is_short in zip(NAMES, counts, short, strict=True):
        values = np.frombuffer(blob, TYPES[name], count, start) if count else arrays["doc"]
        arrays[name] = np.broadcast_to(values, n) if is_short else values
        start += count * TYPES[name].itemsize
    return Columns(**arrays)


def check(columns: Columns, lo: int, hi: int) -> Columns:
    """The same columns; raises `ValueError` where they are not those of passages `lo` to `hi` - 1."""
    doc = columns.doc
    if len(doc) and not (lo <= doc[0] and doc[-1] < hi and bool((doc[1:] > doc[:-1]).all())):
        raise ValueError("passages are numbered otherwise than they should be")
    if columns.branch.min(initial=0) < 0:
        raise ValueError("a branch has a negative number")
    return columns


def take(columns: Columns, rows: Positions | slice) -> Columns:
    """The chosen rows."""
    return Columns(*(getattr(columns, name)[rows] for name in NAMES))


def concatenate(parts: Sequence[Columns]) -> Columns:
    """All rows, one behind the other; at least one part."""
    return Columns(*(np.concatenate([getattr(part, name) for part in parts]) for name in NAMES))


class Shelf:
    """Columns that grow at the end, shared by the states of a partition that have a beginning in common.

    A state sees the first rows only, so rows put behind them do not disturb it.
    """

    def __init__(self, room: int = 0) -> None:
        self._arrays = {name: np.empty(room, TYPES[name]) for name in NAMES}
        self._used = 0
        self._lock = threading.Lock()

    def view(self, n: int) -> Columns:
        """The first `n` rows."""
        return Columns(*(self._arrays[name][:n] for name in NAMES))

    def extend(self, n: int, parts: Sequence[Columns]) -> Shelf:
        """A shelf whose first `n` rows are this one's and whose next are those of `parts`; itself when it can be.

        It cannot where somebody else has put other rows behind the first `n`.
        """
        more = sum(map(len, parts))
        with self._lock:
            if self._used == n:
                self._append(n + more, parts)
                return self
        fresh = Shelf(_room(n + more))
        fresh._append(n + more, [self.view(n), *parts])
        return fresh

    def _append(self, size: int, parts: Sequence[Columns]) -> None:
        for name in NAMES:
            array = self._arrays[name]
            if size > len(array):
                array = np.empty(_room(size), TYPES[name])
                array[: self._used] = self._arrays[name][: self._used]
                self._arrays[name] = array
            start = self._used
            for part in parts:
                array[start : start + len(part)] = getattr(part, name)
                start += len(part)
        self._used = size


def _room(size: int) -> int:
    """A third more than asked, so that growing one by one costs O(1) a row."""
    return size + size // 3 + 64
