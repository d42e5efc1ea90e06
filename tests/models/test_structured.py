from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.errors import BadReply, ModelUnreachable, ParameterError
from talekeeper.json_schema import Validator
from talekeeper.models import Reply, Request, ToolCall, Usage, ask_structured, read_arguments
from talekeeper.models.client import Client
from talekeeper.models.structured import check_bounded, fitting
from talekeeper.testing import ScriptedServer, fail, say, say_json

MakeClient = Callable[..., Client]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "scene": {"type": "string", "maxLength": 40},
        "new_facts": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 20}},
    },
}


def nest(depth: int) -> str:
    """Lists in lists, well-formed."""
    return "[" * depth + "]" * depth


def test_a_good_answer_is_asked_for_once(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([say_json({"scene": "Am Hafen"})]) as server:
        answer = ask_structured(make_client(server), question, SCHEMA, name="blocks")

    assert (answer.value, answer.attempts) == ({"scene": "Am Hafen"}, 1)
    assert server.chats[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "blocks", "schema": SCHEMA},
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Based on {travel}, here is: {"scene":"At the harbour"}', {"scene": "At the harbour"}),
        ('```json\n{"scene": "x"}\n```', {"scene": "x"}),
        ('Sure!\n\n```\n{"scene": "x"}\n```\nAnything else?', {"scene": "x"}),
        ('{"scene": "x"} Note: {} would mean that nothing changed.', {"scene": "x"}),
        ('I thought of {} but say {"scene": "x"}', {"scene": "x"}),
        ('<think>{"scene": "no"} hm {</think>{"scene": "x"}', {"scene": "x"}),
        ('{"scene": "a } b { c"}', {"scene": "a } b { c"}),
        ('```python\ndef f(): return {1}\n```\n{"scene": "x"}', {"scene": "x"}),
        ('{"scene": "far too long for what the schema allows, really"} {"scene": "x"}', {"scene": "x"}),
        ('\ufeff \n{"scene": "x"}\n', {"scene": "x"}),
        ('{"scene": "a\\u0000b\\ud83d"}', {"scene": "ab\ufffd"}),
        ("{}", {}),
    ],
)
def test_what_stands_around_the_object_is_passed_over(text: str, value: dict[str, Any]) -> None:
    found, _ = fitting(Reply(text), Validator(SCHEMA))

    assert found == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Nothing has changed.", "it holds no JSON object"),
        ("", "it holds no JSON object"),
        ('["scene"]', "it holds no JSON object"),
        ('{"scene": "cut o', "its JSON is broken"),
        ('{"new_facts": ["a", {}', "its JSON is broken"),
        ('{"scene": oops, "more": {}}', "its JSON is broken"),
        ('```json\n{"scene": "x"\n```\n{}', "its JSON is broken"),
        ('{"scene": NaN}', "its JSON is broken"),
        ('{"scene": 3}', "scene: must be of type string"),
        ('{"new_facts": ["a", "b", "c", "d"]}', "new_facts: has 4 items, and at most 3"),
        ('{"scene": "' + "x" * 300 + '"}', "scene: has 300 characters, and at most"),
        ('{"a":' * 50_000, "its JSON is broken (it is nested too deep)"),
        *((f'{{"a": {nest(depth)}}}', "its JSON is broken (it is nested too deep)") for depth in (64, 400, 900)),
        ("{" * 500_000, "its JSON is broken"),
        ('{"' * 250_000, "its JSON is broken"),
        ("{x" * 250_000, "it holds no JSON object"),
        ("```\n" * 125_000, "it holds no JSON object"),
        ('{"scene": 1}' * 40_000, "scene: must be of type string"),
    ],
    ids=lambda value: value[:30],
)
def test_what_cannot_be_used_is_said_and_nothing_is_taken_for_it(text: str, told: str) -> None:
    found, misfit = fitting(Reply(text), Validator(SCHEMA))

    assert found is None
    assert misfit.startswith(told)


def test_the_second_question_shows_the_first_answer_and_the_error(make_client: MakeClient, question: Request) -> None:
    script = [say("Alas: {scene}"), say_json({"scene": "x"})]

    with ScriptedServer(script) as server:
        answer = ask_structured(make_client(server), question, SCHEMA)

    first, second = (chat.body["messages"] for chat in server.chats)
    assert second[: len(first)] == first
    assert second[len(first)] == {"role": "assistant", "content": "Alas: {scene}"}
    assert "it holds no JSON object" in second[len(first) + 1]["content"]
    assert (answer.value, answer.attempts, answer.usage) == ({"scene": "x"}, 2, Usage(20, 4))


