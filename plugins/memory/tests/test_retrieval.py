"""Memories for an action in a scene: pins first, then the best, repeats set aside; the other segments beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.testing import say

Make = Callable[..., Any]


def remember(story: Any, *texts: str, **more: Any) -> list[str]:
    known = {one.key for one in story.records("bank")}
    values = [{"text": text, **more} for text in texts]
    return [one.key for one in story.host.records("memory/bank", values) if one.key not in known]


def texts(story: Any, message: str) -> list[str]:
    return [line["text"] for line in story.shown(message, "memories")]


def test_memories_are_found_by_the_action(story: Any) -> None:
    remember(story, "Mara hid the iron key in the well.", "Aldric bought a horse.")

    assert texts(story, "Where is the key?") == ["Mara hid the iron key in the well."]


def test_memories_are_found_by_the_scene(story: Any) -> None:
    remember(story, "Mara hid the iron key in the well.", "Aldric bought a horse.")
    story.host.records("memory/blocks", {"scene": {"text": "At the old well, at night."}})
    story.host.tell("A horse neighs somewhere.")

    assert set(texts(story, "I wait.")) == {"Aldric bought a horse.", "Mara hid the iron key in the well."}


def test_the_best_five_best_first(story: Any) -> None:
    remember(story, *(f"A bell rang in tower {at}." for at in range(6)), "The iron bell of the tower rang twice.")

    shown = texts(story, "The iron bell?")

    assert len(shown) == 5
    assert shown[0] == "The iron bell of the tower rang twice."


def test_pins_come_first_and_count(story: Any) -> None:
    remember(story, *(f"The iron key number {at} was forged in {'x' * (at + 1)}." for at in range(6)))
    remember(story, "Aldric bought a horse.", "Mara owns a boat.", pinned=True)

    shown = texts(story, "The iron key?")

    assert shown[:2] == ["Aldric bought a horse.", "Mara owns a boat."]
    assert len(shown) == 5


def test_only_pins_are_shown_that_have_nothing_in_common_with_the_turn(story: Any) -> None:
    count = 55
    names = ["".join("bcdfghjklm"[int(digit)] for digit in f"{at:02}") for at in range(count)]
    remember(story, *(f"Mara met {name}." for name in names))
    remember(story, "Mara owns a boat.", pinned=True)
    remember(story, "Mara hid the iron key.")

    considered = story.considered("Mara, where is the key?", "memories")

    assert texts(story, "Mara, where is the key?") == ["Mara owns a boat.", "Mara hid the iron key."]
    assert all(one["scores"]["final"] > 0 for one in considered.values() if "pinned" not in one["scores"])


def test_a_repeat_of_a_chosen_one_is_set_aside_and_told(story: Any) -> None:
    first, second = remember(
        story, "Mara hid the iron key in the old well.", "Mara hid the iron key inside the old well."
    )

    considered = story.considered("Where is the iron key?", "memories")

    assert len(texts(story, "Where is the iron key?")) == 1
    assert {one["repeats"] for one in considered.values() if one["reason"]} < {first, second}
    assert sorted(one["reason"] for one in considered.values()) == ["", "repeats one that is taken"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"text": "Aldric hid the iron key in the old well."}, id="another name"),
        pytest.param({"text": "Mara hid 2 iron keys in the old well."}, id="a number"),
        pytest.param({"text": "Mara never hid the iron key in the old well."}, id="negation"),
        pytest.param({"text": "Mara hid the iron key in the new well."}, id="another word"),
        pytest.param({"text": "Mara hid the iron key inside the old well.", "authority": "inferred"}, id="authority"),
    ],
)
def test_what_differs_is_no_repeat(story: Any, other: dict[str, Any]) -> None:
    story.host.records("memory/bank", [{"text": "Mara hid the iron key in the old well."}, other])

    assert len(texts(story, "Where is the iron key?")) == 2


def test_the_report_has_the_scores_and_what_was_asked(story: Any) -> None:
    (key,) = remember(story, "Mara hid the iron key in the well.", turn=3, authority="inferred")
    remember(story, "Nobody saw the moon.")
    story.host.tell("It is dark.")

    decided = next(one for one in story.host.recall("The iron key?").decided if one.segment == "memories")

    assert decided.document["query"]["action"] == "The iron key?"
    assert decided.document["query"]["scene"] == "It is dark."
    (one,) = decided.document["considered"]
    assert one["id"] == key
    assert {"lexical", "final"} <= one["scores"].keys()
    assert story.shown("The iron key?", "memories")[0]["authority"] == "inferred"


def test_what_a_retry_replaces_leaves_no_trace(story: Any) -> None:
    remember(story, "Mara hid the iron key in the well.", "Aldric bought a horse.")
    story.host.turn("I wait.", reply="A horse neighs.")
    seen: list[str] = []

    def narrator(request: Any) -> Any:
        seen.append(request.prompt)
        return say("A dog barks.")

    story.host.retry(narrator=narrator)

    assert "horse" not in seen[0]


def test_a_constant_card_is_always_there_and_others_when_called(story: Any) -> None:
    cards = {
        "world": {"name": "The world", "body": "It is flat.", "constant": True, "order": 200},
        "mara": {"name": "Mara", "kind": "character", "keys": ["Mara", "ferrywoman"], "body": "She rows."},
        "gate": {"name": "Gate", "keys": ["gate"], "secondary_keys": ["night"], "body": "It is locked at night."},
        "off": {"name": "Off", "body": "Never.", "constant": True, "enabled": False},
    }
    story.host.records("memory/cards", cards)

    called = [line["id"] for line in story.shown("The ferrywoman?", "cards")]
    by_both = [line["id"] for line in story.shown("The gate, by night.", "cards")]
    by_one = [line["id"] for line in story.shown("The gate. Investigate.", "cards")]

    assert (called, by_both, by_one) == (["mara", "world"], ["gate", "world"], ["world"])


def test_a_card_says_which_word_called_it_up_and_where_it_stands(story: Any) -> None:
    cards = {
        "world": {"name": "The world", "body": "It is flat.", "constant": True},
        "mara": {"name": "Mara", "kind": "character", "keys": ["ferrywoman", "Mara"], "body": "She rows."},
        "key": {"name": "Brass key", "body": "It is cold."},
        "gate": {"name": "Gate", "keys": ["gate"], "secondary_keys": ["night"], "body": "It is locked at night."},
    }
    story.host.records("memory/cards", cards)
    story.host.turn("At night?", reply="MARA waits at the gate.")

    considered = story.considered("I show her the brass key.", "cards")

    assert {key: one["because"] for key, one in considered.items()} == {
        "world": "always shown",
        "mara": "'Mara' in the narration of turn 1",
        "key": "'Brass key' in the player's message",
        "gate": "'gate' in the narration of turn 1, 'night' in the player's message of turn 1",
    }
    assert all(one["used"] for one in considered.values())


def test_a_key_in_the_latest_messages_calls_a_card(story: Any) -> None:
    story.host.records("memory/cards", {"玛拉": {"name": "玛拉", "kind": "character", "body": "她划船。"}})
    story.host.tell("玛拉来了。")

    near = story.shown("你好。", "cards")
    story.fill(5)
    far = story.shown("你好。", "cards")

    assert [line["text"] for line in near] == ["玛拉: 她划船。"]
    assert far == []


def test_blocks_stand_in_the_prompt_in_the_order_of_their_definition(story: Any) -> None:
    blocks = {
        "zeal": {"text": "High.", "about": "Zeal."},
        "scene": {"text": "An inn."},
        "story_state": {"text": "Calm."},
    }
    story.host.records("memory/blocks", blocks)

    lines = [line["text"] for line in story.shown("Hello.", "blocks")]

    assert lines == ["story_state: Calm.", "scene: An inn.", "zeal: High."]


def test_sixty_full_blocks_stand_in_the_prompt_within_their_budget(story: Any) -> None:
    blocks = {f"b{at:02}": {"text": "Word. " * 333, "about": "x"} for at in range(56)}
    labels = ("story_state", "scene", "character_relationships", "player_profile")
    defaults = {label: {"text": "Word. " * 333} for label in labels}
    story.host.records("memory/blocks", {**defaults, **blocks})

    decided = next(one for one in story.host.recall("Hello.").decided if one.segment == "blocks")

    assert len(decided.text) <= decided.document["budget"]
    lines = story.shown("Hello.", "blocks")
    assert all(line["text"].endswith("Word.") for line in lines)
