"""Memories are written for settled blocks, once, and say who vouches for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.testing import Recorded

Make = Callable[..., Any]


@pytest.mark.parametrize(
    ("messages", "memories"),
    [
        pytest.param(11, 0, id="11 messages"),
        pytest.param(12, 1, id="12: the first block"),
        pytest.param(13, 2, id="13: the second is settled"),
        pytest.param(18, 2, id="18"),
        pytest.param(19, 3, id="19"),
    ],
)
def test_a_memory_needs_twelve_messages_and_one_behind_its_block(story: Any, messages: int, memories: int) -> None:
    story.fill(messages - 2)

    story.play()

    assert [(one["from"], one["to"]) for one in story.values("bank")] == [
        (at * 6, at * 6 + 5) for at in range(memories)
    ]


def test_at_most_five_blocks_are_written_after_one_turn(story: Any) -> None:
    story.fill(60)

    story.play()
    first = len(story.values("bank"))
    story.play()

    assert first == 5
    assert [one["from"] for one in story.values("bank")] == list(range(0, 60, 6))


def test_a_retry_of_the_tip_pays_no_block_twice(story: Any) -> None:
    story.fill(11)
    story.play()
    before = story.scribe.asked["memory"]

    for take in range(3):
        story.host.retry(reply=f"Take {take}.")
        story.work()

    assert story.scribe.asked["memory"] == before == 2
    assert len(story.values("bank")) == 2


def test_a_memory_is_stored_at_its_last_message_and_knows_its_source(make_story: Make) -> None:
    story = make_story(memory="Mara perhaps left the inn.")
    story.fill(10)

    story.play()

    (memory,) = story.records("bank")
    assert (memory.coordinate.depth, memory.value["authority"]) == (5, "inferred")
    told = story.host.run("memory/source", {"key": memory.key})
    assert [one["text"] for one in told["messages"]] == [f"Message {at}." for at in range(6)]


def test_a_memory_is_shown_from_the_turn_on_that_came_to_its_block(make_story: Make) -> None:
    story = make_story(memory="Mara hid the brass key.")
    for _ in range(7):
        story.play("Where is the brass key?")
    shown: list[bool] = []

    for _ in range(4):
        shown.append(bool(story.shown("The brass key?", "memories")))
        story.host.undo()

    assert shown == [True, True, False, False]


def test_a_block_that_a_lost_take_has_paid_for_counts_on_the_take_that_stays(make_story: Make) -> None:
    story = make_story(memory="Mara hid the brass key.")
    story.fill(11)
    story.play()
    (before, _) = story.records("bank")
    story.host.retry(reply="Take 2.")
    between = story.shown("The brass key?", "memories")
    story.work()

    after = story.shown("The brass key?", "memories")

    assert between == []
    assert before.key in {one["id"] for one in after}
    assert story.scribe.asked["memory"] == 2


def test_a_memory_that_an_edit_takes_away_leaves_the_others_of_its_run(make_story: Make) -> None:
    def memory(request: Recorded) -> str:
        return f"The key of {request.prompt.count('Message')}."

    story = make_story(memory=memory)
    story.fill(20)
    story.play()
    edited = story.records("bank")[1]

    story.host.edit(edited.value["source"][-1], "Nothing.")

    assert len(story.shown("Which key?", "memories")) >= 1
    assert edited.key not in {one["id"] for one in story.shown("Which key?", "memories")}


@pytest.mark.parametrize(("words", "kept"), [(50, 50), (51, 25)], ids=["50 words", "51 words"])
def test_a_memory_has_at_most_fifty_words(make_story: Make, words: int, kept: int) -> None:
    text = " ".join(["Word"] * 25) + ". " + " ".join(["More"] * (words - 25)) + "."
    story = make_story(memory=text)
    story.fill(10)

    story.play()

    (memory,) = story.values("bank")
    assert len(memory["text"].split()) == kept


def test_an_empty_answer_fails_and_the_block_is_written_later(make_story: Make) -> None:
    story = make_story(memory=["  ", "Mara left."])
    story.fill(10)
    failed = story.play()
    story.host.clock.advance(3600)

    story.work()

    assert failed["memories"].state == "failed"
    assert failed["extract"].state == "succeeded"
    assert [one["text"] for one in story.values("bank")] == ["Mara left."]


def test_when_the_second_block_fails_the_first_is_not_paid_again(make_story: Make) -> None:
    story = make_story(memory=["Mara left.", " ", "Mara came back."])
    story.fill(11)
    story.play()
    story.host.clock.advance(3600)

    story.work()

    assert story.scribe.asked["memory"] == 3
    assert [one["text"] for one in story.values("bank")] == ["Mara left.", "Mara came back."]


def test_the_cast_has_the_protagonist_first_then_who_is_named_then_others(make_story: Make) -> None:
    story = make_story()
    cards: dict[str, dict[str, Any]] = {
        name: {"name": name, "kind": "character", "keys": [], "body": f"{name} is here. " * 40} for name in "ABCDEFGHIJ"
    }
    cards["Kira"] = {"name": "Kira", "kind": "character", "body": "A ranger."}
    story.host.records("memory/cards", cards)
    for at in range(10):
        # Named in the last of the block's messages alone.
        story.host.tell(
            "We meet J." if at == 5 else "On.",
            role="narrator" if at % 2 else "player",
            speaker="" if at % 2 else "Kira",
        )

    story.play()

    prompt = story.scribe.prompt("memory")
    cast = prompt[prompt.index("<cast>\n") + 7 : prompt.index("\n</cast>")].splitlines()
    assert cast[0] == "Player: name: Kira — A ranger."
    assert [line[0] for line in cast[1:]] == list("JABCDEF")
    assert all(len(line) <= 240 and line.endswith(".") for line in cast)


def test_blocks_are_no_part_of_the_cast_brief(make_story: Make) -> None:
    story = make_story()
    story.host.records("memory/blocks", {"character_relationships": {"text": "Mara hates Aldric."}})
    story.fill(10)

    story.play()

    assert "hates" not in story.scribe.prompt("memory")


def test_a_long_block_is_shown_as_head_and_tail(make_story: Make) -> None:
    story = make_story(memory="Before […] after.")
    story.fill(10, "Message {at}. " + "Much was said. " * 150)

    story.play()

    prompt = story.scribe.prompt("memory")
    passage = prompt[prompt.index("<passage>\n") : prompt.index("\n</passage>")]
    assert "Message 0." in passage
    assert "Message 3." not in passage
    assert passage.count("\n[…]\n") == 1
    assert len(passage) < 8100
    assert [one["text"] for one in story.values("bank")] == ["Before after."]


def test_an_edit_of_the_last_message_writes_the_memory_again(make_story: Make) -> None:
    story = make_story(memory=["Mara left.", "Aldric left."])
    story.fill(10)
    story.play()
    (memory,) = story.records("bank")

    story.host.edit(memory.value["source"][-1], "Aldric leaves.")
    gone = story.values("bank")
    story.work()

    assert gone == []
    assert [one["text"] for one in story.values("bank")] == ["Aldric left."]


def test_past_its_capacity_the_smallest_hole_goes_from_here_on(make_story: Make) -> None:
    story = make_story()
    story.host.configure("memory/bank_capacity", 10)
    story.fill(78)
    for _ in range(2):
        story.play()
    full = [one["from"] for one in story.values("bank")]

    story.play()
    after = [one["from"] for one in story.values("bank")]
    story.host.undo()

    assert full == list(range(0, 60, 6))
    assert len(after) == 10
    assert {after[0], after[-1]} == {0, 72}
    assert [one["from"] for one in story.values("bank")] == list(range(0, 78, 6))


def test_pinned_memories_stay_whatever_the_capacity(story: Any) -> None:
    story.host.configure("memory/bank_capacity", 10)
    pinned = {f"p{at}": {"text": f"Pinned {at}.", "pinned": True, "turn": at} for at in range(12)}
    story.host.records("memory/bank", pinned)

    story.play()

    assert len(story.values("bank")) == 12


def test_switched_off_no_memory_is_written_or_shown(story: Any) -> None:
    story.host.configure("memory/auto_memories", value=False)
    story.host.records("memory/bank", [{"text": "Mara hid the key.", "pinned": True}])
    story.fill(20)

    jobs = story.play()

    assert jobs["memories"].reason == "memories are switched off here"
    assert story.shown("The key?", "memories") == []


@pytest.mark.parametrize("job", ["memory", "summary"])
def test_an_answer_of_one_endless_word_is_cut_to_what_is_kept(make_story: Make, job: str) -> None:
    story = make_story(**{job: "ก" * 20_000})
    story.fill(16)

    done = story.play()

    assert {str(one.state) for one in done.values()} <= {"succeeded", "skipped"}
    (written,) = story.values("bank" if job == "memory" else "summaries")[-1:]
    assert len(written["text"]) == (2_000 if job == "memory" else 8_000)
