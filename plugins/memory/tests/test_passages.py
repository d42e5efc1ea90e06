"""What a memory is made from, and what a model's answer is worth as one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.api import Coordinate, MessageView, estimate_tokens
from talekeeper_memory.bank import MARKER, memory_value, passage, settled_blocks, tidy


def story(count: int, text: str = "Mara walks on.") -> list[MessageView]:
    return [
        MessageView(f"m{at}", Coordinate(0, at), at, 1 + at // 2, "narrator", "narration", "", text, None, "generated")
        for at in range(count)
    ]


@pytest.mark.parametrize(("count", "blocks"), [(6, 0), (7, 1), (12, 1), (13, 2), (18, 2), (19, 3)])
def test_a_block_is_settled_by_one_message_behind_it(count: int, blocks: int) -> None:
    found = settled_blocks(story(count), 6)

    assert [[message.id for message in block] for block in found] == [
        [f"m{at}" for at in range(first * 6, first * 6 + 6)] for first in range(blocks)
    ]


def test_a_long_block_is_shown_as_head_and_tail_within_its_tokens() -> None:
    block = [*story(1, "Head. " * 2000), *story(1, "Tail. " * 2000)]

    text = passage(block, 2000)

    head, _, tail = text.partition(f"\n{MARKER}\n")
    assert "Head." in head
    assert "Tail." not in head
    assert "Tail." in tail
    assert estimate_tokens(text) <= 2000


def test_a_short_block_is_shown_whole() -> None:
    assert passage(story(2), 2000).count("Mara walks on.") == 2


@given(st.text(max_size=300))
def test_the_marker_never_survives_into_a_memory(text: str) -> None:
    assert MARKER not in tidy(f"Mara left {MARKER} {text} {MARKER}", 50)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param('"Mara left."', "Mara left.", id="quoted"),
        pytest.param("「玛拉走了。」", "玛拉走了。", id="quoted in Chinese"),
        pytest.param("# Mara left.\n\nAldric stayed.", "Mara left. Aldric stayed.", id="heading and lines"),
        pytest.param("- Mara left.", "Mara left.", id="list"),
        pytest.param(" \n ", "", id="blank"),
    ],
)
def test_an_answer_becomes_one_plain_line(text: str, kept: str) -> None:
    assert tidy(text, 50) == kept


def test_a_memory_knows_what_it_was_made_from() -> None:
    value = memory_value("Mara perhaps left.", story(6))

    assert value == {
        "text": "Mara perhaps left.",
        "authority": "inferred",
        "turn_from": 1,
        "turn": 3,
        "from": 0,
        "to": 5,
        "source": ["m0", "m5"],
    }
