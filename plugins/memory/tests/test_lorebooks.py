"""World Info, lorebooks and character cards become cards, whatever mixture of spellings a file has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper_memory.card_import import (
    NAME_LIMIT,
    Names,
    cards_of,
    cards_of_character,
    character_of,
    entries_of,
    unique,
    whole,
    words,
)

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["entries", "data", "key", "keys", "content", "name", "order", "spec", "description"])
            | st.text(max_size=5),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


def ignore(_what: str, _why: str) -> None:
    pass


def read_book(data: object, names: Names | None = None) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    skipped: list[tuple[str, str]] = []
    entries = entries_of(data)
    assert entries is not None
    cards = list(cards_of(entries, names or Names(), lambda what, why: skipped.append((what, why)), set()))
    return cards, skipped


def test_world_info_entry_becomes_a_card_with_its_keys_and_switches() -> None:
    data = {
        "entries": {
            "0": {
                "uid": 0,
                "key": ["Saltgate", "the gate"],
                "keysecondary": ["tide"],
                "comment": "Saltgate",
                "content": "Saltgate drowns twice a day.",
                "constant": True,
                "disable": True,
                "order": 7,
            }
        }
    }

    cards, skipped = read_book(data)

    assert skipped == []
    assert cards == [
        {
            "name": "Saltgate",
            "body": "Saltgate drowns twice a day.",
            "keys": ["Saltgate", "the gate"],
            "secondary_keys": ["tide"],
            "constant": True,
            "enabled": False,
            "order": 7,
        }
    ]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({"entries": [{"keys": ["owl"], "content": "Owls."}]}, id="book-of-a-card"),
        pytest.param(
            {"spec": "lorebook_v3", "data": {"entries": [{"keys": ["owl"], "content": "Owls."}]}}, id="wrapped"
        ),
        pytest.param({"entries": {"4": {"key": "owl", "content": " Owls. "}}}, id="keys-in-one-string"),
    ],
)
def test_every_shape_of_a_book_gives_the_same_card(data: object) -> None:
    cards, _ = read_book(data)

    assert cards == [{"name": "owl", "body": "Owls.", "keys": ["owl"]}]


def test_entries_without_text_are_reported_and_the_others_kept() -> None:
    cards, skipped = read_book({"entries": [{"content": ""}, "text", {"content": "Kept."}]})

    assert [item["body"] for item in cards] == ["Kept."]
    assert skipped == [("entry 0", "it has no content"), ("entry 1", "it is not a table")]


def test_equal_names_in_one_file_are_numbered() -> None:
    cards, _ = read_book({"entries": [{"name": "Rook", "content": "A."}, {"name": "Rook", "content": "B."}]})

    assert [item["name"] for item in cards] == ["Rook", "Rook (2)"]


def test_card_v1_and_v2_give_the_same_character() -> None:
    fields = {"name": "Ilse", "description": "{{char}} guards {{user}}.", "personality": "dry", "first_mes": "Hello."}
    second = {"spec": "chara_card_v2", "spec_version": "2.0", "data": fields}

    found = [character_of(data) for data in (fields, second)]

    cards = [list(cards_of_character(data, "Tam", ignore)) for data in found if data is not None]
    expected = {"name": "Ilse", "body": "Ilse guards Tam.\n\nPersonality: dry", "kind": "character", "keys": ["Ilse"]}
    assert cards == [[expected], [expected]]


def test_the_book_inside_a_card_follows_the_character_and_knows_its_name() -> None:
    data = {
        "name": "Ilse",
        "description": "A guard.",
        "character_book": {"entries": [{"keys": ["{{char}}'s oath"], "content": "{{Char}} swore."}]},
    }

    found = list(cards_of_character(data, "", ignore))

    assert found[1] == {"name": "Ilse's oath", "body": "Ilse swore.", "keys": ["Ilse's oath"]}


@given(ANY_JSON)
def test_no_json_makes_a_reader_fail(data: object) -> None:
    character = character_of(data)
    entries = entries_of(data)

    if character is not None:
        list(cards_of_character(character, "Tam", ignore))
    cards = list(cards_of(entries, Names(), ignore, set())) if entries is not None else []

    json.dumps(cards)
    assert all(card["name"].strip() and card["body"].strip() for card in cards)


@given(st.lists(st.text(max_size=NAME_LIMIT * 2), max_size=30))
def test_unique_names_stay_unique_and_within_the_limit(names: list[str]) -> None:
    taken: set[str] = set()

    given_out = [unique(name, taken) for name in names]

    assert len(set(given_out)) == len(names)
    assert all(len(name) <= NAME_LIMIT for name in given_out)


@pytest.mark.parametrize(
    ("value", "expected"), [("12", 12), (3.9, 3), ("x", 100), (None, 100), (1e400, 100), (2**60, 100)]
)
def test_order_is_a_whole_number_or_the_default(value: object, expected: int) -> None:
    assert whole(value, 100) == expected


def test_words_are_kept_once_and_in_order() -> None:
    assert words(["a", " b ", "", 3, "a"]) == ["a", "b"]
    assert words("a, b,,a") == ["a", "b"]
    assert words({"a": 1}) == []
