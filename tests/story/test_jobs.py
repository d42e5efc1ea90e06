"""The ledger: one piece of work once, taken up again after a death, never in another's way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Lease, Leases
from talekeeper.errors import Conflict, NotFound, ParameterError, StoreUnusable
from talekeeper.manifest import Namespace
from talekeeper.story import ROOT, Address, Coordinate, Derived, Draft, Job, JobState, Message, Scope, Story
from talekeeper.story.ledger import MAX_ATTEMPTS, MAX_BACKLOG

Say = Callable[..., list[Message]]


@pytest.fixture
def lease(leases: Leases) -> Iterator[Lease]:
    with leases.hold("w", "jobs/s") as lease:
        yield lease


@pytest.fixture
def note(story: Story, address: Address) -> Callable[..., Job]:
    """Notes work on the messages `start`..`end` of branch 0."""

    def note(start: int, end: int, kind: str = "extract") -> Job:
        return story.jobs.enqueue(address, "memory", kind, Coordinate(0, end), start=start)

    return note


Note = Callable[..., Job]


def states(story: Story, address: Address) -> list[JobState]:
    return [job.state for job in story.jobs.all(address)]


def test_a_job_goes_from_pending_over_running_to_succeeded(
    story: Story, address: Address, lease: Lease, say: Say, note: Note
) -> None:
    say("> a", "b")
    noted = note(0, 1)

    claimed = story.jobs.claim(address, lease)
    assert claimed is not None
    done = story.jobs.succeed(address, claimed.id, lease, covered=(0, 1), details={"facts": 2})

    assert (noted.state, noted.attempts) == (JobState.PENDING, 0)
    assert (claimed.id, claimed.state, claimed.attempts) == (noted.id, JobState.RUNNING, 1)
    assert (done.state, done.did_work, done.covered, done.details) == (JobState.SUCCEEDED, True, (0, 1), {"facts": 2})
    assert story.jobs.claim(address, lease) is None


def test_the_same_work_is_noted_once(story: Story, address: Address, lease: Lease, say: Say, note: Note) -> None:
    say("> a", "b")
    first = note(0, 1)
    claimed = story.jobs.claim(address, lease)
    assert claimed is not None
    story.jobs.succeed(address, claimed.id, lease)

    assert note(0, 1).id == first.id
    assert note(0, 1, "summary").id != first.id
    assert len(story.jobs.all(address)) == 2


def test_work_noted_in_a_turn_is_undone_with_it(story: Story, address: Address) -> None:
    def turn(tx: Any) -> None:
        story.messages.append(address, [Draft("player", "a")], tx=tx)
        story.jobs.enqueue(address, "memory", "extract", Coordinate(0, 0), start=0, tx=tx)
        raise KeyError

    with pytest.raises(KeyError):
        story.write(turn, name="turn")

    assert story.jobs.all(address) == []


def test_what_failed_is_due_again_after_a_growing_delay(
    story: Story, address: Address, lease: Lease, say: Say, note: Note, clock: FixedClock
) -> None:
    say("> a")
    note(0, 0)
    waits: list[int] = []
    for _ in range(MAX_ATTEMPTS):
        waited = 0
        while (job := story.jobs.claim(address, lease)) is None:
            clock.advance(10)
            waited += 10
        waits.append(waited)
        assert story.jobs.fail(address, job.id, lease, "the model is down")

    clock.advance(1_000_000)

    assert waits == [0, 30, 60, 120, 240, 480]
    assert story.jobs.claim(address, lease) is None
    (job,) = story.jobs.all(address)
    assert (job.state, job.reason, job.not_before) == (JobState.FAILED, "the model is down", None)


def test_the_one_who_failed_may_say_when(
    story: Story, address: Address, lease: Lease, say: Say, note: Note, clock: FixedClock
) -> None:
    say("> a")
    note(0, 0)
    job = story.jobs.claim(address, lease)
    assert job is not None
    story.jobs.fail(address, job.id, lease, "slow down", after=7.0)

    clock.advance(6.9)
    assert story.jobs.claim(address, lease) is None
    clock.advance(0.1)
    assert story.jobs.claim(address, lease) is not None


def test_what_keeps_failing_does_not_keep_others_waiting(
    story: Story, address: Address, lease: Lease, say: Say, note: Note, clock: FixedClock
) -> None:
    say("> a", "> b", "> c")
    for depth in range(3):
        note(depth, depth, "fails")
        note(depth, depth, "works")
    order: list[str] = []
    for _ in range(8):
        clock.advance(3_600)
        job = story.jobs.claim(address, lease)
        assert job is not None
        order.append(f"{job.kind} {job.end}")
        if job.kind == "fails":
            story.jobs.fail(address, job.id, lease, "no")
        else:
            story.jobs.succeed(address, job.id, lease)

    assert order[:6] == ["fails 0", "works 0", "fails 1", "works 1", "fails 2", "works 2"]
    assert order[6:] == ["fails 0", "fails 1"]


def test_a_job_whose_process_died_is_taken_up_by_the_next_holder(
    story: Story, address: Address, leases: Leases, say: Say, note: Note
) -> None:
    say("> a")
    note(0, 0)
    with leases.hold("w", "jobs/s") as dead:
        first = story.jobs.claim(address, dead)
        assert story.jobs.claim(address, dead) is None

    with leases.hold("w", "jobs/s") as alive:
        second = story.jobs.claim(address, alive)
        assert first is not None
        assert second is not None
        assert (second.id, second.attempts) == (first.id, 2)
        with pytest.raises(Conflict):
            story.jobs.succeed(address, first.id, dead)
        story.jobs.succeed(address, second.id, alive)

    assert states(story, address) == [JobState.SUCCEEDED]


@pytest.mark.parametrize("end", ["succeed", "skip", "fail"])
def test_a_job_that_was_not_claimed_cannot_be_ended(
    story: Story, address: Address, lease: Lease, say: Say, note: Note, end: str
) -> None:
    say("> a")
    job = note(0, 0)
    reason = () if end == "succeed" else ("why",)

    if end == "fail":
        assert not story.jobs.fail(address, job.id, lease, "why")
    else:
        with pytest.raises(Conflict, match="no longer this worker's"):
            getattr(story.jobs, end)(address, job.id, lease, *reason)

    assert states(story, address) == [JobState.PENDING]


def test_a_failure_that_cannot_be_written_is_kept_in_memory(
    story: Story, address: Address, lease: Lease, say: Say, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    say("> a")
    note(0, 0)
    job = story.jobs.claim(address, lease)
    assert job is not None

    def full(*_: object, **__: object) -> None:
        raise StoreUnusable("the disk is full")

    monkeypatch.setattr("talekeeper.story.ledger.end", full)
    recorded = story.jobs.fail(address, job.id, lease, "the model is down")

    assert not recorded
    (kept,) = story.jobs.unrecorded
    assert (kept.address, kept.job, kept.reason, kept.because) == (
        address,
        job.id,
        "the model is down",
        "the disk is full",
    )


def test_a_skipped_job_says_why_and_covers_nothing(
    story: Story, address: Address, lease: Lease, say: Say, note: Note
) -> None:
    say("> a")
    note(0, 0)
    job = story.jobs.claim(address, lease)
    assert job is not None

    skipped = story.jobs.skip(address, job.id, lease, "no story text")

    assert (skipped.state, skipped.reason) == (JobState.SKIPPED, "no story text")
    assert story.coverage.covered(address, "memory", "extract") == []
    assert story.jobs.claim(address, lease) is None


def run_all(story: Story, address: Address, lease: Lease) -> None:
    while job := story.jobs.claim(address, lease):
        story.jobs.succeed(address, job.id, lease, covered=(job.start, job.end))


def test_coverage_is_read_from_the_lineage(story: Story, address: Address, lease: Lease, say: Say, note: Note) -> None:
    say("> a", "b", "> c", "d")
    note(0, 1)
    note(2, 3)
    run_all(story, address, lease)
    assert story.coverage.covered(address, "memory", "extract") == [(0, 3)]

    story.tree.retry(address)
    say("other d", "> e")

    assert story.coverage.covered(address, "memory", "extract") == [(0, 1)]
    assert story.coverage.covered(address, "memory", "extract", at=Coordinate(0, 3)) == [(0, 3)]
    assert story.coverage.covered(address, "memory", "summary") == []
    assert [message.text for message in story.coverage.uncovered(address, "memory", "extract")] == ["c", "other d", "e"]
    story.tree.go(address, Coordinate(0, 3))
    assert story.coverage.uncovered(address, "memory", "extract") == []


def test_the_first_uncovered_stretch_ends_where_coverage_begins_again(
    story: Story, address: Address, lease: Lease, say: Say, note: Note
) -> None:
    made = say("> a", "b", "> c", "d", "> e", "f")
    note(2, 3)
    run_all(story, address, lease)

    def texts(limit: int = 100) -> list[str]:
        return [message.text for message in story.coverage.uncovered(address, "memory", "extract", limit=limit)]

    assert texts() == ["a", "b"]
    assert texts(limit=1) == ["a"]
    story.messages.delete(address, made[0].id)
    story.messages.delete(address, made[1].id)
    assert texts() == ["e", "f"]


def test_only_story_messages_count(story: Story, address: Address, say: Say) -> None:
    story.messages.append(
        address, [Draft("player", "a"), Draft("tool", "dice"), Draft("system", "x"), Draft("narrator", " ")]
    )
    say("b")

    assert [message.text for message in story.coverage.uncovered(address, "memory", "bank")] == ["a", "b"]
    assert [message.text for message in story.messages.story(address, 1, 4)] == ["b"]


def test_work_of_a_branch_that_was_left_waits_for_the_return(
    story: Story, address: Address, lease: Lease, say: Say, note: Note
) -> None:
    say("> a", "b")
    note(0, 1)
    story.tree.retry(address)
    say("other b")

    assert story.jobs.claim(address, lease) is None
    story.tree.switch_take(address, 1)
    assert story.jobs.claim(address, lease) is not None


WITHDRAWALS: dict[str, tuple[dict[str, Any], JobState]] = {
    "where it stands": ({"at": Coordinate(0, 1)}, JobState.REOPENED),
    "by a person": ({"person": True}, JobState.REOPENED),
    "further on": ({"at": Coordinate(0, 2)}, JobState.SUCCEEDED),
    "to make room": ({"at": Coordinate(0, 1), "redo": False}, JobState.SUCCEEDED),
}


@pytest.mark.parametrize("how", WITHDRAWALS)
def test_withdrawing_a_result_everywhere_reopens_its_job(
    story: Story, address: Address, scope: Scope, facts: Namespace, lease: Lease, say: Say, note: Note, how: str
) -> None:
    options, state = WITHDRAWALS[how]
    say("> a", "b", "> c")
    job = note(0, 1)
    run_all(story, address, lease)
    story.records.put(facts, scope, "k", {"text": "x"}, at=Coordinate(0, 1), derived=Derived(0, 1, job.id))

    story.records.withdraw(facts, scope, "k", **options)

    assert story.jobs.get(address, job.id).state is state
    assert (story.jobs.claim(address, lease) is not None) == (state is JobState.REOPENED)


def test_the_backlog_of_a_kind_is_bounded_by_giving_up_the_oldest(story: Story, address: Address, say: Say) -> None:
    say(*["> x"] * (MAX_BACKLOG + 3))
    for depth in range(MAX_BACKLOG + 3):
        story.jobs.enqueue(address, "memory", "extract", Coordinate(0, depth), start=depth)
    story.jobs.enqueue(address, "memory", "other", Coordinate(0, 0), start=0)

    jobs = story.jobs.all(address)

    assert [job.end for job in jobs if job.state is JobState.SKIPPED] == [0, 1, 2]
    assert sum(job.state is JobState.PENDING for job in jobs) == MAX_BACKLOG + 1


def test_what_cannot_be_noted_is_refused(story: Story, address: Address, say: Say) -> None:
    say("> a")
    with pytest.raises(ParameterError):
        story.jobs.enqueue(address, "memory", "extract", Coordinate(0, 0), start=5)
    with pytest.raises(NotFound):
        story.jobs.get(address, "nothing")
    assert story.jobs.enqueue(address, "memory", "manual", ROOT, start=0).end == -1
