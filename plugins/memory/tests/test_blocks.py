"""Blocks: labels, definitions, and what of them fits a prompt."""

from __future__ import annotations

from typing import Any

import pytest
from talekeeper.api import Record
from talekeeper_memory.blocks import DEFAULTS, Block, collect, in_prompt, label_fault, with_player, without_player

ABOUT: dict[str, str] = dict.fromkeys(DEFAULTS, "what holds")


def record(label: str, text: str = "", **more: object) -> Record:
    return Record("blocks", label, {"text": text, **more})


@pytest.mark.parametrize("label", ["a", "mood", "quest_log", "day2"])
def test_a_label_of_small_letters_digits_and_underscores_is_taken(label: str) -> None:
    assert label_fault(label) == ""


@pytest.mark.parametrize("label", ["", "Mood", "2nd", "_mood", "quest-log", "心情", "mood\n", "new_facts"])
def test_any_other_label_is_refused_by_name(label: str) -> None:
    found = collect([record(label, "x")], ABOUT, 2000, 60)

    assert list(found.refused) == [label]
    assert label not in found.known


def test_sixty_blocks_are_known_and_the_sixty_first_is_refused() -> None:
    found = collect([record(f"b{number:02}") for number in range(57)], ABOUT, 2000, 60)

    assert len(found.known) == 60
    assert found.refused == {"b56": "there are 60 blocks already"}


def test_a_default_block_keeps_its_definition() -> None:
    found = collect([record("scene", "Here.", about="Something else.", limit=100)], ABOUT, 2000, 60)

    assert found.known["scene"] == Block("scene", "what holds", 2000, "Here.")


def test_a_block_of_a_world_has_its_own_limit() -> None:
    found = collect([record("quests", "None.", about="Open quests.", limit=300)], ABOUT, 2000, 60)

    assert found.known["quests"] == Block("quests", "Open quests.", 300, "None.")


def filled(count: int, length: int) -> list[Block]:
    return [Block(f"b{number}", "", 2000, ("Word. " * length)[: length - 1] + ".") for number in range(count)]


def test_8192_characters_are_shown_whole() -> None:
    blocks = filled(4, 2048)

    assert in_prompt(blocks, 8192, 2000) == blocks


@pytest.mark.parametrize(
    ("count", "length", "part"),
    [pytest.param(4, 2049, 2000, id="at most 2,000"), pytest.param(60, 150, 136, id="8,192 / 60")],
)
def test_one_more_and_each_is_cut_to_its_part_at_a_sentence(count: int, length: int, part: int) -> None:
    shown = in_prompt(filled(count, length), 8192, 2000)

    assert all(part - 6 < len(block.text) <= part for block in shown)
    assert all(block.text.endswith("Word.") for block in shown)


def test_empty_blocks_take_no_room() -> None:
    assert in_prompt([Block("a", "", 2000), Block("b", "", 2000, " \n")], 8192, 2000) == []


def test_the_confirmed_line_comes_first_and_cannot_drift() -> None:
    drifted = "Player: name: Somebody else\n玩家： 别人\nTired, and without a horse."

    assert with_player(drifted, "Player: name: Kira") == "Player: name: Kira\nTired, and without a horse."
    assert without_player(drifted) == "Tired, and without a horse."


def test_a_profile_of_the_sessions_own_data_alone_says_where_it_is_from(make_story: Any) -> None:
    story = make_story()
    story.host.tell("I am here.", role="player", speaker="Kira")
    story.host.records("memory/blocks", {"scene": {"text": "An inn."}})

    considered = story.considered("Hello.", "blocks")

    assert list(considered) == ["scene", "player_profile"]
    assert considered["player_profile"]["because"] == "what the session itself knows of the player"
    assert "because" not in considered["scene"]
