"""Lengths in tokens at their edges; a Chinese character is one token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Make = Callable[..., Any]


def between(prompt: str, tag: str) -> str:
    begin, end = f"<{tag}>\n", f"\n</{tag}>"
    return prompt[prompt.index(begin) + len(begin) : prompt.index(end)]


def asked(story: Any, text: str) -> dict[str, Any]:
    """What a turn with this text would look for memories with."""
    decided = next(one for one in story.host.recall(text).decided if one.segment == "memories")
    query: dict[str, Any] = decided.document["query"]
    return query


@pytest.fixture
def remembering(story: Any) -> Any:
    story.host.records("memory/bank", [{"text": "Mara hid the iron key in the well."}])
    return story


@pytest.mark.parametrize(("length", "kept"), [(200, 200), (201, 200)])
def test_an_action_is_two_hundred_tokens(remembering: Any, length: int, kept: int) -> None:
    assert asked(remembering, "钥" * length)["action"] == "钥" * kept


@pytest.mark.parametrize(("length", "kept"), [(60, 60), (61, 60)])
def test_the_place_and_people_of_a_scene_are_sixty_tokens(remembering: Any, length: int, kept: int) -> None:
    remembering.host.records("memory/blocks", {"scene": {"text": "井" * length}})

    assert asked(remembering, "I wait.")["scene"] == "井" * kept


@pytest.mark.parametrize(("length", "kept"), [(120, 120), (121, 120)])
def test_the_end_of_the_newest_narration_is_a_hundred_and_twenty(remembering: Any, length: int, kept: int) -> None:
    remembering.host.tell("夜" + "雨" * (length - 1))

    assert asked(remembering, "I wait.")["scene"] == ("夜" + "雨" * 119 if kept == length else "雨" * kept)


@pytest.mark.parametrize(("people", "named"), [(8, 8), (9, 8)])
def test_at_most_eight_people_are_present(remembering: Any, people: int, named: int) -> None:
    remembering.host.configure("memory/scene_tokens", 200)
    names = [f"P{letter}" for letter in "abcdefghi"[:people]]
    cards = {name: {"name": name, "kind": "character", "body": f"{name} is here."} for name in names}
    remembering.host.records("memory/cards", cards)
    remembering.host.records("memory/blocks", {"scene": {"text": f"{' and '.join(names)} wait."}})

    listed = asked(remembering, "I wait.")["scene"].partition(";")[0].split(", ")

    assert len(listed) == named


@pytest.mark.parametrize(("length", "kept"), [(294, 294), (295, 294)])
def test_a_setting_is_three_hundred_tokens(story: Any, length: int, kept: int) -> None:
    # "Gull: " is six letters, which make one and a half.
    card = {"name": "鸥岩岛屿", "kind": "lore", "constant": True, "body": "海" * length}
    story.host.records("memory/cards", {"a": card})
    story.fill(10)

    story.play()

    assert between(story.scribe.prompt("memory"), "setting") == "鸥岩岛屿: " + "海" * (
        kept + 1 if length > kept else kept
    )


@pytest.mark.parametrize(("length", "whole"), [(300, True), (400, False)])
def test_a_block_of_more_than_two_thousand_tokens_is_head_and_tail(story: Any, length: int, whole: bool) -> None:
    story.fill(10, "雨" * length)

    story.play()

    told = between(story.scribe.prompt("memory"), "passage")
    assert ("[…]" not in told) is whole
    assert told.count("雨") <= 2000


@pytest.mark.parametrize(("kind", "tokens"), [("summary", 600), ("memory", 400)])
def test_a_reply_has_its_limit(story: Any, kind: str, tokens: int) -> None:
    story.fill(13)

    story.play()

    assert story.scribe.requests[kind][-1].body["max_tokens"] == tokens


@pytest.mark.parametrize("more", [0, 1])
def test_facts_past_their_capacity_are_withdrawn_by_the_turns_they_cover(make_story: Make, more: int) -> None:
    found = ("key", "gate", "lamp", "boat", "horse", "well", "tower", "bridge", "letter", "sword", "ring")
    story = make_story(extract=[{"new_facts": [f"Mara found a {one}."]} for one in found])
    story.host.configure("memory/facts_capacity", 10)
    for _ in range(9 + more):
        story.play()

    job = story.play()["facts-capacity"]

    turns = [fact["turn"] for fact in story.values("facts")]
    assert (len(turns), turns[0], turns[-1]) == (10, 1, 10 + more)
    assert job.state == ("succeeded" if more else "skipped")
