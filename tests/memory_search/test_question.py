from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from talekeeper.errors import NotFound, ParameterError
from talekeeper.memory_search import MEMORY_SEARCH, read_question, search_memory
from talekeeper.services import Services
from talekeeper.story import Address, Session

Start = Callable[..., Session]
Tell = Callable[..., list[str]]

S = Address("w", "s")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        pytest.param({}, "query", id="nothing"),
        pytest.param({"query": ""}, "query", id="empty"),
        pytest.param({"query": "  \n"}, "query", id="blank"),
        pytest.param({"query": "x" * 1_001}, "query", id="too long"),
        pytest.param({"query": 3}, "query", id="a number"),
        pytest.param({"query": "a\0"}, "query", id="NUL"),
        pytest.param({"query": "\ud800"}, "query", id="lone surrogate"),
        pytest.param({"query": "a", "wordings": "b"}, "wordings", id="wordings as text"),
        pytest.param({"query": "a", "wordings": ["b"] * 6}, "wordings", id="six wordings"),
        pytest.param({"query": "a", "wordings": [""]}, "wordings", id="an empty wording"),
        pytest.param({"query": "a", "scope": "everything"}, "scope", id="scope"),
        pytest.param({"query": "a", "scope": ["all"]}, "scope", id="scope as list"),
        pytest.param({"query": "a", "sources": "recall"}, "sources", id="sources as text"),
        pytest.param({"query": "a", "sources": [1]}, "sources", id="sources of numbers"),
        pytest.param({"query": "a", "turn_from": -1}, "turn_from", id="before the beginning"),
        pytest.param({"query": "a", "turn_from": "3"}, "turn_from", id="turn as text"),
        pytest.param({"query": "a", "turn_from": 3.0}, "turn_from", id="turn as fraction"),
        pytest.param({"query": "a", "turn_to": True}, "turn_to", id="turn as truth"),
        pytest.param({"query": "a", "turn_from": 3, "turn_to": 2}, "turn_to", id="turns backwards"),
        pytest.param({"query": "a", "limit": 0}, "limit", id="limit 0"),
        pytest.param({"query": "a", "limit": 21}, "limit", id="limit 21"),
        pytest.param({"query": "a", "limit": 10**400}, "limit", id="limit of 400 digits"),
        pytest.param({"query": "a", "qurey": "b"}, "qurey", id="unknown"),
    ],
)
def test_a_bad_parameter_is_named(services: Services, start: Start, arguments: dict[str, Any], field: str) -> None:
    start()

    with pytest.raises(ParameterError) as caught:
        search_memory(services, S, read_question(arguments)).as_json()

    assert caught.value.field == field


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "key", "wordings": ["chave", "钥匙"], "scope": "recall", "sources": ["recall"], "limit": 20},
        {"wordings": ["key"], "turn_from": 0, "turn_to": 9},
        {"query": "key", "wordings": None, "scope": None, "sources": None, "turn_from": None, "limit": None},
    ],
)
def test_good_parameters_are_taken(services: Services, start: Start, tell: Tell, arguments: dict[str, Any]) -> None:
    start()
    tell("you: the key")

    answer = search_memory(services, S, read_question(arguments)).as_json()

    assert len(answer["results"]) == 1
    jsonschema.validate(
        {name: value for name, value in arguments.items() if value is not None}, MEMORY_SEARCH["parameters"]
    )


def test_the_tools_schema_is_a_schema_and_serialises() -> None:
    jsonschema.Draft202012Validator.check_schema(MEMORY_SEARCH["parameters"])

    text = json.dumps(MEMORY_SEARCH)

    assert "Words are matched" in text
    assert "names" in text


def test_a_session_that_is_not_there_is_told(services: Services) -> None:
    with pytest.raises(NotFound, match="no session 's'"):
        search_memory(services, S, read_question({"query": "key"})).as_json()


def test_nothing_found_says_what_to_try_and_never_pads(services: Services, start: Start, tell: Tell) -> None:
    start()
    empty = search_memory(services, S, read_question({"query": "lighthouse"})).as_json()
    narrowed = search_memory(services, S, read_question({"query": "lighthouse", "sources": ["recall"]})).as_json()
    tell("you: the key", "Narrator: the door")

    answer = search_memory(services, S, read_question({"query": "lighthouse"})).as_json()
    wordless = search_memory(services, S, read_question({"query": "？……"})).as_json()
    bounded = search_memory(services, S, read_question({"query": "lighthouse", "turn_from": 1})).as_json()
    outside = search_memory(services, S, read_question({"query": "key", "turn_from": 7})).as_json()

    for each in (empty, narrowed, answer, wordless, bounded, outside):
        assert each["results"] == []
    assert empty["hint"] == "there is nothing to search here"
    assert narrowed["hint"] == "these sources hold nothing to search"
    assert "words are matched, not meaning" in answer["hint"]
    assert "no words" in wordless["hint"]
    assert "leave out the bounds of turns" in bounded["hint"]
    assert outside["hint"] == "nothing lies between these turns; the story has turns 0 to 1"
