"""What an operation costs, counted in steps of SQLite's virtual machine, does not depend on how the story grew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest
from talekeeper.db import Database, Lease, Leases, Tx
from talekeeper.manifest import Namespace
from talekeeper.search import Index, PartScope, Query, Source, maintain_index
from talekeeper.story import Address, Draft, Scope, Story

TURNS = 400
STEP = 20  # virtual machine instructions a tick


@pytest.fixture
def steps(db: Database) -> Callable[[Callable[[], object]], int]:
    """Ticks that an operation takes on whatever connection it uses."""

    def steps(operation: Callable[[], object]) -> int:
        operation()  # so that connections and statements are there
        ticks = 0

        def tick() -> int:
            nonlocal ticks
            ticks += 1
            return 0

        connections = [db._connection(), *db._idle]  # pyright: ignore[reportPrivateUsage] -- SQLite counts its steps a connection
        for connection in connections:
            connection.set_progress_handler(tick, STEP)
        operation()
        for connection in connections:
            connection.set_progress_handler(None, 0)
        return ticks

    return steps


Steps = Callable[[Callable[[], object]], int]


def tell(story: Story, name: str, *, retried: bool) -> Address:
    address = story.sessions.create("w", session_id=name).address
    if not retried:
        story.messages.append(
            address, [Draft("player" if number % 2 == 0 else "narrator", "x") for number in range(2 * TURNS)]
        )
        return address

    def turns(tx: Tx) -> None:
        for _ in range(TURNS):
            story.messages.append(address, [Draft("player", "x"), Draft("narrator", "x")], tx=tx)
            story.tree.retry(address, tx=tx)
            story.messages.append(address, [Draft("narrator", "x")], tx=tx)

    story.write(turns, name="turns")
    assert len(story.tree.lineage(address)) == TURNS + 1
    return address


def test_the_last_messages_cost_the_same_in_a_story_retried_at_every_turn(story: Story, steps: Steps) -> None:
    plain, retried = tell(story, "plain", retried=False), tell(story, "retried", retried=True)

    costs = [steps(partial(story.messages.read, address, last=50)) for address in (plain, retried)]

    assert len(story.messages.read(retried, last=50)) == 50
    assert costs[1] <= 2 * costs[0]


def test_appending_costs_the_same_however_long_the_story_is(story: Story, steps: Steps) -> None:
    addresses = [
        story.sessions.create("w", session_id="fresh").address,
        tell(story, "plain", retried=False),
        tell(story, "retried", retried=True),
    ]

    costs = [steps(partial(story.messages.append, address, [Draft("player", "x")])) for address in addresses]

    assert max(costs) <= 2 * min(costs)


def test_moving_about_at_the_tip_costs_the_same_however_often_it_was_retried(story: Story, steps: Steps) -> None:
    addresses = [tell(story, "plain", retried=False), tell(story, "retried", retried=True)]

    def retry_and_redo(address: Address) -> None:
        story.tree.retry(address)
        story.tree.redo(address)

    costs = [steps(partial(retry_and_redo, address)) for address in addresses]

    assert costs[1] <= 3 * costs[0]


def test_adding_to_a_namespace_costs_the_same_however_full_it_is(story: Story, steps: Steps, facts: Namespace) -> None:
    costs: list[int] = []
    unsearched = replace(facts, search=None)  # the index counts its own cost
    address = story.sessions.create("w", session_id="s").address
    story.messages.append(address, [Draft("player", "x")])
    scope = Scope("w", session="s")
    for size in (1, 300):

        def fill(tx: Tx, size: int = size) -> None:
            for number in range(size):
                story.records.add(unsearched, scope, {"text": f"fact {number}"}, tx=tx)

        story.write(fill, name="fill")
        costs.append(steps(partial(story.records.add, unsearched, scope, {"text": "another"})))

    assert costs[1] <= 2 * costs[0]


def test_a_job_costs_the_same_however_long_the_ledger_is(
    story: Story, steps: Steps, leases: Leases, address: Address
) -> None:
    (message,) = story.messages.append(address, [Draft("player", "x")])
    costs: list[int] = []

    def one_more(work: Callable[..., None], names: Iterator[str]) -> None:
        story.write(partial(work, name=next(names)), name="work")

    for size in (2, 300):
        with leases.hold("w", "jobs") as lease:

            def work(tx: Tx, name: str, lease: Lease = lease) -> None:
                story.jobs.enqueue(address, "memory", name, message.coordinate, start=0, tx=tx)
                job = story.jobs.claim(address, lease, tx=tx)
                assert job is not None
                story.jobs.succeed(address, job.id, lease, tx=tx)

            for number in range(size):
                story.write(partial(work, name=f"kind {size} {number}"), name="work")
            names = (f"last {size} {number}" for number in range(9))
            costs.append(steps(partial(one_more, work, names)))

    assert costs[1] <= 2 * costs[0]


def test_the_newest_messages_cost_the_same_in_a_story_of_five_thousand(story: Story, steps: Steps) -> None:
    short, long = (story.sessions.create("w", session_id=name).address for name in ("short", "long"))
    story.messages.append(short, [Draft("narrator", "x") for _ in range(50)])
    story.messages.append(long, [Draft("narrator", "x") for _ in range(5_000)])

    costs = [steps(partial(story.messages.read, address, last=50)) for address in (short, long)]

    assert costs[1] <= 2 * costs[0]


def test_a_rare_word_costs_the_same_in_a_story_of_five_thousand(
    story: Story, index: Index, db: Database, steps: Steps
) -> None:
    """Once the partition is in memory; then a query reads only the postings of its words."""

    def ask(tx: Tx, address: Address) -> int:
        part = index.part_for(tx, address.workspace, address.session, "")
        scope = PartScope(part, story.tree.lineage(address, tx=tx))
        return len(index.search(tx, Query(("1007",), (scope,), (Source(),), neighbours=False)).hits)

    costs: list[int] = []
    for name, size in (("short", 50), ("long", 5_000)):
        address = story.sessions.create("w", session_id=name).address
        story.messages.append(address, [Draft("narrator", str(1000 + number)) for number in range(size)])
        maintain_index(db)
        search = partial(ask, address=address)
        assert story.read(search) == 1
        costs.append(steps(partial(story.read, search)))

    assert costs[1] <= 3 * costs[0]
