"""Every statement on a tenant's table says whose rows it means."""

from __future__ import annotations

import re

from talekeeper.db import Database, Leases
from talekeeper.manifest import Namespace
from talekeeper.story import Address, Coordinate, Derived, Draft, ModelUse, Scope, Story

TENANTS = (
    "session", "branch", "lineage", "message", "message_text", "record", "tally", "declared", "job", "lease",
    "usage", "use", "decision",
)  # fmt: skip
# Asked of the whole home, and only these: what is due anywhere, and which workspaces there are.
HOME_WIDE = ("FROM upkeep ORDER BY since", "FROM workspace WHERE deleting = 0 ORDER BY")


def live_through_everything(story: Story, leases: Leases, address: Address, facts: Namespace) -> None:
    scope = Scope(address.workspace, session=address.session)
    drafts = [Draft("player", "a", ref="1"), Draft("narrator", "b", takes=(Draft("narrator", "c"),))]
    messages = story.messages.append(address, drafts)
    story.messages.append(address, drafts[:1])
    story.tree.retry(address)
    story.messages.append(address, [Draft("narrator", "d")])
    story.tree.switch_take(address, 1)
    story.tree.undo(address)
    story.tree.redo(address)
    story.tree.fork(address, Coordinate(0, 0), name="here")
    story.tree.go(address, Coordinate(0, 1))
    story.messages.answer(address, Coordinate(0, 0), [Draft("narrator", "e")])
    job = story.jobs.enqueue(address, "memory", "bank", Coordinate(0, 1), start=0)
    with leases.hold(address.workspace, "jobs") as lease:
        claimed = story.jobs.claim(address, lease)
        assert claimed is not None
        story.records.put(facts, scope, "k", {"text": "x"}, derived=Derived(0, 1, job.id))
        story.jobs.succeed(address, job.id, lease, covered=(0, 1))
    story.messages.edit(address, messages[1].id, "B")
    story.records.restore(facts, scope, "k", person=True)
    story.records.add(facts, scope, {"text": "y"}, dedupe="d")
    story.records.list(facts, scope, after="k")
    story.records.forget(facts, scope, "k")
    story.write(
        lambda tx: story.turn_log.show(address, Coordinate(0, 1), 1, [("memory", "facts", "k")], tx), name="show"
    )
    story.write(
        lambda tx: story.turn_log.decide(address, Coordinate(0, 1), 1, [("memory", "r", {})], tx), name="decide"
    )
    story.turn_log.spend(address, [ModelUse("narrator", "m", 1, 1, 1)])
    story.turn_log.spent(address, turn=1)
    story.turn_log.uses(address, "memory", "facts")
    story.turn_log.decisions(address, 1)
    story.messages.hide(address, messages[0].id)
    story.messages.delete(address, messages[0].id)
    story.messages.purge(address, [messages[0].id])
    story.index.declare(address.workspace, facts)
    story.index.rebuild()
    assert story.index.check() == []
    assert story.messages.speakers(address) == []
    story.sessions.delete(address)
    story.workspaces.delete(address.workspace)


def test_no_statement_reads_or_writes_rows_of_every_workspace(
    story: Story, db: Database, leases: Leases, address: Address, facts: Namespace
) -> None:
    seen: list[str] = []
    db.trace(seen.append)
    live_through_everything(story, leases, address, facts)
    db.trace(None)

    tenant = re.compile(rf"\b(FROM|JOIN|INTO|UPDATE) ({'|'.join(TENANTS)})\b")
    statements = {sql for sql in seen if tenant.search(sql) and not any(known in sql for known in HOME_WIDE)}
    unbound = [sql for sql in statements if not re.search(r"workspace = '|\(workspace, |VALUES \('w'", sql)]

    assert len(statements) > 100
    assert unbound == []


def test_each_statement_finds_its_rows_by_an_index(
    story: Story, db: Database, leases: Leases, address: Address, facts: Namespace
) -> None:
    seen: list[str] = []
    db.trace(seen.append)
    live_through_everything(story, leases, address, facts)
    db.trace(None)

    def scanned(sql: str) -> list[str]:
        plan = db.read(lambda tx: tx.rows(f"EXPLAIN QUERY PLAN {sql}"))
        steps = [row[3] for row in plan]
        # `r` is a record in one place and a version that stands in another; only the latter may be read through.
        named = [name for name in (*TENANTS, "m", "r", "j", "b", "o", "t") if f"SCAN {name}" in steps]
        return [name for name in named if name != "r" or not any(step.startswith("SEARCH r ") for step in steps)]

    plans = {sql: scanned(sql) for sql in set(seen) if re.match(r"SELECT|WITH|UPDATE|DELETE", sql)}

    assert {sql: names for sql, names in plans.items() if names} == {}
