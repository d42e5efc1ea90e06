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
    """The keys to take, in order, until `capacity` are left; fewer when the rest are pinned.

    The smallest hole is read off a heap. After each pick only the neighbours' holes change: their entries are pushed
    again, and stale ones are passed over.
    """
    left = {one.key: one for one in held}
    placed = sorted(
        (one for one in left.values() if one.start is not None), key=lambda one: (one.start, one.end, one.key)
    )
    before = dict(zip((one.key for one in placed), [None, *placed], strict=False))
    after = dict(zip((one.key for one in placed), [*placed[1:], None], strict=False))
    holes: dict[str, int | None] = {}
    heap: list[tuple[int, tuple[int, int, str]]] = []

    def note(one: Candidate | None) -> None:
        if one is not None:
            hole = holes[one.key] = _hole(before[one.key], one, after[one.key])
            if hole is not None:
                heapq.heappush(heap, (hole, one.by_use))

    for one in placed:
        note(one)
    gone: list[str] = []
    while len(left) > capacity:
        while heap and holes.get(heap[0][1][-1]) != heap[0][0]:
            heapq.heappop(heap)
        # Where coverage has no candidate: records without a place, the first and the last.
        free = [heap[0][1]] if heap else [one.by_use for one in left.values() if not one.pinned]
        if not free:
            break
        key = min(free)[-1]
        gone.append(key)
        del left[key]
        holes.pop(key, None)
        earlier, later = before.pop(key, None), after.pop(key, None)
        if earlier is not None:
            after[earlier.key] = later
        if later is not None:
            before[later.key] = earlier
        note(earlier)
        note(later)
    return gone


def _hole(left: Candidate | None, one: Candidate, right: Candidate | None) -> int | None:
    """None for ends and pinned ones."""
    if one.pinned or left is None or right is None:
        return None
    if one.start in {left.start, right.start}:
        return 0
    return max(0, (right.start or 0) - (left.end or 0) - 1)
