"""What an abandoned attempt left behind is invisible while another stands, and whole again when it comes back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from talekeeper.manifest import Namespace
from talekeeper.story import Address, Draft, Message, Scope, Story

Find = Callable[..., list[str]]
LAST = 5


def turn(number: int) -> list[Draft]:
    return [Draft("player", f"question {number}"), Draft("narrator", f"answer {number}")]


@pytest.fixture
def attempted(story: Story, address: Address, scope: Scope, facts: Namespace) -> list[Message]:
    """Five turns, the last answered twice; only the first answer left a fact."""
    told = [message for number in range(1, LAST + 1) for message in story.messages.append(address, turn(number))]
    story.records.add(facts, scope, {"text": "the amber ring is cursed"})
    story.tree.retry(address)
    story.messages.append(address, [Draft("narrator", "another answer")])
    return told


@pytest.mark.usefixtures("attempted")
def test_the_second_attempt_sees_nothing_of_the_first(story: Story, find: Find, scope: Scope, facts: Namespace) -> None:
    assert find("amber", facts) == []
    assert find("amber") == []
    assert story.records.count(facts, scope) == 0


@pytest.mark.usefixtures("attempted")
def test_going_back_to_the_first_attempt_brings_its_fact_back(
    story: Story, address: Address, find: Find, scope: Scope, facts: Namespace
) -> None:
    story.tree.switch_take(address, 1)

    assert len(find("amber", facts)) == 1
    assert story.records.count(facts, scope) == 1


def test_a_fork_sees_nothing_of_what_comes_after_it(
    story: Story, address: Address, find: Find, attempted: list[Message], facts: Namespace
) -> None:
    end_of_third = attempted[5]

    story.tree.fork(address, end_of_third.coordinate)

    assert [message.turn for message in story.messages.read(address)] == [1, 1, 2, 2, 3, 3]
    assert find("amber", facts) == []
    assert set(find("answer")) == {attempted[1].id, attempted[3].id, attempted[5].id}