def test_two_bad_answers_are_an_error_and_the_last(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([say("no"), say('{"scene": 1}')]) as server, pytest.raises(BadReply) as caught:
        ask_structured(make_client(server), question, SCHEMA, name="blocks")

    assert "structured answer blocks: no usable answer in two: scene: must be of type string" in str(caught.value)
    assert caught.value.data["usage"] == Usage(20, 3)
    assert len(server.chats) == 2


def test_an_answer_cut_at_its_limit_is_said_to_be(make_client: MakeClient, question: Request) -> None:
    script = [say('{"scene": "cut', finish="length"), say_json({})]

    with ScriptedServer(script) as server:
        ask_structured(make_client(server), question, SCHEMA)

    assert "cut off at its length limit" in server.chats[1].body["messages"][-1]["content"]


def test_a_long_first_answer_is_shown_in_part(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([say("x" * 100_000, piece=5000), say_json({})]) as server:
        ask_structured(make_client(server), question, SCHEMA)

    assert len(server.chats[1].body["messages"][-2]["content"]) == 2002


def test_other_errors_pass_through(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([fail(404)]) as server, pytest.raises(ModelUnreachable):
        ask_structured(make_client(server), question, SCHEMA)


def test_an_error_after_a_first_answer_says_what_that_took(make_client: MakeClient, question: Request) -> None:
    script = [say("no JSON"), fail(404)]

    with ScriptedServer(script) as server, pytest.raises(ModelUnreachable) as caught:
        ask_structured(make_client(server), question, SCHEMA)

    assert caught.value.data["usage"] == Usage(10, 2)


def test_a_frozen_schema_will_do(make_client: MakeClient, question: Request) -> None:
    frozen = MappingProxyType({"type": "object", "properties": MappingProxyType({"a": {"type": "integer"}})})

    with ScriptedServer([say_json({"a": 1})]) as server:
        answer = ask_structured(make_client(server), question, frozen)

    assert answer.value == {"a": 1}


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({}, 'schema: is not of type "object"'),
        ({"type": "array", "maxItems": 1}, 'schema: is not of type "object"'),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}},
            "schema/properties/a: is a string without an end",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "array", "maxItems": 2, "items": {"type": "string"}}}},
            "schema/properties/a/items: is a string",
        ),
        ({"type": "object", "properties": {"a": {"type": ["null", "array"]}}}, "is an array without an end"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "schema/additionalProperties"),
        ({"type": "object", "anyOf": [{"properties": {"a": {"type": "string"}}}]}, "schema/anyOf/0/properties/a"),
    ],
)
def test_a_schema_that_bounds_nothing_is_refused_before_the_call(
    make_client: MakeClient, question: Request, schema: dict[str, Any], told: str
) -> None:
    with ScriptedServer() as server, pytest.raises(ParameterError, match=told):
        ask_structured(make_client(server), question, schema)

    assert server.requests == []


def test_values_that_are_named_need_no_length() -> None:
    check_bounded({"type": "object", "properties": {"a": {"type": "string", "enum": ["string"]}, "b": {"const": "x"}}})


def test_a_reference_to_elsewhere_is_not_fetched(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer() as server:
        schema = {"type": "object", "properties": {"a": {"$ref": f"{server.base_url}/schema.json"}}}
        with pytest.raises(ParameterError, match="schema: cannot be used"):
            ask_structured(make_client(server), question, schema)

    assert server.requests == []


STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
ANYTHING = Validator({"type": "object"})


@given(
    st.text('{}"\\ a:\n`[],', max_size=30),
    st.dictionaries(STORABLE, st.integers() | STORABLE, max_size=3),
    st.text("} a:\n.", max_size=20),
)
def test_an_answer_is_an_object_that_stands_in_the_text_or_nothing(
    before: str, value: dict[str, Any], after: str
) -> None:
    text = f"{before}{say_json(value).text}{after}"

    found, misfit = fitting(Reply(text), ANYTHING)

    assert (found is None) == bool(misfit)
    if not set(before) & set('{"`'):
        assert found == value


@pytest.mark.parametrize(
    ("arguments", "value"), [('{"a": 1}', {"a": 1}), ("", {}), ("  ", {}), (' {"a": "\\ud800"} ', {"a": "\ufffd"})]
)
def test_arguments_of_a_call_are_read(arguments: str, value: dict[str, Any]) -> None:
    assert read_arguments(ToolCall("1", "roll", arguments)) == value


@pytest.mark.parametrize(
    "arguments",
    ["[1]", "3", "{", '{"a": 1} x', '{"a": Infinity}', "[" * 100_000, "9" * 10_000, f'{{"a": {nest(480)}}}'],
)
def test_arguments_that_are_no_object_are_a_sentence_for_the_model(arguments: str) -> None:
    with pytest.raises(ParameterError, match="roll: the arguments are no"):
        read_arguments(ToolCall("1", "roll", arguments))
