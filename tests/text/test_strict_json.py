"""JSON of a plugin's files is refused in the checker for what the store would refuse, and in words of people."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.db import dumps
from talekeeper.errors import ParameterError
from talekeeper.text import JSON_DEPTH_LIMIT, NotJson, json_depth, read_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**54), 2**54)
    | st.floats()
    | st.text(st.characters(exclude_categories=[]), max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def stored(text: str) -> bool:
    """Whether the store's own writer takes what the standard library reads."""
    try:
        dumps(json.loads(text), "it")
    except (ParameterError, RecursionError):
        return False
    return True


def taken(text: str) -> bool:
    try:
        return json_depth(read_json(text.encode())) <= JSON_DEPTH_LIMIT
    except NotJson:
        return False


@given(VALUES)
def test_what_is_taken_can_be_stored_and_what_is_refused_cannot(value: object) -> None:
    text = json.dumps(value)

    assert taken(text) == stored(text)


@pytest.mark.parametrize("levels", [JSON_DEPTH_LIMIT, JSON_DEPTH_LIMIT + 1, 100_000])
@pytest.mark.parametrize("inner", ["", "1"])
def test_nesting_ends_where_the_store_ends_it(levels: int, inner: str) -> None:
    text = "[" * levels + inner + "]" * levels

    assert taken(text) == stored(text) == (levels == JSON_DEPTH_LIMIT)


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("", ":1:1", "expected a value"),
        ('{"a": 1,\n}', ":2:1", "expected a key in double quotes"),
        ("[1,\n]", ":2:1", "expected a value"),
        ("{'a': 1}", ":1:2", "expected a key in double quotes"),
        ("[1 2]", ":1:4", "expected a comma or a closing bracket"),
        ('{"a" 1}', ":1:6", "expected a colon after the key"),
        ('["a', ":1:2", "the text that begins here has no closing quote"),
        ('["a\tb"]', ":1:4", "text has a line break or another control character; write it as an escape"),
        (r'["\x"]', ":1:3", "a backslash here begins no escape that JSON has"),
        ("{} {}", ":1:4", "something follows the end of the value"),
        ("True", ":1:1", "expected a value"),
    ],
)
def test_a_fault_of_syntax_has_a_sentence_and_a_place(text: str, place: str, says: str) -> None:
    with pytest.raises(NotJson) as caught:
        read_json(text.encode())

    assert str(caught.value) == f"is not JSON: {says}"
    assert caught.value.place == place
