"""The jobs `eviction` and `facts-capacity`: withdraw what is too many from here on, on this lineage alone."""

from __future__ import annotations

from collections.abc import Iterable

from talekeeper.api import ROOT, JobResult, JobView, PluginContext, Record, Skip, Use

from talekeeper_memory.eviction import Candidate, evicted
from talekeeper_memory.pages import every
from talekeeper_memory.visibility import standing


def evict_memories(ctx: PluginContext, job: JobView) -> JobResult:
    """Forgets memories by the messages they cover; nothing is deleted, and a person can restore them."""
    held = standing(ctx, "bank", every(ctx.data["bank"]))
    return _keep(ctx, job, "bank", ctx.settings["bank_capacity"], held)


def thin_facts(ctx: PluginContext, job: JobView) -> JobResult:
    """Withdraws facts by the turns they tell of."""
    return _keep(ctx, job, "facts", ctx.settings["facts_capacity"], every(ctx.data["facts"]))


def _keep(ctx: PluginContext, job: JobView, namespace: str, capacity: int, records: Iterable[Record]) -> JobResult:
    """The records are read only when there may be too many."""
    count = ctx.data[namespace].count()
    if count <= capacity:
        raise Skip(f"{count} of {namespace} are within {capacity}")
    uses = ctx.data[namespace].uses()
    held = [_held(record, uses.get(record.key)) for record in records]
    taken = evicted(held, capacity)
    ctx.check()
    with ctx.data.batch() as batch:
        for key in taken:
            batch.withdraw(namespace, key)
    return JobResult(did_work=bool(taken), covered=job.range, details={"withdrawn": taken[:100], "count": len(taken)})


def _held(record: Record, use: Use | None) -> Candidate:
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
