"""Documents: equal values are equal bytes, and what not every JSON reader keeps is refused by name."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.db import dumps, loads
from talekeeper.errors import ParameterError
from talekeeper.text import EXACT_INTEGER, JSON_DEPTH_LIMIT

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-EXACT_INTEGER, EXACT_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_what_is_written_reads_back_the_same(value: Any) -> None:
    document = dumps(value, "value")

    assert loads(document, "value") == value
    assert json.loads(document) == value
    assert dumps(loads(document, "value"), "value") == document


@given(st.dictionaries(texts, values, max_size=6))
def test_the_order_of_keys_does_not_matter(value: dict[str, Any]) -> None:
    backwards = dict(reversed(value.items()))

    assert dumps(backwards, "value") == dumps(value, "value")


def test_read_only_mappings_and_tuples_are_plain_json() -> None:
    assert dumps(MappingProxyType({"b": (1, 2), "a": "é"}), "value") == '{"a":"é","b":[1,2]}'


@pytest.mark.parametrize(
    ("value", "field"),
    [
        pytest.param(float("nan"), "value", id="NaN"),
        pytest.param([1.0, float("-inf")], "value/1", id="infinity"),
        pytest.param({"a": 2**53}, "value/a", id="integer"),
        pytest.param({"a": {"b": -(2**53)}}, "value/a/b", id="negative integer"),
        pytest.param({"a": "x\0"}, "value/a", id="NUL"),
        pytest.param(["\ud800"], "value/0", id="lone surrogate"),
        pytest.param({"\udc00": 1}, "value", id="lone surrogate in a key"),
        pytest.param({1: 2}, "value", id="key not a string"),
        pytest.param(b"bytes", "value", id="bytes"),
        pytest.param({"a": {1, 2}}, "value/a", id="set"),
    ],
)
def test_what_is_not_portable_json_is_refused_by_name(value: object, field: str) -> None:
    with pytest.raises(ParameterError) as caught:
        dumps(value, "value")

    assert caught.value.field == field


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        pytest.param("[" * 100_000, "nested more than 64 levels", id="depth"),
        pytest.param('{"a":' * 100_000, "nested more than 64 levels", id="depth of objects"),
        pytest.param("9" * 10_000, "a whole number beyond", id="digits"),
        pytest.param("[NaN]", "has NaN", id="NaN"),
        pytest.param("[-Infinity]", "has -Infinity", id="infinity"),
        pytest.param("[1e999]", "has the number 1e999", id="overflow"),
        pytest.param('{"a": 1, "b": 2, "a": 1}', 'the key "a" twice', id="doubled key"),
        pytest.param('"\\u0000"', "NUL", id="NUL"),
        pytest.param('["\\ud83d"]', "half a surrogate pair", id="lone surrogate"),
        pytest.param("", "not JSON", id="nothing"),
        pytest.param('{"a": 1', "not JSON", id="cut"),
        pytest.param("{'a': 1}", "not JSON: .* line 1, column 2", id="quotes"),
    ],
)
def test_a_document_from_outside_is_read_strictly(document: str, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        loads(document, "line")


def test_depth_is_counted_outside_strings() -> None:
    document = json.dumps({"a": "[{" * 500 + '"\\'})

    assert loads(document, "value") == {"a": "[{" * 500 + '"\\'}


def test_the_deepest_allowed_is_allowed_both_ways() -> None:
    document = "[" * JSON_DEPTH_LIMIT + "]" * JSON_DEPTH_LIMIT

    assert dumps(loads(document, "value"), "value") == document
    with pytest.raises(ParameterError, match="nested deeper"):
        dumps([loads(document, "value")], "value")
