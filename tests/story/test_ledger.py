"""What people and changes of the story do to the ledger, and where coverage and derived records stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Lease, Leases
from talekeeper.errors import Conflict, NotFound, ParameterError
from talekeeper.manifest import Namespace
from talekeeper.story import Address, Coordinate, Derived, Job, JobState, Message, Scope, Story, Unrecorded
from talekeeper.story.ledger import MAX_ATTEMPTS

Say = Callable[..., list[Message]]
Claim = Callable[[], Job]


@pytest.fixture
def lease(leases: Leases) -> Iterator[Lease]:
    with leases.hold("w", "jobs") as lease:
        yield lease


@pytest.fixture
def claim(story: Story, address: Address, lease: Lease) -> Claim:
    """Takes up the next job, which is there."""

    def claim() -> Job:
        job = story.jobs.claim(address, lease)
        assert job is not None
        return job

    return claim


def note(story: Story, address: Address, start: int, end: int, branch: int = 0) -> Job:
    return story.jobs.enqueue(address, "memory", "extract", Coordinate(branch, end), start=start)


def test_a_job_put_back_has_not_been_tried(
    story: Story, address: Address, lease: Lease, say: Say, claim: Claim, clock: FixedClock
) -> None:
    say("> a", "b")
    note(story, address, 0, 1)
    job = claim()

    back = story.jobs.release(address, job.id, lease, "waits for a model", after=60)
    early = story.jobs.claim(address, lease)
    clock.advance(60)
    again = claim()

    assert (back.state, back.attempts, back.reason) == (JobState.PENDING, 0, "waits for a model")
    assert (early, again.attempts, again.reason) == (None, 1, "waits for a model")


def test_what_waits_can_be_hastened(story: Story, address: Address, lease: Lease, say: Say, claim: Claim) -> None:
    say("> a", "b")
    note(story, address, 0, 1)
    story.jobs.fail(address, claim().id, lease, "down")

    assert (story.jobs.claim(address, lease), story.jobs.hasten(address)) == (None, 1)
    assert claim().attempts == 2


def test_a_job_that_was_given_up_is_retried_with_all_its_attempts(
    story: Story, address: Address, lease: Lease, say: Say, claim: Claim
) -> None:
    say("> a", "b")
    note(story, address, 0, 1)
    for _ in range(MAX_ATTEMPTS):
        story.jobs.fail(address, claim().id, lease, "down", after=0)
    given_up = story.jobs.claim(address, lease), story.jobs.hasten(address)

    (due,) = story.jobs.retry(address)

    assert given_up == (None, 0)
    assert (due.state, due.attempts) == (JobState.PENDING, 0)
    assert claim().id == due.id


def test_a_job_that_takes_its_process_with_it_every_time_is_given_up_and_can_be_retried(
    story: Story, address: Address, leases: Leases, say: Say
) -> None:
    say("> a", "b")
    job = note(story, address, 0, 1)

    def take_up() -> Job | None:
        """As a process that dies before it can say how the job ended."""
        with leases.hold("w", "jobs") as lease:
            return story.jobs.claim(address, lease)

    taken = [take_up() for _ in range(MAX_ATTEMPTS + 1)]

    given_up = story.jobs.get(address, job.id)
    (due,) = story.jobs.retry(address)
    assert [one is not None for one in taken] == [True] * MAX_ATTEMPTS + [False]
    assert (given_up.state, given_up.not_before) == (JobState.FAILED, None)
    assert given_up.reason == "its process ended in every attempt"
    assert (due.id, due.attempts) == (job.id, 0)


def test_only_what_has_not_been_done_is_retried(
    story: Story, address: Address, lease: Lease, say: Say, claim: Claim
) -> None:
    say("> a", "b")
    job = note(story, address, 0, 1)
    claim()
    with pytest.raises(Conflict, match="is running; it needs no retry"):
        story.jobs.retry(address, job.id)
    story.jobs.skip(address, job.id, lease, "nothing said")

    assert story.jobs.retry(address) == []
    assert [one.state for one in story.jobs.retry(address, job.id)] == [JobState.PENDING]
    with pytest.raises(NotFound):
        story.jobs.retry(address, "nothing")


def test_work_asked_for_again_is_done_again(
    story: Story, address: Address, lease: Lease, say: Say, claim: Claim
) -> None:
    say("> a", "b")
    end = Coordinate(0, 1)
    first = story.jobs.renew(address, "memory", "check", end, start=0)
    story.jobs.succeed(address, claim().id, lease, covered=(0, 1))

    again = story.jobs.renew(address, "memory", "check", end, start=0)

    assert (again.id, again.state, again.covered) == (first.id, JobState.PENDING, None)
    assert story.coverage.covered(address, "memory", "check") == []


def test_what_a_job_covers_stands_at_the_last_message_of_it(
    story: Story, address: Address, lease: Lease, say: Say, claim: Claim
) -> None:
    say("> a", "b", "> c", "d")
    note(story, address, 2, 3)
    story.jobs.succeed(address, claim().id, lease, covered=(0, 2))

    story.tree.retry(address)
    say("other d")
    on_the_other_take = story.coverage.covered(address, "memory", "extract")
    story.tree.undo(address)

    assert on_the_other_take == [(0, 2)]
    assert story.coverage.covered(address, "memory", "extract") == []


@pytest.mark.parametrize("covered", [(0, 2), (1, 0), (-1, 0)])
def test_a_job_covers_only_what_lies_before_its_end(
    story: Story, address: Address, lease: Lease, say: Say, claim: Claim, covered: tuple[int, int]
) -> None:
    say("> a", "b")
    note(story, address, 0, 1)

    with pytest.raises(ParameterError, match="is no range of messages up to the job's end, 1"):
        story.jobs.succeed(address, claim().id, lease, covered=covered)


def test_a_change_where_coverage_ends_reopens_the_job(
    story: Story, address: Address, lease: Lease, say: Say, claim: Claim
) -> None:
    made = say("> a", "b", "> c", "d")
    note(story, address, 2, 3)
    story.jobs.succeed(address, claim().id, lease, covered=(0, 1))

    story.messages.edit(address, made[0].id, "A")
    inside = [job.state for job in story.jobs.all(address)]
    story.messages.edit(address, made[1].id, "B")

    assert inside == [JobState.SUCCEEDED]
    assert [job.state for job in story.jobs.all(address)] == [JobState.REOPENED]
    assert story.coverage.covered(address, "memory", "extract") == []


def test_a_change_takes_a_running_job_from_its_worker_only_where_it_may_have_read(
    story: Story, address: Address, lease: Lease, say: Say, claim: Claim
) -> None:
    say("> a", "b")
    note(story, address, 0, 1)
    (later,) = say("> c")
    job = claim()

    story.messages.edit(address, later.id, "C")
    story.write(lambda tx: story.jobs.check(address, job.id, lease, tx), name="a batch")
    story.messages.edit(address, story.messages.read(address)[0].id, "A")

    with pytest.raises(Conflict, match="no longer this worker's"):
        story.write(lambda tx: story.jobs.check(address, job.id, lease, tx), name="a late batch")
    assert (claim().attempts, story.jobs.get(address, job.id).reason) == (1, "its source was edited")


def test_a_derived_record_stands_at_its_last_message_and_is_judged_where_it_is_written(
    story: Story, address: Address, facts: Namespace, scope: Scope, say: Say
) -> None:
    say("> a", "b", "> c", "d")
    end, derived = Coordinate(0, 3), Derived(0, 1)
    story.records.put(facts, scope, "k", {"text": "x"}, at=end, derived=derived)
    story.records.add(facts, scope, {"text": "at the end"}, at=end, dedupe="same")

    doubled = story.records.add(facts, scope, {"text": "earlier"}, at=end, derived=derived, dedupe="same")

    record = story.records.get(facts, scope, "k")
    assert record is not None
    assert (record.coordinate, record.turn) == (Coordinate(0, 1), 1)
    assert doubled is None


def test_what_a_workspace_keeps_is_made_from_no_messages(story: Story, address: Address, lore: Namespace) -> None:
    with pytest.raises(ParameterError, match="is of a workspace, and that has no messages"):
        story.records.put(lore, Scope("w"), "k", {"body": "x"}, derived=Derived(0, 0))


def test_a_record_whose_source_changed_may_be_added_again(
    story: Story, address: Address, facts: Namespace, scope: Scope, say: Say
) -> None:
    made = say("> a", "b")

    def add() -> bool:
        derived = Derived(0, 1)
        return story.records.add(facts, scope, {"text": "x"}, dedupe="one", derived=derived) is not None

    first, doubled = add(), add()
    story.messages.edit(address, made[1].id, "B")

    assert (first, doubled, add(), add()) == (True, False, True, False)


def test_a_failure_kept_in_memory_goes_when_the_job_ends(story: Story, address: Address) -> None:
    story.jobs.keep(Unrecorded(address, "1", "down", "the disk is full"))
    story.jobs.keep(Unrecorded(address, "1", "down again", "the disk is full"))
    story.jobs.keep(Unrecorded(address, "2", "down", "the disk is full"))

    story.jobs.ended(address, "1")

    assert [(one.job, one.reason) for one in story.jobs.unrecorded] == [("2", "down")]


def test_unfinished_work_is_listed_with_its_session(
    story: Story, address: Address, lease: Lease, say: Say, claim: Claim
) -> None:
    say("> a", "b", "> c", "d")
    note(story, address, 0, 1)
    left = note(story, address, 2, 3)
    story.jobs.succeed(address, claim().id, lease)

    assert [(where, job.id) for where, job in story.jobs.unfinished("w")] == [(address, left.id)]
    assert story.jobs.unfinished("elsewhere") == []
    assert not story.coverage.superseded(address, left)


def test_whether_a_lease_is_held_can_be_asked(leases: Leases, lease: Lease) -> None:
    assert leases.held("w", "jobs")
    assert not leases.held("w", "other")
    with leases.hold("w", "other"):
        pass
    assert not leases.held("w", "other")
    assert leases.held("w", "jobs")
