"""What a record's schema refuses, and the sentence for each of its rules."""

from __future__ import annotations

from dataclasses import replace

import pytest
from talekeeper.errors import ParameterError
from talekeeper.manifest import Namespace
from talekeeper.story import Scope, Story


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        pytest.param({}, "memory/facts: the property 'text' is missing", id="missing"),
        pytest.param({"text": 3}, "memory/facts/text: must be of type string", id="type"),
        pytest.param({"text": ""}, "memory/facts/text: must have at least 1 character", id="empty"),
        pytest.param({"text": "x", "turn": "one"}, "memory/facts/turn: must be of type integer", id="second"),
        pytest.param(["text"], "memory/facts: a record is a JSON object", id="a list"),
        pytest.param({"text": "x\0"}, "memory/facts/text: holds a NUL", id="NUL"),
        pytest.param({"text": "x", "n": 2**60}, "memory/facts/n: the integer is out of range", id="integer"),
    ],
)
def test_a_value_against_the_schema_is_refused_by_property(
    story: Story, scope: Scope, facts: Namespace, value: object, sentence: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        story.records.put(facts, scope, "k", value)

    assert str(caught.value).startswith(sentence)
    assert story.records.count(facts, scope) == 0


@pytest.mark.parametrize(
    ("rules", "value", "sentence"),
    [
        ({"additionalProperties": False}, {"text": "x", "txet": 1}, "the property 'txet' is not in the schema"),
        ({"properties": {"mood": {"enum": ["calm", "angry"]}}}, {"mood": "sad"}, "must be one of 'calm', 'angry'"),
        ({"properties": {"text": {"maxLength": 3}}}, {"text": "long"}, "has 4 characters, and at most 3 are allowed"),
        ({"properties": {"n": {"minimum": 1}}}, {"n": 0}, "must be at least 1"),
        ({"properties": {"n": {"maximum": 1}}}, {"n": 2}, "must be at most 1"),
        ({"properties": {"tags": {"maxItems": 1}}}, {"tags": [1, 2]}, "has 2 items, and at most 1 are allowed"),
        ({"properties": {"a": {"const": "x" * 200}}}, {"a": 1}, "must be 'xxxx"),
    ],
    ids=["unknown", "enum", "maxLength", "minimum", "maximum", "maxItems", "other"],
)
def test_each_rule_of_a_schema_has_its_sentence(
    story: Story, scope: Scope, facts: Namespace, rules: dict[str, object], value: dict[str, object], sentence: str
) -> None:
    namespace = replace(facts, schema={"type": "object", "properties": {"text": {}}} | rules)

    with pytest.raises(ParameterError) as caught:
        story.records.put(namespace, scope, "k", value)

    assert sentence in str(caught.value)
