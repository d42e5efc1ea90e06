"""Moving about in the tree, and what reads along which lineage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.errors import Conflict, NotFound
from talekeeper.manifest import Namespace
from talekeeper.story import ROOT, Address, Coordinate, Draft, Message, Scope, Story

Say = Callable[..., list[Message]]
Told = Callable[[], list[str]]
Find = Callable[..., list[str]]


def test_undo_takes_back_one_turn_at_a_time(story: Story, address: Address, say: Say, told: Told) -> None:
    say("prologue", "> a", "b", "> c", "d")

    seen: list[list[str]] = []
    for _ in range(3):
        story.tree.undo(address)
        seen.append(told())

    assert seen == [["prologue", "a", "b"], ["prologue"], []]
    with pytest.raises(NotFound, match="nothing to undo"):
        story.tree.undo(address)


def test_redo_goes_to_the_tip_last_left(story: Story, address: Address, say: Say, told: Told) -> None:
    say("> a", "b", "> c", "d")
    story.tree.undo(address)
    story.tree.undo(address)

    story.tree.redo(address)

    assert told() == ["a", "b", "c", "d"]
    with pytest.raises(NotFound, match="nothing to redo"):
        story.tree.redo(address)


def test_going_on_after_an_undo_forks_and_ends_what_could_be_redone(
    story: Story, address: Address, say: Say, told: Told
) -> None:
    say("> a", "b", "> c", "d")
    story.tree.undo(address)

    (other,) = say("> e")

    assert told() == ["a", "b", "e"]
    assert other.coordinate == Coordinate(1, 2)
    assert other.turn == 2
    assert story.tree.branches(address)[1].fork == Coordinate(0, 1)
    with pytest.raises(NotFound):
        story.tree.redo(address)


def test_undoing_everything_and_beginning_anew(story: Story, address: Address, say: Say, told: Told) -> None:
    say("> a", "b")
    story.tree.undo(address)

    (fresh,) = say("> other")

    assert told() == ["other"]
    assert (fresh.coordinate, fresh.turn) == (Coordinate(1, 0), 1)


def test_retry_adds_a_take_under_the_same_question(story: Story, address: Address, say: Say, told: Told) -> None:
    say("> a", "b", "> c", "d")

    story.tree.retry(address)
    assert told() == ["a", "b", "c"]
    say("another d")

    assert told() == ["a", "b", "c", "another d"]
    first, second = story.tree.takes(address)
    assert (first.number, first.current, second.number, second.current) == (1, False, 2, True)


def test_a_retry_that_comes_to_nothing_can_be_taken_back(story: Story, address: Address, say: Say, told: Told) -> None:
    say("> a", "b")
    story.tree.retry(address)

    story.tree.redo(address)

    assert told() == ["a", "b"]


def test_retrying_an_unanswered_question_stays_there(story: Story, address: Address, say: Say) -> None:
    say("> a")

    assert story.tree.retry(address).head == Coordinate(0, 0)
    assert story.tree.takes(address) == []


def test_a_turn_without_a_player_is_retried_from_its_beginning(story: Story, address: Address, told: Told) -> None:
    story.messages.append(address, [Draft("narrator", "a", turn=1), Draft("narrator", "b", turn=2)])

    story.tree.retry(address)
    story.messages.append(address, [Draft("narrator", "c", turn=2)])

    assert told() == ["a", "c"]
    assert len(story.tree.takes(address)) == 2


def test_a_take_of_several_messages_is_switched_to_its_end(
    story: Story, address: Address, say: Say, told: Told
) -> None:
    say("> a", "b1", "b2")
    story.tree.retry(address)
    say("c1", "c2", "c3")

    story.tree.switch_take(address, 1)
    assert told() == ["a", "b1", "b2"]
    story.tree.switch_take(address, 2)

    assert told() == ["a", "c1", "c2", "c3"]
    with pytest.raises(NotFound, match="no take 3"):
        story.tree.switch_take(address, 3)


def test_a_take_that_went_on_ends_with_its_turn(story: Story, address: Address, say: Say, told: Told) -> None:
    say("> a", "b", "> c", "d")
    story.tree.undo(address)
    story.tree.retry(address)
    say("other b")

    story.tree.switch_take(address, 1)

    assert told() == ["a", "b"]


def test_another_question_is_no_take(story: Story, address: Address, say: Say) -> None:
    say("> a", "b", "> c", "d")
    story.tree.undo(address)
    say("> e", "f")

    assert len(story.tree.takes(address)) == 1


def test_a_named_fork_is_a_checkpoint(story: Story, address: Address, say: Say, told: Told) -> None:
    say("> a", "b", "> c", "d")

    session = story.tree.fork(address, Coordinate(0, 1), name="before the storm")
    say("> e")

    assert session.head == Coordinate(1, 1)
    assert told() == ["a", "b", "e"]
    assert [(branch.name, branch.tip) for branch in story.tree.branches(address)] == [("", 3), ("before the storm", 2)]
    with pytest.raises(Conflict, match="already a checkpoint"):
        story.tree.fork(address, name="before the storm")


def test_forks_of_forks_grow_from_the_message_and_not_from_the_fork(
    story: Story, address: Address, say: Say, told: Told
) -> None:
    say("> a", "b")
    story.tree.fork(address)
    story.tree.fork(address)

    say("> c")

    assert told() == ["a", "b", "c"]
    assert story.tree.branches(address)[2].fork == Coordinate(0, 1)
    assert story.tree.lineage(address) == {0: 1, 2: 2}


def test_any_place_can_be_gone_to_and_nothing_else(story: Story, address: Address, say: Say, told: Told) -> None:
    say("> a", "b", "> c", "d")
    story.tree.undo(address)
    say("> e")

    story.tree.go(address, Coordinate(0, 3))
    assert told() == ["a", "b", "c", "d"]
    story.tree.go(address, ROOT)
    assert told() == []

    for nowhere in (Coordinate(0, 4), Coordinate(1, 0), Coordinate(9, 0)):
        with pytest.raises(NotFound):
            story.tree.go(address, nowhere)
        with pytest.raises(NotFound):
            story.messages.answer(address, nowhere, [Draft("narrator", "x")])


def test_undo_passes_over_deleted_messages(story: Story, address: Address, say: Say, told: Told) -> None:
    made = say("> a", "b", "> c", "d")
    story.messages.delete(address, made[2].id)
    story.messages.delete(address, made[3].id)

    story.tree.undo(address)

    assert told() == []


def test_parts_of_the_story_can_be_read(story: Story, address: Address, say: Say) -> None:
    say("prologue", "> a", "b", "> c", "d", "> e")

    def texts(**what: Any) -> list[str]:
        return [message.text for message in story.messages.read(address, **what)]

    assert texts(last=2) == ["d", "e"]
    assert texts(last=0) == []
    assert texts(last=99) == ["prologue", "a", "b", "c", "d", "e"]
    assert texts(turns=(1, 2)) == ["a", "b", "c", "d"]
    assert texts(depths=(2, 3)) == ["b", "c"]
    assert texts(at=Coordinate(0, 2)) == ["prologue", "a", "b"]
    assert texts(at=Coordinate(0, 4), last=2) == ["c", "d"]
    assert texts(at=ROOT) == []


def test_the_last_messages_are_counted_without_deleted_ones(story: Story, address: Address, say: Say) -> None:
    made = say(*[f"> {number}" for number in range(40)])
    for message in made[5:39]:
        story.messages.delete(address, message.id)

    assert [message.text for message in story.messages.read(address, last=3)] == ["3", "4", "39"]


def test_speakers_are_named_in_order_of_appearance(story: Story, address: Address) -> None:
    names = ["Mira", "Aldric", "", "Mira", "北塔"]
    story.messages.append(address, [Draft("narrator", "x", speaker=name) for name in names])

    assert story.messages.speakers(address) == ["Mira", "Aldric", "北塔"]


def test_a_batch_of_many_is_read_back_in_order(story: Story, address: Address) -> None:
    for start in range(0, 1_200, 400):
        story.messages.append(address, [Draft("narrator", f"{number}") for number in range(start, start + 400)])

    assert [int(message.text) for message in story.messages.all(address)] == list(range(1_200))


def test_a_retried_turn_knows_nothing_of_the_first_attempt(
    story: Story, address: Address, scope: Scope, facts: Namespace, say: Say, find: Find
) -> None:
    *_, answer = [message for number in range(1, 6) for message in say(f"> ask {number}", f"answer {number}")]
    story.records.add(facts, scope, {"text": "Aldric betrayed the harbour"})

    def seen() -> tuple[bool, int, int]:
        """Whether the first answer of turn 5 is found, and how many facts are found and listed."""
        return answer.id in find("answer"), len(find("betrayed", facts)), len(story.records.list(facts, scope))

    assert seen() == (True, 1, 1)
    story.tree.retry(address)
    assert seen() == (False, 0, 0)
    say("another answer")
    assert seen() == (False, 0, 0)
    story.tree.switch_take(address, 1)
    assert seen() == (True, 1, 1)
    story.tree.fork(address, story.messages.read(address, turns=(3, 3))[-1].coordinate)
    assert seen() == (False, 0, 0)
    assert story.messages.read(address, turns=(4, 5)) == []
    assert story.index.check() == []
