"""Values that plainly fit a schema: never one that jsonschema refuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from talekeeper.manifest.plain_value import plainly_fits
from talekeeper.manifest.references import endless
from talekeeper.manifest.table import is_table

NAMES = st.sampled_from(["a", "b", "aa", "a\n", "", "é"])
NUMBERS = st.integers(-2, 3) | st.sampled_from([0.0, 1.0, 1.5, -0.5, 2**53, 10**400, 1e300])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | NAMES,
    lambda it: st.lists(it, max_size=3) | st.dictionaries(NAMES, it, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["array", "boolean", "integer", "null", "number", "object", "string"])
COUNTS = st.integers(0, 3)
PATTERNS = st.sampled_from(["^a$", "a", "^[ab]*$", ""])


def _keywords(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    named, several = st.dictionaries(NAMES, inner, max_size=2), st.lists(inner, min_size=1, max_size=2)
    counts = dict.fromkeys(("Items", "Length", "Properties"), COUNTS)
    return {
        **{f"min{key}": it for key, it in counts.items()},
        **{f"max{key}": it for key, it in counts.items()},
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), NUMBERS),
        **dict.fromkeys(("items", "additionalProperties", "propertyNames", "not", "contains", "if", "then"), inner),
        **dict.fromkeys(("anyOf", "allOf", "oneOf", "prefixItems"), several),
        "$ref": st.sampled_from(["#/$defs/a", "#/properties/a", "#"]),
        "const": VALUES,
        "enum": st.lists(VALUES, max_size=3),
        "format": st.just("email"),
        "multipleOf": st.just(2),
        "pattern": PATTERNS,
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
        "properties": named,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
        "uniqueItems": st.booleans(),
    }


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    # Some keywords at a time: a schema with all of them would refuse everything.
    keywords = _keywords(inner)
    chosen = st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))


INNER = st.recursive(st.booleans() | _schemas(st.booleans()), _schemas, max_leaves=4)


def _with_definition(top: dict[str, Any], named: Any) -> dict[str, Any]:
    return {**top, "$defs": {"a": named}}


SCHEMAS = st.builds(_with_definition, INNER.filter(is_table), INNER)


@given(SCHEMAS, VALUES)
def test_what_fits_plainly_is_refused_by_nobody(schema: Any, value: Any) -> None:
    validator: Any = Draft202012Validator(schema)

    # Of a schema that refers to itself without end jsonschema has nothing to say, and no file may have one.
    assume(plainly_fits(schema, value) and not endless(schema))

    assert validator.is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False},
        {"type": "object", "patternProperties": {"^a$": {"enum": ["b"]}}, "additionalProperties": False},
        {"$defs": {"a": {"const": "b"}}, "properties": {"a": {"$ref": "#/$defs/a"}}, "minProperties": 1},
        {"anyOf": [{"type": "array"}, {"maxProperties": 1, "propertyNames": {"maxLength": 1}}]},
        {"$id": "https://example.org/a", "title": "A", "properties": {"a": {"type": ["string", "null"]}}},
        {"uniqueItems": True},
    ],
)
def test_what_records_usually_are_is_plain(schema: Any) -> None:
    assert plainly_fits(schema, {"a": "b"})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"type": "integer"}, 1.0, id="a whole number written as a broken one"),
        pytest.param({"type": "integer"}, True, id="a truth value is no number"),
        pytest.param({"enum": [1]}, True, id="nor a choice"),
        pytest.param({"maximum": 5}, 10**400, id="a number larger than computers count"),
        pytest.param({"type": "number"}, float("nan"), id="no number"),
        pytest.param({"pattern": "^a$"}, "a\n", id="the end of a text is its very end"),
        pytest.param({"unevaluatedProperties": True}, {}, id="a keyword that is not common"),
        pytest.param({"$ref": "#/$defs/none"}, {}, id="a reference that leads nowhere"),
        pytest.param({"$defs": {"a/b": True}, "$ref": "#/$defs/a/b"}, {}, id="a reference into a definition"),
        pytest.param({"properties": {"a": {"$id": "https://example.org/a"}}}, {"a": 1}, id="a document within"),
        pytest.param({"$ref": "#"}, {}, id="a reference without end"),
        pytest.param({"uniqueItems": True}, [1, 1.0], id="one number in two spellings"),
        pytest.param({"uniqueItems": True}, [{"a": [1], "b": 2}, {"b": 2, "a": [1.0]}], id="one table in two orders"),
    ],
)
def test_what_is_not_sure_is_left_to_others(schema: Any, value: Any) -> None:
    assert not plainly_fits(schema, value)


ALIKE = [1, True, "1", None, [1], [True], [[1]], {"1": 1}, {"1": True}, ["1", 1]]


@pytest.mark.parametrize("one", ALIKE, ids=repr)
@pytest.mark.parametrize("other", ALIKE, ids=repr)
def test_items_are_told_apart_as_json_schema_does(one: Any, other: Any) -> None:
    validator: Any = Draft202012Validator({"uniqueItems": True})

    assert plainly_fits({"uniqueItems": True}, [one, other]) == validator.is_valid([one, other])
