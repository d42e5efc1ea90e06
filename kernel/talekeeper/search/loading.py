"""Brings a partition's state from the database, or a known state up to the snapshot that is asked.

A known state may be built upon only if this snapshot shares its history. It may not: a transaction that had searched
its own writes may have been rolled back, or the reader's snapshot may be older. Additions and removals are numbered and
carry random stamps, so one look at the last of each tells. Segments never change, so those with a known id are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from talekeeper.db import Tx
from talekeeper.search.arrays import Bools
from talekeeper.search.columns import Columns, Shelf, check, from_rows, unpack
from talekeeper.search.damage import decoding
from talekeeper.search.passage import Kind
from talekeeper.search.state import Extent, Mark, PartRow, PartState, PlacedSegment, SourceName, Stack
from talekeeper.search.tail import Tail

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


@dataclass(frozen=True, slots=True)
class _Added:
    """Passages of the tail, in order."""

    columns: Columns
    texts: list[str]
    last: Mark | None


@dataclass(frozen=True, slots=True)
class _Removed:
    docs: list[int]
    last: Mark | None


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
    first = base.last_add.number if base.last_add else base.row.docs
    rows = tx.rows(_TAIL, (row.id, first))
    graves = tx.rows(_DEAD, (row.id, base.row.removals))
    if base.last_add is not None:
        if not rows or Mark(rows[0][0], rows[0][-1]) != base.last_add:
            return None
        del rows[0]
    if _mark_at(graves, base.row.removals) != base.last_removal:
        return None
    added, removed = _added(rows), _removed([grave for grave in graves if grave[0] > base.row.removals])
    shelf = base.shelf.extend(len(base), [added.columns])
    columns = shelf.view(len(base) + len(rows))
    live = np.ones(len(columns), np.bool_)
    live[: len(base)] = base.live
    _bury(columns, live, removed.docs)
    known = set(base.sources.values())
    return PartState(
        row=row,
        last_add=added.last or base.last_add,
        last_removal=removed.last or base.last_removal,
        stack=base.stack,
        shelf=shelf,
        columns=columns,
        extent=base.extent.joined(added.columns),
        live=live,
        tail=base.tail.extend(len(base), added.texts),
        sources=base.sources if known.issuperset(added.columns.source.tolist()) else _sources(tx, row.id),
    )


def _mark_at(graves: Sequence[Sequence[int]], removal: int) -> Mark | None:
    if graves and graves[0][0] == removal:
        return Mark(removal, graves[0][2])
    return None


def _rebuild(tx: Tx, row: PartRow, base: PartState | None) -> PartState:
    stack = _read_stack(tx, row.id)
    kept = 0 if base is None else _common(stack, base.stack)
    if base is not None and stack == base.stack:
        stack = base.stack
    start = stack.segments[kept].start if kept < len(stack.segments) else stack.size
    blobs = tx.rows(_SEGMENT_COLUMNS, (row.id, stack.segments[kept].lo)) if kept < len(stack.segments) else []
    added = _added(tx.rows(_TAIL, (row.id, 0)))
    removed = _removed(tx.rows(_DEAD, (row.id, 0)))
    shelf = base.shelf if base is not None and start else Shelf()
    shelf = shelf.extend(start, [*(check(unpack(blob, n), lo, hi) for blob, n, lo, hi in blobs), added.columns])
    columns = shelf.view(stack.size + len(added.texts))
    live = np.ones(len(columns), np.bool_)
    _bury(columns, live, removed.docs)
    if stack.segments and not stack.average:
        stack = replace(stack, average=float(columns.length[: stack.size].mean()))
    return PartState(
        row=row,
        last_add=added.last,
        last_removal=removed.last if removed.last and removed.last.number == row.removals else None,
        stack=stack,
        shelf=shelf,
        columns=columns,
        extent=Extent().joined(columns),
        live=live,
        tail=Tail(stack.size).extend(stack.size, added.texts),
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
    same = 0
    for mine, yours in zip(one.segments, other.segments, strict=False):
        if mine != yours:
            break
        same += 1
    return same


def _added(rows: Sequence[Sequence[int]]) -> _Added:
    return _Added(
        columns=check(from_rows([row[:_COLUMNS] for row in rows]), 0, _HIGHEST),
        texts=[str(row[_COLUMNS]) for row in rows],
        last=Mark(rows[-1][0], rows[-1][-1]) if rows else None,
    )


def _removed(graves: Sequence[Sequence[int]]) -> _Removed:
    last = Mark(graves[-1][0], graves[-1][2]) if graves else None
    return _Removed([grave[1] for grave in graves], last)


def _bury(columns: Columns, live: Bools, docs: Sequence[int]) -> None:
    """Marks the passages with these numbers dead; some may be gone from the columns already."""
    if not docs or not len(columns):
        return
    wanted = np.array(docs, np.uint32)
    places = np.minimum(np.searchsorted(columns.doc, wanted), len(columns) - 1)
    live[places[columns.doc[places] == wanted]] = False


def _sources(tx: Tx, part: int) -> Mapping[SourceName, int]:
    return {(Kind(kind), plugin, namespace): number for kind, plugin, namespace, number in tx.rows(_SOURCES, (part,))}
