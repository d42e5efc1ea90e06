"""What does not fit a JSON Schema is said in sentences of our own, for every keyword of the dialect."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import reduce
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from talekeeper.json_schema import InvalidSchema, schema_fault

CASES: list[tuple[dict[str, Any], Any, str, str]] = [
    ({"required": ["a"]}, {}, "", "the property 'a' is missing"),
    ({"properties": {}, "required": ["a"], "additionalProperties": False}, {"a": 1}, "", "the property 'a' is not in"),
    ({"type": "object", "required": ["b"], "additionalProperties": False}, {"a": 1}, "", "the property 'b' is missing"),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "", "the property 'b' is missing, which goes with 'a'"),
    ({"additionalProperties": False}, {"z": 1}, "", "the property 'z' is not in the schema"),
    ({"unevaluatedProperties": False}, {"z": 1}, "", "the property 'z' is not in the schema"),
    (
        {"unevaluatedProperties": False, "allOf": [{"properties": {"a": {}}}]},
        {"a": 1, "z": 1},
        "",
        "the property 'z' is not in the schema",
    ),
    ({"properties": {"a": False}}, {"a": 1}, "", "1 is not allowed by the schema"),
    ({"type": ["object", "null"]}, 1, "", "must be of type object or null"),
    ({"enum": ["a", None, True]}, 1, "", "must be one of 'a', null, true"),
    ({"enum": list(range(20))}, "x", "", "must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8 more"),
    ({"const": False}, 1, "", "must be false"),
    ({"minLength": 1}, "", "", "must have at least 1 character"),
    ({"maxLength": 2}, "abc", "", "has 3 characters, and at most 2 are allowed"),
    ({"minItems": 2}, [], "", "must have at least 2 items"),
    ({"maxItems": 1}, [1, 2], "", "has 2 items, and at most 1 are allowed"),
    ({"minProperties": 1}, {}, "", "must have at least 1 property"),
    ({"maxProperties": 0}, {"a": 1}, "", "has 1 property, and at most 0 are allowed"),
    ({"minimum": 1}, 0, "", "must be at least 1"),
    ({"maximum": 1.5}, 2, "", "must be at most 1.5"),
    ({"exclusiveMinimum": 1}, 1, "", "must be more than 1"),
    ({"exclusiveMaximum": 1}, 1, "", "must be less than 1"),
    ({"multipleOf": 2}, 3, "", "must be a multiple of 2"),
    ({"uniqueItems": True}, [1, 1], "", "has an item twice"),
    ({"prefixItems": [{}], "items": False}, [1, 2], "", "has more items than the schema allows"),
    ({"prefixItems": [{}], "unevaluatedItems": False}, [1, 2], "", "has more items than the schema allows"),
    ({"contains": {"const": 1}}, [], "", "has too few or too many of the items the schema asks for"),
    ({"oneOf": [{}, {}]}, 1, "", "must fit one of 2 schemas, and fits several"),
    ({"oneOf": [{}, {}, {"type": "null"}]}, 1, "", "must fit one of 3 schemas, and fits several"),
    ({"not": {}}, 1, "", "is what the schema rules out"),
    ({"propertyNames": {"enum": ["a"]}}, {"z": 1}, "", "the name of the property 'z' must be one of 'a'"),
    ({"propertyNames": False}, {"z": 1}, "", "the name of the property 'z' is not allowed by the schema"),
    ({"properties": {"propertyNames": {"type": "null"}}}, {"propertyNames": "z"}, "propertyNames", "must be of"),
    ({"items": {"properties": {"a": {"type": "string"}}}}, [{"a": 1}], "0/a", "must be of type string"),
    ({"if": {}, "then": {"required": ["a"]}}, {}, "", "the property 'a' is missing"),
]


@pytest.mark.parametrize(("schema", "value", "place", "says"), CASES)
def test_every_rule_has_its_sentence(schema: dict[str, Any], value: Any, place: str, says: str) -> None:
    found = schema_fault(schema, value)

    assert found is not None
    assert found[0] == place
    assert found[1].startswith(says)


BEST_MATCH: Any = import_module("jsonschema").exceptions.best_match  # its types are half unknown
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.just(0.5) | st.sampled_from(["", "a", "long"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    max_leaves=5,
)
COUNT = st.integers(0, 2)


def _rules(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    named = st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    choice = st.lists(inner, min_size=1, max_size=2)
    names = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True)
    counts = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains")
    bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    one = ("additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "contains", "not")
    rules = {
        **dict.fromkeys(counts + bounds, COUNT),
        **dict.fromkeys((*one, "propertyNames", "if", "then", "else"), inner),
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), choice),
        **dict.fromkeys(("properties", "dependentSchemas"), named),
        "required": names,
        "dependentRequired": st.dictionaries(st.sampled_from(["a", "b"]), names, max_size=2),
        "type": st.sampled_from(["string", "integer", "object", "array", "null", ["boolean", "number"]]),
        "enum": st.lists(VALUES, max_size=2),
        "const": VALUES,
        "uniqueItems": st.booleans(),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
    }
    return st.lists(st.sampled_from(sorted(rules)), max_size=3, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({name: rules[name] for name in chosen})
    )


@given(schema=st.recursive(st.booleans() | _rules(st.booleans()), _rules, max_leaves=4), value=VALUES)
def test_whatever_does_not_fit_is_told_and_nothing_else(schema: Any, value: Any) -> None:
    whole = {"allOf": [schema]}

    oracle: Any = Draft202012Validator(whole)

    found = schema_fault(whole, value)

    assert (found is None) == oracle.is_valid(value)
    assert found is None or "the schema's rule" not in found[1]


@given(schema=st.recursive(st.booleans() | _rules(st.booleans()), _rules, max_leaves=4), value=VALUES)
def test_of_several_errors_the_best_match_is_told(schema: Any, value: Any) -> None:
    whole = {"allOf": [schema]}
    oracle: Any = Draft202012Validator(whole)
    best = BEST_MATCH(oracle.iter_errors(value))

    found = schema_fault(whole, value)

    assert (found and found[0]) == (best and "/".join(map(str, best.absolute_path)))


def _nested(levels: int, within: Callable[[Any], Any], innermost: Any) -> Any:
    return reduce(lambda inner, _: within(inner), range(levels), innermost)


def test_a_schema_that_asks_about_every_level_many_times_is_answered() -> None:
    schema = {"type": "object", "properties": {"a": _nested(25, lambda it: {"allOf": [it]}, {"$ref": "#"})}}

    found = schema_fault(schema, _nested(60, lambda it: {"a": it}, 1))

    assert found == ("/".join("a" * 60), "must be of type object")


@pytest.mark.parametrize("levels", [100, 900])
def test_a_deep_value_is_answered(levels: int) -> None:
    schema = {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False}

    assert schema_fault(schema, _nested(levels, lambda it: {"a": it}, {})) is None
    assert schema_fault(schema, _nested(levels, lambda it: {"a": it}, {"b": 1})) == (
        "/".join("a" * levels),
        "the property 'b' is not in the schema",
    )


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#"}]}}}])
def test_a_schema_that_refers_to_itself_without_end_is_answered(schema: dict[str, Any]) -> None:
    assert schema_fault(schema, {"a": 1}) is None


@pytest.mark.parametrize(
    "reference", ["https://example.org/a.json", "http://127.0.0.1/a", "file:///etc/passwd", "other.json", "#/$defs/a"]
)
def test_what_a_schema_refers_to_is_never_fetched(reference: str) -> None:
    with pytest.raises(InvalidSchema):
        schema_fault({"properties": {"a": {"$ref": reference}}}, {"a": 1})


def test_half_a_surrogate_pair_is_a_misfit() -> None:
    assert schema_fault({"minLength": 1}, "\ud800") == ("", "has half a surrogate pair in a text")


@pytest.mark.parametrize("value", [date(2026, 1, 1), b"a", {1}], ids=["date", "bytes", "set"])
def test_a_value_that_json_does_not_have_is_a_misfit(value: object) -> None:
    found = schema_fault({"properties": {"a": {"type": "string"}}}, {"a": value})

    assert found == ("", "holds a value that JSON does not have")
