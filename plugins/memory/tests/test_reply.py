"""What of a model's answer about a turn can be used."""

from __future__ import annotations

from typing import Any

import pytest
from talekeeper_memory.blocks import Block
from talekeeper_memory.extraction import parse_reply, reply_fault, reply_schema

BLOCKS = {"scene": Block("scene", "", 2000, "The inn."), "mood": Block("mood", "", 300)}


def test_an_empty_object_changes_nothing() -> None:
    found = parse_reply({}, BLOCKS, 3, 200)

    assert (found.blocks, found.facts, found.ignored, found.dropped) == ({}, (), (), 0)


def test_a_block_that_stays_the_same_is_not_written() -> None:
    assert parse_reply({"scene": " The inn. ", "mood": "Tense."}, BLOCKS, 3, 200).blocks == {"mood": "Tense."}


@pytest.mark.parametrize("value", ["", "  \n", "\u200b", None, 3, ["The inn."], {"text": "The inn."}])
def test_a_blank_or_other_value_under_a_known_label_is_a_fault(value: Any) -> None:
    assert reply_fault({"scene": value}, BLOCKS).startswith("scene is ")


def test_unknown_keys_are_ignored_and_told() -> None:
    value: dict[str, Any] = {"weather": 3, "scene": "The road."}

    assert reply_fault(value, BLOCKS) == ""
    assert parse_reply(value, BLOCKS, 3, 200).ignored == ("weather",)


@pytest.mark.parametrize(
    ("given", "kept", "dropped"),
    [
        pytest.param(["A.", "B.", "C.", "D."], ("A.", "B.", "C."), 1, id="the first three"),
        pytest.param([f"Fact {n}." for n in range(500)], ("Fact 0.", "Fact 1.", "Fact 2."), 497, id="of five hundred"),
        pytest.param(["A.", "A.", None, 3, {"a": 1}, "  ", "\u200b"], ("A.",), 6, id="unusable ones are dropped"),
        pytest.param("A.", ("A.",), 0, id="one without its list"),
        pytest.param(None, (), 0, id="null"),
        pytest.param({"fact": "A."}, (), 1, id="an object"),
        pytest.param(["A\nB."], ("A B.",), 0, id="on one line"),
    ],
)
def test_facts_that_cannot_be_used_cost_nothing_else(given: Any, kept: tuple[str, ...], dropped: int) -> None:
    value = {"scene": "The road.", "new_facts": given}

    found = parse_reply(value, BLOCKS, 3, 200)

    assert (found.facts, found.dropped, found.blocks) == (kept, dropped, {"scene": "The road."})


def test_a_fact_ends_with_a_sentence_within_200_characters() -> None:
    long = "A" * 98 + ". " + "B" * 98 + ". C."

    found = parse_reply({"new_facts": [long, "D" * 200, "E" * 201]}, BLOCKS, 3, 200)

    assert [len(text) for text in found.facts] == [199, 200, 200]


def test_the_form_bounds_every_block_and_leaves_the_facts_open() -> None:
    schema = reply_schema(BLOCKS.values(), 3, 200)

    assert schema["properties"]["scene"] == {"type": "string", "minLength": 1, "maxLength": 8000}
    assert "type" not in schema["properties"]["new_facts"]
