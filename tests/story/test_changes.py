"""Editing, hiding, deleting: what is found, what stays readable, what becomes of derived records and jobs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.db import Database, Leases
from talekeeper.errors import Conflict, NotFound, ParameterError
from talekeeper.manifest import Namespace
from talekeeper.story import Address, Coordinate, Derived, Draft, JobState, Message, Scope, Story

Say = Callable[..., list[Message]]
Told = Callable[[], list[str]]
Find = Callable[..., list[str]]


def test_an_edit_keeps_the_place_and_the_old_text(
    story: Story, address: Address, say: Say, told: Told, find: Find
) -> None:
    made, _ = say("> the lantern", "b")

    edited = story.messages.edit(address, made.id, "the candle")
    story.messages.edit(address, made.id, "the torch")

    assert (edited.coordinate, edited.seq, edited.revision) == (made.coordinate, made.seq, 1)
    assert told() == ["the torch", "b"]
    assert [text.text for text in story.messages.texts(address, made.id)] == ["the lantern", "the candle", "the torch"]
    assert (find("lantern"), find("candle"), find("torch")) == ([], [], [made.id])


def test_the_same_text_again_is_no_edit(story: Story, address: Address, say: Say) -> None:
    (made,) = say("> a")

    assert story.messages.edit(address, made.id, "a") == made


def test_an_edit_that_cannot_be_stored_changes_nothing(story: Story, address: Address, say: Say, told: Told) -> None:
    (made,) = say("> a")

    with pytest.raises(ParameterError):
        story.messages.edit(address, made.id, "\ud800")

    assert told() == ["a"]


def test_a_hidden_message_is_told_and_not_found(
    story: Story, address: Address, say: Say, told: Told, find: Find
) -> None:
    made, _ = say("> the lantern", "b")

    hidden = story.messages.hide(address, made.id)

    assert hidden.hidden
    assert told() == ["the lantern", "b"]
    assert [message.text for message in story.messages.read(address, hidden=False)] == ["b"]
    assert find("lantern") == []
    story.messages.unhide(address, made.id)
    assert find("lantern") == [made.id]


def test_a_deleted_message_is_neither_told_nor_found_and_can_be_read(
    story: Story, address: Address, say: Say, told: Told, find: Find
) -> None:
    made, _ = say("> the lantern", "b")

    story.messages.delete(address, made.id)

    assert (told(), find("lantern")) == (["b"], [])
    assert story.messages.get(address, made.id).text == "the lantern"
    for act in (story.messages.delete, story.messages.hide, story.messages.unhide):
        with pytest.raises(NotFound, match="has been deleted"):
            act(address, made.id)
    with pytest.raises(NotFound, match="has been deleted"):
        story.messages.edit(address, made.id, "x")


def test_purging_blanks_deleted_messages_with_all_their_texts(story: Story, address: Address, say: Say) -> None:
    made, kept = say("> swordfish", "b")
    story.messages.edit(address, made.id, "swordfish again")
    with pytest.raises(Conflict, match="is not deleted"):
        story.messages.purge(address, [made.id])
    story.messages.delete(address, made.id)

    assert story.messages.purge(address, [made.id]) == 1

    assert [text.text for text in story.messages.texts(address, made.id)] == [""]
    assert story.messages.get(address, kept.id).text == "b"


@pytest.mark.parametrize("what", ["a record", "a message"])
def test_forgotten_words_are_gone_from_every_file_once_settled(
    story: Story,
    address: Address,
    scope: Scope,
    facts: Namespace,
    db: Database,
    path: Path,
    say: Say,
    what: str,
) -> None:
    word = "xylophonist"
    if what == "a record":
        story.records.put(facts, scope, "k", {"text": f"the {word} is the murderer"})
    (made,) = say("> hello" if what == "a record" else f"> the {word} is the murderer")
    say(*[f"line {number}" for number in range(300)])
    story.index.maintain()
    assert any(word.encode() in file.read_bytes() for file in path.parent.glob("talekeeper.sqlite*"))

    if what == "a record":
        story.records.forget(facts, scope, "k")
    else:
        story.messages.delete(address, made.id)
        story.messages.purge(address, [made.id])
    story.settle()

    stem = word[:8].encode()
    assert [file.name for file in path.parent.iterdir() if file.is_file() and stem in file.read_bytes()] == []
    assert db.integrity() == []
    assert story.index.check() == []


@pytest.fixture
def memory(story: Story, address: Address, scope: Scope, facts: Namespace, say: Say) -> Callable[[int, int, str], str]:
    """Writes a memory of the messages `start`..`end` as a job does, and gives the job's id."""

    def remember(start: int, end: int, key: str) -> str:
        at = Coordinate(0, end)
        job = story.jobs.enqueue(address, "memory", "bank", at, start=start)
        story.records.put(facts, scope, key, {"text": f"memory {key}"}, at=at, derived=Derived(start, end, job.id))
        return job.id

    return remember


