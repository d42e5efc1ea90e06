"""Whether a schema is valid: we say what jsonschema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from talekeeper.json_schema import DIALECT, InvalidSchema, Validator, fits, invalid_schema

ROOT = Path(__file__).parents[2]
KEYWORDS = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$ref",
    "$schema",
    "$vocabulary",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "else",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "strange",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
]
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.booleans()
    | st.integers(-1, 3)
    | st.just(0.5)
    | st.none()
    | st.sampled_from(["string", "object", "strin", "#", "#/$defs/a", DIALECT, ""]),
    lambda it: st.lists(it, max_size=3) | st.dictionaries(st.sampled_from([*KEYWORDS, "a", "b"]), it, max_size=4),
    max_leaves=10,
)


def accepted(schema: Any) -> bool:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return False
    return True


@given(st.dictionaries(st.sampled_from(KEYWORDS), VALUES, max_size=4))
def test_a_schema_is_invalid_exactly_where_jsonschema_says_so(schema: Any) -> None:
    assert (not invalid_schema(schema)) == accepted(schema)


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_the_two_agree_on_every_keyword(keyword: str) -> None:
    values: list[Any] = [1, "a", "#", True, {}, {"a": 1}, {"a": {}}, {"a": ["b"]}, [], ["a", "a"], [{}]]

    ours = [not invalid_schema({keyword: value}) for value in values]

    assert ours == [accepted({keyword: value}) for value in values]


def test_a_schema_is_faulted_at_each_place_once() -> None:
    schema: dict[str, Any] = {"type": "strin", "properties": {"a": 1, "b": {"minLength": -1}}}

    assert invalid_schema(schema) == [
        ("properties/a", "must be of type boolean or object"),
        ("properties/b/minLength", "must be at least 0"),
        ("type", "must fit one of 2 schemas, and fits none"),
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "tests/manifest/good").glob("**/*.json")), ids=lambda it: it.name)
def test_the_schemas_of_good_manifests_are_valid(path: Path) -> None:
    assert invalid_schema(json.loads(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("schema", [{"type": "strin"}, {"properties": 1}, {"$ref": "#/$defs/none"}, {"pattern": "("}])
def test_an_invalid_schema_makes_no_validator(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidSchema):
        Validator(schema)


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer"}, True, False),
        ({"enum": [1]}, True, False),
        ({"maximum": 5}, 10**400, False),
        ({"pattern": "^a$"}, "a\n", False),
        ({"uniqueItems": True}, [1, 1.0], False),
        ({"uniqueItems": True}, [1, True], True),
        ({"format": "email"}, "nobody", True),
        ({"pattern": "(a+)+$"}, "a" * 5000 + "b", False),
    ],
    ids=str,
)
def test_values_are_told_apart_as_the_standard_says(schema: dict[str, Any], value: Any, *, expected: bool) -> None:
    assert fits(schema, value) is expected


@given(st.lists(st.sampled_from([1, 1.0, True, "1", None]), max_size=2))
def test_schemas_of_one_identity_after_another_are_told_apart(values: list[Any]) -> None:
    for value in values:
        assert fits({"const": value}, value)
