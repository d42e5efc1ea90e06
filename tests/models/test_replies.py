from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from talekeeper.errors import AuthFailed, BadReply, ContextOverflow, ModelUnreachable
from talekeeper.models import ChatMessage, Request, ToolCall, ToolOffer, Usage
from talekeeper.models.client import Client
from talekeeper.testing import ScriptedServer, Step, call_tool, fail, hash_vector, overflow, raw, say

MakeClient = Callable[..., Client]


def _event(delta: str, finish: str = "null") -> str:
    return f'data: {{"choices": [{{"delta": {delta}, "finish_reason": {finish}}}]}}\n\n'


def test_an_answer_comes_in_pieces_that_make_up_its_text(make_client: MakeClient, question: Request) -> None:
    script = [say("The door opens. 门开了。", piece=3)]

    with ScriptedServer(script) as server, make_client(server).stream(question) as stream:
        pieces = [piece for piece in stream if piece]

    assert len(pieces) > 3
    assert "".join(pieces) == stream.reply.text == "The door opens. 门开了。"
    assert stream.reply.finish == "stop"
    assert stream.reply.usage == Usage(10, 4)


def test_without_streaming_the_answer_is_the_same(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([say("The door opens.")]) as server:
        reply = make_client(server, stream=False).complete(question)

    assert "stream" not in server.chats[0].body
    assert (reply.text, reply.finish, reply.usage) == ("The door opens.", "stop", Usage(10, 3))


def test_an_endpoint_may_answer_whole_where_a_stream_was_asked_for(make_client: MakeClient, question: Request) -> None:
    body = '{"choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}]}'

    with ScriptedServer([raw(body, "application/json")]) as server:
        reply = make_client(server).complete(question)

    assert reply.text == "Whole."


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_tool_calls_are_put_together(make_client: MakeClient, question: Request, stream: bool) -> None:
    offer = ToolOffer("roll-dice", "Rolls.", {"type": "object", "properties": {"sides": {"type": "integer"}}})
    asking = Request(question.messages, tools=[offer])

    with ScriptedServer([call_tool("roll-dice", {"sides": 20}, text="Let us see.")]) as server:
        reply = make_client(server, stream=stream).complete(asking)

    assert reply.text == "Let us see."
    assert reply.tool_calls == (ToolCall("call_0", "roll-dice", '{"sides": 20}'),)
    assert reply.finish == "tool_calls"
    assert server.chats[0].body["tools"][0]["function"]["name"] == "roll-dice"


def test_what_a_tool_answered_goes_back_under_its_call(make_client: MakeClient) -> None:
    call = ToolCall("call_7", "roll-dice", '{"sides": 6}')
    asking = Request([ChatMessage("assistant", tool_calls=(call,)), ChatMessage("tool", "4", answers="call_7")])

    with ScriptedServer([say("A four.")]) as server:
        make_client(server).complete(asking)

    assistant, tool = server.chats[0].body["messages"]
    assert assistant["content"] is None
    assert assistant["tool_calls"] == [
        {"id": "call_7", "type": "function", "function": {"name": "roll-dice", "arguments": '{"sides": 6}'}}
    ]
    assert tool == {"role": "tool", "content": "4", "tool_call_id": "call_7"}


def test_the_request_has_the_slots_sampling_and_the_questions_own_wins(
    make_client: MakeClient, question: Request
) -> None:
    asking = Request(question.messages, reply=7, sampling={"temperature": 0.1, "messages": "no"})

    with ScriptedServer([say("Yes.")]) as server:
        make_client(server, sampling={"temperature": 0.9, "top_p": 0.5}).complete(asking)

    body = server.chats[0].body
    assert (body["temperature"], body["top_p"], body["max_tokens"], body["model"]) == (0.1, 0.5, 7, "m")
    assert len(body["messages"]) == 2


@pytest.mark.parametrize(
    ("mode", "form", "in_prompt"),
    [("schema", "json_schema", False), ("object", "json_object", True), ("prompt", None, True)],
)
def test_json_is_asked_for_in_the_way_the_endpoint_knows(
    make_client: MakeClient, question: Request, mode: str, form: str | None, in_prompt: bool
) -> None:
    schema = {"type": "object", "properties": {"scene": {"type": "string", "maxLength": 9}}}

    with ScriptedServer([say("{}")]) as server:
        make_client(server, json=mode).complete(Request(question.messages, schema=schema, schema_name="scene"))

    body = server.chats[0].body
    assert body.get("response_format", {}).get("type") == form
    assert ("maxLength" in body["messages"][-1]["content"]) == in_prompt


@pytest.mark.parametrize(
    ("deltas", "text", "calls"),
    [
        pytest.param(
            ['{"content": "\\ud83d"}', '{"content": "\\ude00!"}'], "😀!", (), id="a character cut into its two halves"
        ),
        pytest.param(['{"content": "a\\u0000b\\udc00"}'], "ab�", (), id="NUL and half a character"),
        pytest.param(['{"content": [{"type": "text", "text": "parts"}]}'], "parts", (), id="content in parts"),
        pytest.param(['{"role": "assistant"}', '{"content": null}', '{"content": "x"}'], "x", (), id="empty deltas"),
        pytest.param(['{"reasoning_content": "hm"}', '{"content": "x"}'], "x", (), id="thoughts are not text"),
        pytest.param(
            [
                '{"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]}',
                '{"tool_calls": [{"function": {"arguments": "}"}}]}',
                '{"tool_calls": [{"id": "b", "function": {"name": "g", "arguments": "{}"}}]}',
            ],
            "",
            (ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}")),
            id="calls without an index",
        ),
        pytest.param(
            [
                '{"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]}',
                '{"tool_calls": [{"index": 0, "id": "b", "function": {"name": "g", "arguments": "{}"}}]}',
            ],
            "",
            (ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}")),
            id="every call has index 0",
        ),
        pytest.param(
            [
                '{"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{\\"a\\""}}]}',
                '{"tool_calls": [{"index": 1, "function": {"name": "g", "arguments": "{}"}}]}',
                '{"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}',
            ],
            "",
            (ToolCall("call_1", "f", '{"a": 1}'), ToolCall("call_2", "g", "{}")),
            id="calls interleaved and without ids",
        ),
        pytest.param(
            ['{"tool_calls": [{"function": {"name": "f", "arguments": {"a": "é"}}}]}'],
            "",
            (ToolCall("call_1", "f", '{"a": "é"}'),),
            id="arguments as an object",
        ),
        pytest.param(
            ['{"tool_calls": ["x", {"function": 3}], "content": 7}'], "", (ToolCall("call_1", "", ""),), id="rubbish"
        ),
    ],
)
def test_the_liberties_that_endpoints_take(
    make_client: MakeClient, question: Request, deltas: list[str], text: str, calls: tuple[ToolCall, ...]
) -> None:
    body = ": keep-alive\n\n" + "".join(map(_event, deltas)) + _event("{}", '"stop"') + "data: [DONE]\n\n"

    with ScriptedServer([raw(body)]) as server:
        reply = make_client(server).complete(question)

    assert reply.text == text
    assert reply.tool_calls == calls


def test_a_stream_that_says_done_without_a_finish_is_whole(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([raw(_event('{"content": "x"}') + "data: [DONE]\n\n")]) as server:
        reply = make_client(server).complete(question)

    assert (reply.text, reply.finish) == ("x", "stop")


BIG = "x" * 60_000


@pytest.mark.parametrize(
    ("step", "error", "told"),
    [
        (fail(401, "no such key"), AuthFailed, "no such key"),
        (fail(403, "not for you"), AuthFailed, "not for you"),
        (fail(404, "no model x"), ModelUnreachable, "no model x"),
        (fail(400, "temperature is too hot"), BadReply, "too hot"),
        (raw("", "text/html", status=307, location="http://169.254.169.254/"), ModelUnreachable, "redirect"),
        (overflow(), ContextOverflow, "maximum context length"),
        (raw("<html>hello</html>", "text/html"), BadReply, "text/html"),
        (raw("not json", "application/json"), BadReply, "not JSON"),
        (raw("[]", "application/json"), BadReply, "no JSON object"),
        (raw('{"choices": []}', "application/json"), BadReply, "no message"),
        (raw('{"a": NaN}', "application/json"), BadReply, "not JSON"),
        (raw("[" * 100_000, "application/json"), BadReply, "nested too deep"),
        (raw(f'{{"choices": {"[" * 480}{"]" * 480}}}', "application/json"), BadReply, "nested too deep"),
        (raw('{"a": ' + "9" * 10_000 + "}", "application/json"), BadReply, "not JSON"),
        (raw("data: {broken\n\n"), BadReply, "event of the stream is not JSON"),
        (raw("data: " + BIG * 20 + "\n\n"), BadReply, "larger than 1 MiB"),
        (raw((_event(f'{{"content": "{BIG}"}}')) * 20), BadReply, "1,000,000 characters"),
        (raw("x", "application/json", content_encoding="gzip"), BadReply, "compressed"),
        (raw('data: {"error": {"code": 404, "message": "gone"}}\n\n'), ModelUnreachable, "gone"),
        (raw('data: {"error": {"code": "context_length_exceeded"}}\n\n'), ContextOverflow, "too long"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_and_asked_once(
    make_client: MakeClient, question: Request, step: Step, error: type[Exception], told: str
) -> None:
    with ScriptedServer(lambda _: step) as server, pytest.raises(error, match=told) as caught:
        make_client(server).complete(question)

    assert "model slot narrator (http://127.0.0.1:" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        "request (9001 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "Trying to keep the first 9001 tokens when context the overflows. However, the model is loaded with 4096",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "prompt is too long: 214031 tokens > 200000 maximum",
        "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
        "Context size has been exceeded.",
    ],
)
def test_a_prompt_that_is_too_long_is_known_in_every_wording(
    make_client: MakeClient, question: Request, said: str
) -> None:
    with ScriptedServer([fail(400, said)]) as server, pytest.raises(ContextOverflow):
        make_client(server).complete(question)


def test_the_first_listed_model_that_writes_is_taken_when_none_is_named(
    make_client: MakeClient, question: Request
) -> None:
    with ScriptedServer([say("a"), say("b")], models=("nomic-embed-text", "llama", "other")) as server:
        client = make_client(server, model="")
        client.complete(question)
        client.complete(question)

    assert [request.path for request in server.requests] == ["/v1/models", *["/v1/chat/completions"] * 2]
    assert server.chats[0].body["model"] == "llama"


def test_vectors_come_in_the_order_of_the_texts(make_client: MakeClient) -> None:
    texts = [f"text {number}" for number in range(7)]

    with ScriptedServer() as server:
        vectors = make_client(server, name="embedding", batch=3).embed(texts)

    assert vectors == [hash_vector(text) for text in texts]
    assert [len(request.body["input"]) for request in server.requests] == [3, 3, 1]


def test_no_text_asks_for_nothing(make_client: MakeClient) -> None:
    with ScriptedServer() as server:
        vectors = make_client(server, model="").embed([])

    assert vectors == []
    assert server.requests == []


def test_vectors_are_put_in_order_by_their_number(make_client: MakeClient) -> None:
    body = '{"data": [{"index": 1, "embedding": [2, 2]}, {"index": 0, "embedding": [1, 1.5]}]}'

    with ScriptedServer(embeddings=[raw(body, "application/json")]) as server:
        vectors = make_client(server).embed(["a", "b"])

    assert vectors == [[1.0, 1.5], [2.0, 2.0]]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ('[{"embedding": [1]}]', "2 vectors"),
        ('[{"embedding": [1]}, {"embedding": [1, 2]}]', "differ in length"),
        ('[{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]', "numbered"),
        ('[{"index": 5, "embedding": [1]}, {"index": 0, "embedding": [1]}]', "numbered"),
        ('[{"embedding": [1]}, {"embedding": ["x"]}]', "no finite number"),
        ('[{"embedding": [1]}, {"embedding": [1e999]}]', "no finite number"),
        ('[{"embedding": [1]}, {"embedding": [true]}]', "no finite number"),
        ('[{"embedding": [1]}, {"embedding": []}]', "missing"),
        ('[{"embedding": [1]}, null]', "missing"),
        ("{}", "2 vectors"),
    ],
)
def test_vectors_that_cannot_be_used_are_refused(make_client: MakeClient, data: str, told: str) -> None:
    step = raw(f'{{"data": {data}}}', "application/json")

    with ScriptedServer(embeddings=[step]) as server, pytest.raises(BadReply, match=told):
        make_client(server).embed(["a", "b"])


def test_a_later_batch_must_have_vectors_of_the_same_length(make_client: MakeClient) -> None:
    steps = [raw(f'{{"data": [{{"embedding": {vector}}}]}}', "application/json") for vector in ("[1, 2]", "[1]")]

    with ScriptedServer(embeddings=steps) as server, pytest.raises(BadReply, match="differ in length"):
        make_client(server, batch=1).embed(["a", "b"])


@pytest.mark.parametrize("count", [10**30, -1, True, "7", None, 2.5, float(2**31)], ids=str)
def test_what_is_no_count_of_tokens_is_none(make_client: MakeClient, question: Request, count: object) -> None:
    choice = {"message": {"content": "Whole."}, "finish_reason": "stop"}
    prompt, completion = (
        {"prompt_tokens": 3, "completion_tokens": 4} | {key: count} for key in ("prompt_tokens", "completion_tokens")
    )
    script = [
        raw(json.dumps({"choices": [choice], "usage": usage}), "application/json") for usage in (prompt, completion)
    ]

    with ScriptedServer(script) as server:
        client = make_client(server)
        counted = [client.complete(question).usage for _ in script]

    assert counted == [None, None]
