from __future__ import annotations

import copy
import json
import logging
import os
import pickle
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.clock import FixedClock
from talekeeper.errors import AuthFailed, ModelError
from talekeeper.models import ChatMessage, Models, Request, ToolOffer, open_models
from talekeeper.models.client import Client
from talekeeper.models.secrets import MASK, EnvironmentKey, FileKey, Redactor, Secret, StreamMask
from talekeeper.testing import ScriptedServer, Step, echo_key, fail, raw, say
from talekeeper.trace import Trace

MakeClient = Callable[..., Client]
CANARY = "tk-canary-9f8e7d6c5b4a39281706"
ENVIRON = {"MY_KEY": CANARY}
KEY = EnvironmentKey("MY_KEY", ENVIRON)


def _dropped(text: str) -> str:
    """The canary with its end cut off, as in an error that shows the beginning of a key."""
    return f"Incorrect API key provided: {text[:16]}"


ECHOES = [
    pytest.param(echo_key(401), id="in an error's message"),
    pytest.param(echo_key(200), id="in the text of an answer"),
    pytest.param(echo_key(500), id="in a passing fault"),
    pytest.param(fail(400, _dropped(CANARY)), id="in part"),
    pytest.param(raw(CANARY, "text/html", status=502), id="in a page"),
    pytest.param(raw(CANARY, "application/json"), id="in what is not JSON"),
    pytest.param(raw("x", CANARY), id="as the type of the answer"),
    pytest.param(raw("x", "application/json", content_encoding=CANARY), id="as the encoding"),
    pytest.param(raw(f'data: {{"error": {{"message": "{CANARY}"}}}}\n\n'), id="in a fault told in a stream"),
    pytest.param(raw(f"data: {CANARY}\n\n"), id="in an event that is not JSON"),
    pytest.param(fail(429, CANARY).with_(headers={"retry-after": CANARY}), id="as Retry-After"),
    pytest.param(raw("", "x", status=302, location=f"http://127.0.0.1/{CANARY}"), id="in a redirect"),
    pytest.param(
        raw(
            json.dumps(
                {
                    "model": CANARY,
                    "choices": [
                        {
                            "message": {
                                "content": f"a{CANARY}b",
                                "tool_calls": [{"id": "1", "function": {"name": CANARY, "arguments": f'"{CANARY}"'}}],
                            },
                            "finish_reason": CANARY,
                        }
                    ],
                }
            ),
            "application/json",
        ),
        id="in every field of an answer",
    ),
]


@pytest.mark.parametrize("step", ECHOES)
def test_a_key_that_the_endpoint_repeats_is_seen_nowhere(
    make_client: MakeClient, clock: FixedClock, tmp_path: Path, caplog: pytest.LogCaptureFixture, step: Step
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []
    trace = Trace(tmp_path / "traces.sqlite", clock=clock, capture=True)
    asking = Request([ChatMessage("user", "Hello")], tools=[ToolOffer("f", "F.", {"type": "object"})])

    with ScriptedServer(lambda _: step) as server:
        client = make_client(server, key=KEY)
        try:
            stream = client.stream(asking)
            seen += list(stream)
            seen.append(repr(stream.reply))
        except ModelError as error:
            seen += [str(error), repr(error), repr(error.data), *traceback.format_exception(error)]
            seen += [repr(error.__context__), repr(error.__cause__)]
            trace.event("model.answered", body=error.data, error=str(error))
    trace.event("model.called", body=seen, slot=repr(client.slot))
    trace.close()
    files = b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()))

    assert server.requests[0].key == CANARY
    shown = "".join([*seen, repr(client.slot), repr(client), caplog.text])
    assert CANARY not in shown
    assert CANARY[:14] not in shown
    assert CANARY.encode() not in files


def test_a_key_is_read_at_each_call(make_client: MakeClient, question: Request) -> None:
    environ = {"MY_KEY": "first-key-of-all"}

    with ScriptedServer([say("a"), say("b")]) as server:
        client = make_client(server, key=EnvironmentKey("MY_KEY", environ))
        client.complete(question)
        environ["MY_KEY"] = "second-key-of-all"
        client.complete(question)

    assert [request.key for request in server.requests] == ["first-key-of-all", "second-key-of-all"]


