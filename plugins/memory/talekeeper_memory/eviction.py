"""The jobs `eviction` and `facts-capacity`: past the capacity, records whose absence leaves the smallest hole go.

A hole is what lies between a record's neighbours and would be covered by none: 0 where another one begins at the same
place. The first and the last by position stay; pinned ones count as coverage and are never taken. Records are withdrawn
from here on, on this lineage alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from talekeeper.api import ROOT, JobResult, JobView, PluginContext, Record, Skip, Use

from talekeeper_memory.visibility import every, visible


def evict_memories(ctx: PluginContext, job: JobView) -> JobResult:
    """Forgets memories by the messages they cover; nothing is deleted, and a person can restore them."""
    held = visible(ctx, "bank", every(ctx.data["bank"]))
    return _evict(ctx, job, "bank", ctx.settings["bank_capacity"], held)


def thin_facts(ctx: PluginContext, job: JobView) -> JobResult:
    """Withdraws facts by their turns."""
    return _evict(ctx, job, "facts", ctx.settings["facts_capacity"], every(ctx.data["facts"]))


def _evict(ctx: PluginContext, job: JobView, namespace: str, capacity: int, records: Iterable[Record]) -> JobResult:
    """The records are read only when there may be too many."""
    count = ctx.data[namespace].count()
    if count <= capacity:
        raise Skip(f"{count} of {namespace} are within {capacity}")
    uses = ctx.data[namespace].uses()
    taken = evicted([_candidate(record, uses.get(record.key)) for record in records], capacity)
    ctx.check()
    with ctx.data.batch() as batch:
        for key in taken:
            batch.withdraw(namespace, key)
    return JobResult(did_work=bool(taken), covered=job.range, details={"withdrawn": taken[:100], "count": len(taken)})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record that covers the places `start`..`end` of the story; None where it covers none."""

    key: str
    start: int | None
    end: int | None
    pinned: bool = False
    last_used: int = -1
    used: int = 0

    @property
    def by_use(self) -> tuple[int, int, str]:
        """Least recently used first, then less used, then by key."""
        return self.last_used, self.used, self.key


def _candidate(record: Record, use: Use | None) -> Candidate:
    value = record.value
    turn = value.get("turn")
    return Candidate(
        key=record.key,
        start=value.get("from", turn),
        end=value.get("to", turn),
        # What a person wrote, changed or restored is not taken by a rule.
        pinned=bool(value.get("pinned", False)) or record.coordinate == ROOT,
        last_used=use.last_turn if use else -1,
        used=use.count if use else 0,
    )


def evicted(held: Iterable[Candidate], capacity: int) -> list[str]:
    """The keys to take, in order, until `capacity` are left; fewer when the rest are pinned."""
    left = list(held)
    surplus = len(left) - capacity
    placed = sorted((one for one in left if one.start is not None), key=lambda one: (one.start, one.end, one.key))
    chain = _Chain(placed)
    gone: list[str] = []
    while len(gone) < surplus:
        taken = chain.smallest() or _least_used(left, gone)
        if taken is None:
            break
        gone.append(taken.key)
        chain.take(taken)
    return gone


def _least_used(left: list[Candidate], gone: list[str]) -> Candidate | None:
    """For when coverage has no candidate: records without a place, then the first and the last."""
    taken = set(gone)
    free = [one for one in left if not one.pinned and one.key not in taken]
    return min(free, key=lambda one: one.by_use, default=None)


class _Chain:
    """The placed records in order, each with its neighbours; the smallest hole is read off a heap.

    After each pick only the neighbours' holes change: their entries are pushed again, and stale ones are passed over.
    """

    def __init__(self, placed: list[Candidate]) -> None:
        self._items = placed
        self._at = {one.key: index for index, one in enumerate(placed)}
        self._before = [index - 1 for index in range(len(placed))]
        self._after = [index + 1 if index + 1 < len(placed) else -1 for index in range(len(placed))]
        self._gone: set[int] = set()
        self._heap: list[tuple[int, tuple[int, int, str], int]] = []
        for index in range(len(placed)):
            self._push(index)

    def smallest(self) -> Candidate | None:
        """The candidate with the smallest hole, ties by use; None when only ends and pins are left."""
        while self._heap:
            hole, _, index = self._heap[0]
            if index not in self._gone and self._hole(index) == hole:
                return self._items[index]
            heapq.heappop(self._heap)
        return None

    def take(self, one: Candidate) -> None:
        """Takes a record out; its neighbours close up."""
        index = self._at.get(one.key)
        if index is None:
            return
        self._gone.add(index)
        before, after = self._before[index], self._after[index]
        if before >= 0:
            self._after[before] = after
            self._push(before)
        if after >= 0:
            self._before[after] = before
            self._push(after)

    def _push(self, index: int) -> None:
        hole = self._hole(index)
        if hole is not None:
            heapq.heappush(self._heap, (hole, self._items[index].by_use, index))

    def _hole(self, index: int) -> int | None:
        """None for ends and pinned ones."""
        one, before, after = self._items[index], self._before[index], self._after[index]
        if one.pinned or before < 0 or after < 0:
            return None
        left, right = self._items[before], self._items[after]
        if one.start in {left.start, right.start}:
            return 0
        return max(0, (right.start or 0) - (left.end or 0) - 1)