def finish(story: Story, address: Address, leases: Leases) -> None:
    with leases.hold("w", "jobs") as lease:
        while job := story.jobs.claim(address, lease):
            story.jobs.succeed(address, job.id, lease, covered=(job.start, job.end))


Remember = Callable[[int, int, str], str]


@pytest.mark.parametrize("act", ["edit", "delete"])
def test_what_was_made_up_to_a_changed_message_is_withdrawn_and_due_again(
    story: Story,
    address: Address,
    scope: Scope,
    facts: Namespace,
    leases: Leases,
    say: Say,
    memory: Remember,
    act: str,
) -> None:
    made = say("> a", "b", "> c", "d", "> e", "f")
    ends, covers = memory(0, 3, "ends"), memory(2, 5, "covers")
    finish(story, address, leases)
    story.records.put(facts, scope, "by hand", {"text": "by hand"}, person=True)

    if act == "edit":
        story.messages.edit(address, made[3].id, "D")
    else:
        story.messages.delete(address, made[3].id)

    live = {record.key: record.source_edited for record in story.records.list(facts, scope)}
    assert live == {"covers": act == "edit", "by hand": False}
    assert story.jobs.get(address, ends).state is JobState.REOPENED
    assert story.jobs.get(address, covers).state is JobState.SUCCEEDED
    assert story.coverage.covered(address, "memory", "bank") == [(2, 5)]
    left = ["a", "b"]
    assert [message.text for message in story.coverage.uncovered(address, "memory", "bank")] == left
    assert story.index.check() == []


def test_a_change_on_one_branch_leaves_what_other_branches_made(
    story: Story, address: Address, scope: Scope, facts: Namespace, say: Say
) -> None:
    ask, answer = say("> a", "b")
    story.records.put(facts, scope, "first", {"text": "first"}, derived=Derived(0, 1))
    story.tree.retry(address)
    say("other b")
    story.records.put(facts, scope, "second", {"text": "second"}, derived=Derived(0, 1))

    story.messages.edit(address, answer.id, "B")
    assert [record.key for record in story.records.list(facts, scope)] == ["second"]
    story.tree.switch_take(address, 1)
    assert story.records.count(facts, scope) == 0
    story.messages.edit(address, ask.id, "A")

    story.tree.switch_take(address, 2)
    (second,) = story.records.list(facts, scope)
    assert second.source_edited


def test_a_pinned_memory_follows_its_source_all_the_same(
    story: Story, scope: Scope, facts: Namespace, address: Address, say: Say
) -> None:
    _, answer = say("> a", "b")
    story.records.put(facts, scope, "k", {"text": "made"}, derived=Derived(0, 1))
    say("> c", "d")
    story.records.put(facts, scope, "k", {"text": "pinned by a plugin"})

    story.messages.edit(address, answer.id, "B")

    assert story.records.count(facts, scope) == 0


def test_what_a_person_made_of_a_memory_is_never_touched(
    story: Story, scope: Scope, facts: Namespace, address: Address, say: Say
) -> None:
    _, answer = say("> a", "b")
    story.records.put(facts, scope, "k", {"text": "made"}, derived=Derived(0, 1))
    story.records.put(facts, scope, "k", {"text": "by hand"}, person=True)

    story.messages.edit(address, answer.id, "B")
    story.messages.delete(address, answer.id)

    (kept,) = story.records.list(facts, scope)
    assert (kept.value["text"], kept.source_edited) == ("by hand", False)


@pytest.mark.parametrize(
    ("draft", "found"),
    [
        pytest.param(Draft("player", "the harbour"), True, id="player"),
        pytest.param(Draft("narrator", "the harbour"), True, id="narrator"),
        pytest.param(Draft("tool", "the harbour"), False, id="a tool's result"),
        pytest.param(Draft("system", "the harbour"), False, id="system"),
        pytest.param(Draft("narrator", "x", caption="a harbour"), True, id="caption"),
        pytest.param(Draft("narrator", "x", speaker="Harbour Master"), True, id="speaker"),
        pytest.param(Draft("narrator", "x", extra="harbour"), False, id="what is only kept"),
        pytest.param(Draft("narrator", " \n", speaker="Harbour"), False, id="a blank text"),
    ],
)
def test_only_what_is_told_is_found(story: Story, address: Address, find: Find, draft: Draft, found: bool) -> None:
    story.messages.append(address, [draft])

    assert bool(find("harbour")) == found
    assert story.index.check() == []


def test_a_message_is_found_by_its_day(story: Story, address: Address, find: Find) -> None:
    story.messages.append(
        address, [Draft("narrator", "We met.", time="1:56 pm on 8 May, 2023"), Draft("narrator", "We left.")]
    )

    assert len(find("may")) == 1
    assert len(find("2023-05-08")) == 1
