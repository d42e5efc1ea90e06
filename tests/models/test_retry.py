from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from talekeeper.clock import FixedClock
from talekeeper.errors import Cancelled, ModelError, ModelUnreachable, RateLimited
from talekeeper.models import Request, TimeLimits
from talekeeper.models.client import Client
from talekeeper.models.http import Means
from talekeeper.models.retry import delay, retry_after
from talekeeper.models.urls import BaseUrl
from talekeeper.testing import ScriptedServer, Step, call_tool, fail, raw, say, stop_short

MakeClient = Callable[..., Client]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 529])
def test_a_passing_fault_is_asked_again(
    make_client: MakeClient, question: Request, waits: list[float], status: int
) -> None:
    with ScriptedServer([fail(status), fail(status), say("At last.")]) as server:
        reply = make_client(server).complete(question)

    assert (reply.text, reply.attempts) == ("At last.", 3)
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize(
    "step",
    [
        stop_short("Never seen.", after=0),
        raw(""),
        raw("data: [DONE]\n\n"),
        raw('data: {"choices": [{"delta": {"role": "assistant"}}]}\n\n'),
        raw('data: {"error": {"code": 503, "message": "overloaded"}}\n\n'),
    ],
    ids=["dropped before the first word", "empty", "done at once", "role only", "a fault told in the stream"],
)
def test_a_stream_that_ends_before_its_first_word_is_asked_again(
    make_client: MakeClient, question: Request, step: Step
) -> None:
    with ScriptedServer([step, say("Whole.")]) as server:
        reply = make_client(server).complete(question)

    assert (reply.text, reply.attempts) == ("Whole.", 2)


@pytest.mark.parametrize(
    "step",
    [
        stop_short("A long answer that breaks off.", after=2),
        raw('data: {"choices": [{"delta": {"content": "A"}}]}\n\n'),
        raw('data: {"choices": [{"delta": {"reasoning": "hm"}}]}\n\n'),
        stop_short("", after=1).with_(calls=(("roll-dice", "{}"),)),
        raw('data: {"choices": [{"delta": {"content": "A"}}]}\n\ndata: {"error": {"code": 503}}\n\n'),
    ],
    ids=["dropped", "ended", "thoughts only", "half a tool call", "a fault told in the stream"],
)
def test_nothing_is_repeated_once_the_model_has_begun(make_client: MakeClient, question: Request, step: Step) -> None:
    with ScriptedServer([step, say("Whole.")]) as server, pytest.raises(ModelUnreachable) as caught:
        make_client(server).complete(question)

    assert len(server.requests) == 1
    assert caught.value.data["attempts"] == 1


def test_the_pieces_before_a_break_were_delivered(make_client: MakeClient, question: Request) -> None:
    pieces: list[str] = []

    with ScriptedServer([stop_short("abcdef", after=2, piece=2)]) as server:
        stream = make_client(server).stream(question)
        with pytest.raises(ModelUnreachable, match="broke off"):
            pieces.extend(stream)

    assert pieces == ["ab", "cd"]
    with pytest.raises(RuntimeError):
        _ = stream.reply