def test_no_key_means_no_header(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([say("a")]) as server:
        make_client(server).complete(question)

    assert "authorization" not in server.requests[0].headers


def test_a_wrong_key_says_where_to_look(make_client: MakeClient, question: Request) -> None:
    with (
        ScriptedServer([say("a")], key="the-right-key-of-all") as server,
        pytest.raises(AuthFailed, match="key_env or key_file"),
    ):
        make_client(server, key=KEY).complete(question)


@pytest.mark.parametrize("show", [str, repr, "{}".format, "{!r:>3}".format])
def test_a_secret_shows_only_its_place(show: Callable[[Secret], str]) -> None:
    shown = show(Secret(CANARY, "environment variable MY_KEY"))

    assert shown == "<key from environment variable MY_KEY>"


@pytest.mark.parametrize("spread", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_secret_is_not_copied_or_stored(spread: Callable[[Secret], object]) -> None:
    with pytest.raises(TypeError):
        spread(Secret(CANARY, "somewhere"))


def test_a_source_shows_no_other_variable_either() -> None:
    assert CANARY not in repr(EnvironmentKey("OTHER", ENVIRON))


@pytest.mark.parametrize(
    "value", [None, "", "  ", "two words", "line\nbreak", "key\r\nX-Evil: 1", "schlüssel", "nul\0", "x" * 5000]
)
def test_what_cannot_be_a_key_is_refused_unseen(value: str | None) -> None:
    environ = {} if value is None else {"MY_KEY": value}

    with pytest.raises(AuthFailed, match="environment variable MY_KEY") as caught:
        EnvironmentKey("MY_KEY", environ).read()

    assert not value or not value.strip() or value not in str(caught.value)


def test_a_file_of_ones_own_holds_a_key(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(f"{CANARY}\n", encoding="utf-8")
    path.chmod(0o600)

    assert FileKey(path).read().reveal() == CANARY


@pytest.mark.skipif(os.name != "posix", reason="rights are in the mode")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o610])
def test_a_file_that_others_may_use_is_refused_with_the_cure(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "key"
    path.write_text(CANARY, encoding="utf-8")
    path.chmod(mode)

    with pytest.raises(AuthFailed, match=f"others may read the file; run: chmod 600 {path}"):
        FileKey(path).read()


@pytest.mark.skipif(os.name != "posix", reason="makes a FIFO")
def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo, 0o600)

    for path in (fifo, tmp_path, tmp_path / "absent"):
        with pytest.raises(AuthFailed, match="key file"):
            FileKey(path).read()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Incorrect API key provided: sk-proj-abc***wxyz.", f"Incorrect API key provided: {MASK}"),
        ("header Authorization: Bearer abc.def-ghi", f"header Authorization: Bearer {MASK}"),
        ("token eyJhbGciOiJIUzI1NiJ9x12345", f"token {MASK}"),
        ("0123456789abcdef0123456789abcdef", MASK),
        ("the model meta-llama/Llama-3.1-70B-Instruct does not exist", None),
        ("code: context_length_exceeded, maximum 4096", None),
        ("request 550e8400-e29b-41d4-a716-446655440000", None),
    ],
)
def test_tokens_are_masked_and_words_are_not(said: str, told: str | None) -> None:
    assert Redactor([]).line(said) == (said if told is None else told)


def test_what_is_told_is_one_printable_line_of_bounded_length() -> None:
    told = Redactor([]).line("a\x1b[31m\n\u202eb\0" + " word" * 1000)

    assert told.startswith("a[31m b word word")
    assert told.isprintable()
    assert len(told) == 301


@given(st.text("abk-", min_size=0, max_size=30), st.integers(0, 30), st.integers(1, 7))
def test_a_key_in_a_stream_is_masked_however_it_is_cut(around: str, at: int, size: int) -> None:
    redactor = Redactor(["akabak-b"])
    text = around[:at] + "akabak-b" + around[at:]
    mask = StreamMask(redactor)

    shown = [mask.feed(text[start : start + size]) for start in range(0, len(text), size)] + [mask.end()]

    assert "akabak-b" not in "".join(shown)
    assert "".join(shown) == redactor.mask(text)


@given(st.lists(st.text(max_size=5), max_size=12))
def test_without_a_key_a_stream_passes_as_it_is(pieces: list[str]) -> None:
    mask = StreamMask(Redactor([""]))

    shown = [mask.feed(piece) for piece in pieces]

    assert shown == pieces
    assert mask.end() == ""


def test_a_placeholder_is_no_secret() -> None:
    assert Redactor(["ollama"]).mask("ollama is a word") == "ollama is a word"


def test_the_redactor_of_a_home_knows_its_keys(tmp_path: Path) -> None:
    (tmp_path / "talekeeper.toml").write_text(
        '[models.narrator]\nbase_url = "https://api.example/v1"\nkey_env = "MY_KEY"\n'
        '[models.embedding]\nbase_url = "https://other.example/v1"\nkey_env = "NOT_SET"\n',
        encoding="utf-8",
    )
    models: Models = open_models(tmp_path, environ=ENVIRON)

    masked = models.redactor().mask(f"<{CANARY}>")

    assert masked == f"<{MASK}>"
    assert CANARY not in repr(models)
    assert CANARY not in repr(models.redactor())
