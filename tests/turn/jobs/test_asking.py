"""Jobs that ask models, over a scripted server: what they get, what is counted, and what it may cost."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from talekeeper.models import EnvironmentKey, Models
from talekeeper.story import ModelUse
from talekeeper.testing import Recorded, ScriptedServer, Step, fail, overflow, say, say_json
from talekeeper.trace import read_events

Start = Callable[..., Any]
ModelsAt = Callable[[ScriptedServer], Models]

ASK = 'said = ctx.models.complete("extract", [("system", "Be short."), ("user", "Who?")])\n'
TELL = 'return JobResult(details={"text": said.text, "value": said.value})'
SCHEMA = {
    "type": "object",
    "properties": {"who": {"type": "string", "maxLength": 20}},
    "required": ["who"],
    "additionalProperties": False,
}
FORM = f'said = ctx.models.complete("extract", [("user", "Who?")], schema={SCHEMA!r}, reply=50)\n'


def details(home: Any) -> dict[str, Any]:
    (job,) = home.runner.run(home.address())
    assert job.state == "succeeded", job.reason
    return dict(job.details)


def test_an_answer_its_usage_and_its_events(start: Start, models_at: ModelsAt) -> None:
    with ScriptedServer([say("Mara.")]) as server:
        home = start({"ask": ASK + TELL}, options={"models": models_at(server)})
        home.turn("ask", "tell")

        told = details(home)

    assert told == {"text": "Mara.", "value": {}}
    assert [message["content"] for message in server.chats[0].body["messages"]] == ["Be short.", "Who?"]
    (use,) = home.story.turn_log.spent(home.address())
    assert replace(use, prompt=1, completion=1, created="") == ModelUse("extract", use.model, 1, 1, 1, "notes")
    assert use.prompt
    home.trace.flush()
    events = [event.kind for event in read_events(home.trace.path)]
    assert sorted(events) == ["job.ended", "job.started", "model.answered", "model.called"]


def test_what_a_job_asked_and_heard_is_traced_where_that_is_switched_on(start: Start, models_at: ModelsAt) -> None:
    with ScriptedServer([say("Mara.")]) as server:
        home = start({"ask": ASK + TELL}, options={"models": models_at(server)})
        home.trace.capture = True
        home.turn("ask", "tell")
        details(home)

    home.trace.flush()
    bodies = [event.body for event in read_events(home.trace.path, kind="model.")]
    assert bodies == [[{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who?"}], "Mara."]


def test_a_structured_answer_is_asked_for_once_more(start: Start, models_at: ModelsAt) -> None:
    with ScriptedServer([say("Mara, I think."), say_json({"who": "Mara"})]) as server:
        home = start({"ask": FORM + TELL}, options={"models": models_at(server)})
        home.turn("ask", "tell")

        told = details(home)

    assert told["value"] == {"who": "Mara"}
    assert server.chats[1].body["max_tokens"] == 50
    uses = home.story.turn_log.spent(home.address())
    assert len(uses) == 1
    assert uses[0].completion > 3


def test_an_answer_in_pieces(start: Start, models_at: ModelsAt) -> None:
    body = 'return JobResult(details={"pieces": list(ctx.models.stream("extract", [("user", "Who?")]))})'
    with ScriptedServer([say("Mara and Aldric.", piece=5)]) as server:
        home = start({"ask": body}, options={"models": models_at(server)})
        home.turn("ask", "tell")

        pieces = details(home)["pieces"]

    assert "".join(pieces) == "Mara and Aldric."
    assert len(pieces) > 1
    assert len(home.story.turn_log.spent(home.address())) == 1


FAILURES: dict[str, Sequence[Step]] = {
    "down": [fail(500)] * 8,
    "refused": [fail(401)] * 8,
    "overflow": [overflow()] * 8,
    "rubbish": [say("{")] * 8,
}


@pytest.mark.parametrize("kind", FAILURES)
def test_a_model_that_fails_is_no_fault_of_the_plugin(start: Start, models_at: ModelsAt, kind: str) -> None:
    with ScriptedServer(FAILURES[kind]) as server:
        home = start({"ask": FORM + TELL}, options={"models": models_at(server)})
        for number in range(4):
            home.turn(f"ask {number}", "tell")

        ended = home.runner.run(home.address())

    assert [(job.state, job.attempts) for job in ended] == [("failed", 1)] * 4
    assert home.host.guard.suspended("notes") == ""
    assert len(home.story.turn_log.spent(home.address())) == (4 if kind == "rubbish" else 0)


def test_an_endpoint_that_says_when_is_asked_again_then(start: Start, models_at: ModelsAt, clock: Any) -> None:
    with ScriptedServer([fail(429, retry_after=500), say("Mara.")]) as server:
        home = start({"ask": ASK + TELL}, options={"models": models_at(server)})
        home.turn("ask", "tell")
        first = home.run()
        clock.advance(499)
        early = home.run()
        clock.advance(1)

        assert (first, early, home.run()) == (["ask failed"], [], ["ask succeeded"])


def test_no_write_is_open_while_a_model_is_asked(start: Start, models_at: ModelsAt) -> None:
    written: list[int] = []

    def answer(request: Recorded) -> Step:
        other = sqlite3.connect(home.folder / "store.sqlite", timeout=0.0, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
        other.close()
        written.append(1)
        return say_json({"who": "Mara"})

    body = f"""
    with ctx.data.batch() as batch:
        batch.add("notes", {{"text": "before"}})
        {FORM.strip()}
    with ctx.data.batch() as batch:
        batch.add("notes", {{"text": said.value["who"]}})
    {ASK.strip()}
    return JobResult()
    """
    with ScriptedServer(answer) as server:
        home = start({"ask": body}, options={"models": models_at(server)})
        home.turn("ask", "tell")
        ended = home.run()

    assert (ended, len(written), home.notes()) == (["ask succeeded"], 2, ["before", "Mara"])


def test_what_a_model_takes_is_not_the_plugins_time(start: Start, models_at: ModelsAt) -> None:
    own = "import time\ntime.sleep(5)\nreturn JobResult()"
    with ScriptedServer([say("Mara.", wait=0.8)]) as server:
        home = start({"ask": ASK + TELL, "own": own}, options={"models": models_at(server), "job": 0.4})
        home.turn("ask", "tell")

        ended = home.run()

    assert ended == ["ask succeeded", "own failed"]


def test_cancelling_ends_the_question_and_puts_the_job_back(start: Start, models_at: ModelsAt) -> None:
    cancel = threading.Event()

    def answer(request: Recorded) -> Step:
        cancel.set()
        return say("Mara.", wait=60)

    with ScriptedServer(answer) as server:
        home = start({"ask": ASK + TELL, "later": "return JobResult()"}, options={"models": models_at(server)})
        home.turn("ask", "tell")
        ended = home.runner.run(home.address(), cancel=cancel)
        left = server.chats[0].left.wait(60)

    assert left
    assert [(job.kind, job.state, job.attempts) for job in ended] == [("ask", "pending", 0)]


def test_a_job_may_not_ask_without_end(start: Start, models_at: ModelsAt) -> None:
    body = 'for _ in range(200):\n    ctx.models.complete("extract", [("user", "Who?")])'
    with ScriptedServer(lambda _: say("Mara.")) as server:
        home = start({"ask": body}, options={"models": models_at(server)})
        home.turn("ask", "tell")

        (ended,) = home.runner.run(home.address())

    assert len(server.chats) == 100
    assert ended.reason == "notes: it asked models more than 100 times in one call; do less at once"


def test_what_is_no_question_is_refused(start: Start, models_at: ModelsAt) -> None:
    with ScriptedServer() as server:
        home = start({"ask": 'ctx.models.complete("extract", [("tool", "x")])'}, options={"models": models_at(server)})
        home.turn("ask", "tell")

        (ended,) = home.runner.run(home.address())

    assert "messages/0: 'tool' is not a role; use system, user or assistant" in ended.reason
    assert server.requests == []


def test_a_key_is_nowhere_but_in_the_request(start: Start, models_at: ModelsAt, tmp_path: Path) -> None:
    canary = "sk-canary-1234567890abcdefghijkl"
    body = """
    try:
        said = ctx.models.complete("extract", [("user", "Who?")])
    except ModelError as error:
        ctx.log.warning("%s %r", error, vars(error))
        raise
    with ctx.data.batch() as batch:
        batch.add("notes", {"text": said.text + repr(vars(ctx)) if hasattr(ctx, "__dict__") else said.text})
    return JobResult()
    """
    steps = [say(f"Your key is {canary}."), fail(400, f"bad key {canary}")]
    with ScriptedServer(steps, key=canary) as server:
        found = models_at(server)
        slot = replace(found.slots["narrator"], key=EnvironmentKey("MY_KEY", {"MY_KEY": canary}))
        home = start({"ask": body}, options={"models": Models("file", {"narrator": slot})})
        home.turn("ask", "tell")
        home.turn("ask", "tell")
        ended = home.run()
    home.trace.flush()

    assert ended == ["ask succeeded", "ask failed"]
    assert [request.key for request in server.chats] == [canary, canary]
    kept = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(kept) > 3
    assert not [file for file in kept if canary.encode() in file.read_bytes()]


def test_which_slot_lacks_a_model_is_said(start: Start) -> None:
    home = start({"ask": 'return JobResult(details={"why": ctx.models.missing("extract")})'})
    home.turn("ask", "tell")

    assert details(home)["why"].startswith("no model is configured; write [models.narrator] in talekeeper.toml")


def test_a_job_that_waited_for_a_model_is_due_as_soon_as_its_slot_is_there(
    start: Start, open_home: Callable[..., Any], models_at: ModelsAt
) -> None:
    home = start({"ask": ASK + TELL})
    home.turn("ask", "tell")
    (waiting,) = home.runner.run(home.address())
    again = home.run()
    home.close()

    with ScriptedServer([say("Mara.")]) as server:
        later = open_home(models=models_at(server))
        (done,) = later.runner.run(later.address())

    assert (waiting.state, waiting.details, again) == ("pending", {"waits_for_model": "extract"}, [])
    assert (done.state, done.attempts, done.reason, done.details["text"]) == ("succeeded", 1, "", "Mara.")
    later.trace.flush()
    due, *_ = read_events(later.trace.path, kind="job.due")
    assert (due.facts["job"], due.facts["because"]) == ("ask", "its model is there now")


def test_a_job_whose_slot_is_there_and_lacks_something_else_waits_its_time(start: Start, models_at: ModelsAt) -> None:
    with ScriptedServer([]) as server:
        home = start({"ask": 'raise NoModel("none offered", slot="extract")'}, options={"models": models_at(server)})
        home.turn("ask", "tell")

        (waiting,) = home.runner.run(home.address())

    assert (waiting.state, waiting.details, home.run()) == ("pending", {}, [])