def test_faults_that_last_are_told_with_the_number_of_attempts(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([fail(503, "overloaded")] * 3) as server, pytest.raises(ModelUnreachable) as caught:
        make_client(server).complete(question)

    assert "overloaded" in str(caught.value)
    assert caught.value.data["attempts"] == 3
    assert caught.value.data["status"] == 503


def test_retry_after_goes_before_our_own_wait(make_client: MakeClient, question: Request, waits: list[float]) -> None:
    with ScriptedServer([fail(429, retry_after=7), fail(503, retry_after=0), say("At last.")]) as server:
        make_client(server).complete(question)

    assert waits == [7.0, 0.0]


def test_an_endpoint_that_wants_us_to_wait_long_is_told_on(
    make_client: MakeClient, question: Request, waits: list[float]
) -> None:
    with ScriptedServer([fail(429, retry_after=3600)]) as server, pytest.raises(RateLimited) as caught:
        make_client(server).complete(question)

    assert caught.value.data["retry_after"] == 3600
    assert waits == []


def test_vectors_and_lists_are_asked_for_again_too(make_client: MakeClient) -> None:
    with ScriptedServer(embeddings=[fail(500), fail(429)]) as server:
        vectors = make_client(server).embed(["a"])

    assert len(vectors) == 1
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("Thu, 01 Jan 2026 00:01:30 GMT", 90.0),
        ("Wed, 31 Dec 2025 23:59:00 GMT", 0.0),
        ("Thu, 01 Jan 2026 00:00:10", 10.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(clock: FixedClock, value: str | None, seconds: float | None) -> None:
    assert retry_after(value, clock) == seconds


def test_waits_double_up_to_a_limit_and_spread() -> None:
    longest = [delay(number, None, 1.0) for number in range(1, 9)]
    shortest = [delay(number, None, 0.0) for number in range(1, 9)]

    assert longest == [0.5, 1, 2, 4, 8, 16, 20, 20]
    assert shortest == [seconds / 2 for seconds in longest]


def test_nobody_listening_is_said_with_what_to_do(
    make_client: MakeClient, question: Request, waits: list[float]
) -> None:
    with ScriptedServer() as server:
        pass

    with pytest.raises(ModelUnreachable, match=r"no connection .*check that the server is running"):
        make_client(server).complete(question)
    assert len(waits) == 2


def test_a_name_that_does_not_resolve_is_unreachable(make_client: MakeClient, question: Request) -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise OSError(-2, "Name or service not known")

    client = make_client(BaseUrl("http", "models.invalid", 80, "/v1"), means=Means(resolve=resolve), retries=0)

    with pytest.raises(ModelUnreachable, match="Name or service not known"):
        client.complete(question)


HANGING = 60.0


@pytest.mark.parametrize(
    ("step", "limits", "told"),
    [
        (say("x", wait=HANGING), TimeLimits(first=0.2), "no first word within 0.2 s"),
        (say("abcdef", gap=HANGING, piece=2), TimeLimits(between=0.2), "no further word within 0.2 s"),
        (say("x" * 10_000, gap=0.02, piece=1), TimeLimits(total=0.4), "not finished within 0.4 s"),
    ],
    ids=["first", "between", "total"],
)
def test_a_time_limit_ends_the_call_and_closes_the_connection(
    make_client: MakeClient, question: Request, step: Step, limits: TimeLimits, told: str
) -> None:
    with ScriptedServer([step]) as server:
        with pytest.raises(ModelUnreachable, match=told):
            make_client(server, limits=limits).complete(question)
        left = server.requests[0].left.wait(20)

    assert left
    assert len(server.requests) == 1


def test_keep_alives_are_no_words(make_client: MakeClient, question: Request) -> None:
    step = say("too late", gap=0.02).with_(pings=1000)

    with ScriptedServer([step]) as server, pytest.raises(ModelUnreachable, match=r"no first word within 0\.2 s"):
        make_client(server, limits=TimeLimits(first=0.2)).complete(question)


def test_a_resolver_that_hangs_is_not_waited_for(make_client: MakeClient, question: Request) -> None:
    released = threading.Event()

    def resolve(host: str, port: int) -> list[str]:
        released.wait(20)
        return []

    client = make_client(
        BaseUrl("http", "slow.example", 80, "/v1"),
        means=Means(resolve=resolve),
        retries=0,
        limits=TimeLimits(connect=0.1),
    )

    with pytest.raises(ModelUnreachable, match=r"no connection within 0\.1 s"):
        client.complete(question)
    released.set()


def test_the_next_address_is_tried_when_one_does_not_answer(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([say("Here.")]) as server:
        url = BaseUrl("http", "two.example", server.port, "/v1")
        client = make_client(url, means=Means(resolve=lambda _host, _port: ["127.0.0.2", "127.0.0.1"]))
        reply = client.complete(question)

    assert reply.text == "Here."
    assert server.requests[0].headers["host"] == f"two.example:{server.port}"


@pytest.mark.parametrize(
    "step",
    [say("x", wait=HANGING), say("abcdef", gap=HANGING, piece=2)],
    ids=["before the first word", "in the middle"],
)
def test_cancelling_closes_the_connection(make_client: MakeClient, question: Request, step: Step) -> None:
    cancel = threading.Event()
    ended: list[BaseException] = []

    with ScriptedServer([step]) as server:

        def call() -> None:
            try:
                make_client(server).complete(question, cancel=cancel)
            except Cancelled as error:
                ended.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        while not server.requests:
            cancel.wait(0.01)
        cancel.set()
        thread.join(20)
        left = server.requests[0].left.wait(20)

    assert left
    assert len(ended) == 1
    assert len(server.requests) == 1


def test_a_cancelled_call_sends_nothing(make_client: MakeClient, question: Request) -> None:
    cancel = threading.Event()
    cancel.set()

    with ScriptedServer([say("x")]) as server, pytest.raises(Cancelled):
        make_client(server).complete(question, cancel=cancel)

    assert server.requests == []


def test_cancelling_while_waiting_to_ask_again_asks_no_more(make_client: MakeClient, question: Request) -> None:
    cancel = threading.Event()
    means = Means(wait=lambda _seconds, event: cancel.set())

    with ScriptedServer([fail(503), say("x")]) as server, pytest.raises(Cancelled):
        make_client(server, means=means).complete(question, cancel=cancel)

    assert len(server.requests) == 1


def test_what_has_arrived_already_is_not_delivered_after_cancelling(make_client: MakeClient, question: Request) -> None:
    cancel = threading.Event()

    with ScriptedServer([say("abcdef", piece=1)]) as server:
        stream = iter(make_client(server).stream(question, cancel=cancel))
        first = next(stream)
        cancel.set()
        with pytest.raises(Cancelled):
            next(stream)

    assert first == "a"


def test_leaving_a_stream_early_closes_its_connection(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([say("abcdef", piece=1, gap=0.05)]) as server:
        with make_client(server).stream(question) as stream:
            next(iter(stream))
        left = server.requests[0].left.wait(20)

    assert left


def test_the_default_wait_ends_when_cancelled(make_client: MakeClient, question: Request) -> None:
    cancel = threading.Event()

    with ScriptedServer([fail(503, retry_after=50)]) as server:

        def stop() -> None:
            while not server.requests:
                cancel.wait(0.01)
            cancel.set()

        threading.Thread(target=stop).start()
        with pytest.raises(Cancelled):
            make_client(server, means=Means()).complete(question, cancel=cancel)


def test_one_client_serves_many_threads(make_client: MakeClient, question: Request) -> None:
    replies: list[str] = []

    with ScriptedServer(lambda request: say(request.body["messages"][-1]["content"])) as server:
        client = make_client(server)
        threads = [threading.Thread(target=lambda: replies.append(client.complete(question).text)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)

    assert replies == ["I open the door."] * 8


def test_a_script_that_has_run_out_is_an_error(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([call_tool("f", {})]) as server:
        client = make_client(server, retries=0)
        client.complete(question)
        with pytest.raises(ModelError, match="no more steps"):
            client.complete(question)
