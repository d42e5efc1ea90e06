"""The running summary: every fifteen messages, rolled forward from what is eligible here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Make = Callable[..., Any]


@pytest.mark.parametrize(("messages", "summaries"), [(14, 0), (15, 1), (29, 1), (30, 1), (31, 1)])
def test_fifteen_messages_make_a_summary(story: Any, messages: int, summaries: int) -> None:
    story.fill(messages - 2)

    story.play()

    assert len(story.values("summaries")) == summaries


def test_the_next_is_rolled_from_the_one_before(make_story: Make) -> None:
    story = make_story(summary=["Mara came.", "Mara came and left."])
    story.fill(13)
    story.play()
    story.fill(13)

    story.play()

    first, second = story.records("summaries")
    assert "Mara came." in story.scribe.prompt("summary")
    assert (first.value["current"], second.value["rolled_from"]) == (False, first.key)
    assert (second.value["turn_from"], second.value["from"], second.value["to"]) == (1, 0, 29)
    assert [hit.text for hit in story.host.search("Mara", sources=["memory/summaries"]).results] == [
        "Mara came and left."
    ]


def test_it_is_made_from_memories_and_from_the_story_where_they_are_behind(make_story: Make) -> None:
    story = make_story(memory="Somebody remembered it.")
    story.fill(13)
    story.play()
    from_memories = story.scribe.prompt("summary")
    story.host.configure("memory/auto_memories", value=False)
    story.fill(40)

    story.play()

    from_story = story.scribe.prompt("summary")
    assert from_memories.count("Somebody remembered it.") == 2
    assert "Message 2." not in from_memories
    assert "Somebody remembered it." not in from_story
    assert "Message 29." in from_story


def test_raw_text_is_the_end_of_what_is_new(make_story: Make) -> None:
    story = make_story()
    story.host.configure("memory/auto_memories", value=False)
    story.fill(13, "Message {at}. " + "Much was said. " * 100)

    story.play()

    prompt = story.scribe.prompt("summary")
    assert "Message 0." not in prompt
    assert len(prompt) < 2000 * 4 + 1500


def test_a_persons_edit_is_what_the_next_is_rolled_from(make_story: Make) -> None:
    story = make_story(summary=["Mara came.", "Next."])
    story.fill(13)
    story.play()
    (summary,) = story.records("summaries")
    edited = {**summary.value, "text": "Mara came, and it was raining."}
    story.host.records("memory/summaries", {summary.key: edited})
    story.fill(14)

    story.play()

    assert "it was raining" in story.scribe.prompt("summary")
    assert [one["text"] for one in story.values("summaries")] == ["Mara came, and it was raining.", "Next."]


def test_a_summary_of_an_abandoned_branch_is_not_eligible(make_story: Make) -> None:
    story = make_story(summary=["Mara drowned.", "Mara lives."])
    story.host.configure("memory/summary_messages", 4)
    story.play()
    story.play(reply="Mara drowns.")
    abandoned = story.values("summaries")
    story.host.retry(reply="Mara swims ashore.")
    between = story.values("summaries")

    story.work()

    assert [one["text"] for one in abandoned] == ["Mara drowned."]
    assert between == []
    assert [one["text"] for one in story.values("summaries")] == ["Mara lives."]
    assert "Mara drown" not in story.scribe.prompt("summary")


def test_a_persons_edit_of_an_abandoned_summary_stays_with_its_branch(make_story: Make) -> None:
    story = make_story(summary=["Mara drowned.", "Mara lives."])
    story.host.configure("memory/summary_messages", 4)
    story.play()
    story.play(reply="Mara drowns.")
    (abandoned,) = story.records("summaries")
    edited = {**abandoned.value, "text": "Mara drowned in the cold sea."}
    story.host.records("memory/summaries", {abandoned.key: edited})
    story.host.retry(reply="Mara swims ashore.")

    story.work()

    assert "cold sea" not in story.scribe.prompt("summary")


def test_undoing_brings_the_one_before_back(make_story: Make) -> None:
    story = make_story(summary=["First.", "Second."])
    story.host.configure("memory/summary_messages", 4)
    story.play()
    story.play()
    story.play()
    story.play()
    newest = [one["text"] for one in story.values("summaries")]

    story.host.undo()
    story.host.undo()

    assert newest == ["First.", "Second."]
    assert [(one["text"], one.get("current", True)) for one in story.values("summaries")] == [("First.", True)]


def test_deleting_its_last_message_brings_the_one_before_back(make_story: Make) -> None:
    story = make_story(summary=["First.", "Second.", "Third."])
    story.host.configure("memory/summary_messages", 4)
    for _ in range(4):
        story.play()
    second = story.records("summaries")[-1]

    story.host.delete(second.value["source"][-1])

    assert [one["text"] for one in story.values("summaries")] == ["First."]


@pytest.mark.parametrize(("words", "kept"), [(250, 250), (251, 200)], ids=["250 words", "251 words"])
def test_a_summary_has_at_most_250_words(make_story: Make, words: int, kept: int) -> None:
    text = " ".join(["Word"] * 200) + ". " + " ".join(["More"] * (words - 200)) + "."
    story = make_story(summary=text)
    story.fill(13)

    story.play()

    (summary,) = story.values("summaries")
    assert len(summary["text"].split()) == kept


def test_an_empty_answer_fails_alone_and_leaves_the_old_one(make_story: Make) -> None:
    story = make_story(summary=["First.", " "])
    story.host.configure("memory/summary_messages", 4)
    story.play()
    story.play()
    story.play()

    jobs = story.play()

    assert (jobs["summary"].state, jobs["extract"].state) == ("failed", "succeeded")
    assert [(one["text"], one.get("current", True)) for one in story.values("summaries")] == [("First.", True)]


def test_it_replaces_history_that_is_not_shown_any_more(make_story: Make) -> None:
    story = make_story(summary="Mara came.")
    story.fill(13)
    story.play()
    whole = story.shown("Hello.", "story-summary")
    story.fill(60, "Message {at}. " + "Much was said. " * 60)

    cut = story.shown("Hello.", "story-summary")

    assert whole == []
    assert [line["text"] for line in cut] == ["Mara came."]


def test_switched_off_none_is_written(story: Any) -> None:
    story.host.configure("memory/auto_summaries", value=False)
    story.fill(20)

    jobs = story.play()

    assert jobs["summary"].reason == "summaries are switched off here"
