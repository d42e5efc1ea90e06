"""A turn that fails leaves the player's message and nothing else, wherever it fails; and can be sent again."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.context.pending import Pending
from talekeeper.db import Tx
from talekeeper.errors import (
    BadReply,
    Busy,
    Cancelled,
    ContextOverflow,
    ModelUnreachable,
    RateLimited,
    StoreError,
    TalekeeperError,
)
from talekeeper.home import Home
from talekeeper.story import Address, Coordinate, Draft, Story
from talekeeper.story.told import Told
from talekeeper.testing import Recorded, ScriptedServer, Step, call_tool, fail, overflow, raw, say, stop_short
from talekeeper.turn import asking, decisions, narrator, segments
from talekeeper.turn.jobs import JobRunner

Stage = Any
"""The one of conftest.py, which cannot be imported."""

TABLES = ("message", "record", "use", "usage", "decision", "job")
CODE = """
    def recalled(ctx, turn):
        return [Line(one.value["text"], id=one.key, source="facts") for one in ctx.data["facts"].list()]

    def keep(ctx, arguments):
        with ctx.data.batch() as batch:
            batch.add("facts", {"text": "kept"}, dedupe="kept")

    def extract(ctx, job):
        return JobResult(did_work=False)

    @hookimpl
    def talekeeper_register(registry):
        registry.prompt("recalled", recalled)
        registry.tool("keep", keep)
        registry.job("extract", extract)
"""
MANIFEST = """
    [[contributes.prompt]]
    id = "recalled"
    position = "after-history"
    budget = 2000

    [[contributes.tools]]
    name = "keep"
    description = "Keeps a fact for later use."
    effects = "write"

    [[contributes.jobs]]
    id = "extract"
    on = "turn-committed"
"""
SCRIPT = (call_tool("keep", {}), say("It is kept."))


@pytest.fixture
def whole(stage: Stage) -> Stage:
    """A stage on which a turn writes to every table there is."""
    stage.plug("memo", CODE, MANIFEST)
    stage.fact("memo", "lamp", "The lamp is cracked.")
    return stage


def rows(stage: Stage) -> dict[str, int]:
    def count(tx: Tx) -> dict[str, int]:
        return {table: tx.rows(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}  # noqa: S608

    counted: dict[str, int] = stage.story.read(count)
    return counted


def raising(*_: Any, **__: Any) -> Any:
    raise StoreError("planted")


PLACES = [
    (narrator, "assemble"),
    (segments, "_source"),
    (asking.Asking, "narrate"),
    (asking.Asking, "_count"),
    (narrator, "commit"),
    (Story, "answer"),
    (Pending, "commit"),
    (Told, "show"),
    (Told, "decide"),
    (Told, "spend"),
    (JobRunner, "enqueue"),
]


@pytest.mark.parametrize(("owner", "name"), PLACES, ids=[f"{owner.__name__}.{name}" for owner, name in PLACES])
def test_a_fault_at_any_step_leaves_the_message_and_sending_again_tells_the_turn_once(
    whole: Stage, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    before = rows(whole)
    with monkeypatch.context() as planted:
        planted.setattr(owner, name, raising)
        telling = whole.narrator([*SCRIPT, *SCRIPT])
        failed = name != "_source"  # a fault of one segment leaves out that segment alone
        if failed:
            with pytest.raises(StoreError, match="planted"):
                telling.turn(whole.address, "Keep it.")
            assert rows(whole) == {**before, "message": before["message"] + 1}

    result = whole.narrator(SCRIPT).turn(whole.address, "Keep it.")

    assert whole.told() == ["Keep it.", "It is kept."]
    assert [fact.value["text"] for fact in whole.facts("memo")] == ["The lamp is cracked.", "kept"]
    assert len(result.jobs) == 1
    assert rows(whole) == {"message": 2, "record": 2, "use": 1, "usage": 2, "decision": 2, "job": 1}


def test_a_segment_that_fails_is_left_out_and_why_says_so(whole: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_source", raising)

    whole.narrator([say("x")]).turn(whole.address, "Go.")

    assert "cracked" not in str(whole.prompt())
    (_, recall) = decisions(whole.story, whole.address, 1)
    assert recall.document["fault"] == "planted"


FAULTS = [
    pytest.param(fail(429, retry_after=0.01), RateLimited, id="429"),
    pytest.param(fail(500), ModelUnreachable, id="500"),
    pytest.param(fail(401), TalekeeperError, id="401"),
    pytest.param(stop_short("half an answer", 1), ModelUnreachable, id="cut stream"),
    pytest.param(raw("data: {\n\n"), BadReply, id="no JSON in the stream"),
    pytest.param(raw("<html>", "text/html"), BadReply, id="a web page"),
    pytest.param(say(""), BadReply, id="nothing"),
    pytest.param(say(" \n\t"), BadReply, id="blanks"),
]


@pytest.mark.parametrize(("step", "kind"), FAULTS)
@pytest.mark.parametrize("after_a_tool", [False, True], ids=["at once", "after a tool"])
def test_an_endpoint_that_fails_fails_the_turn_and_nothing_else(
    whole: Stage, step: Step, kind: type[Exception], after_a_tool: bool
) -> None:
    before = rows(whole)
    script = [call_tool("keep", {}), step] if after_a_tool else [step]
    with ScriptedServer([*script, *SCRIPT]) as server:
        telling = whole.at_server(server)

        with pytest.raises(kind):
            telling.turn(whole.address, "Keep it.")
        assert rows(whole) == {**before, "message": before["message"] + 1}

        telling.turn(whole.address, "Keep it.")

    assert whole.told() == ["Keep it.", "It is kept."]
    assert len(whole.facts("memo")) == 2


def test_a_retry_that_fails_changes_nothing(whole: Stage) -> None:
    whole.play("One.")
    before, head = rows(whole), whole.story.session(whole.address).head

    with pytest.raises(BadReply):
        whole.narrator([say("")]).retry(whole.address)

    assert rows(whole) == before
    assert whole.story.session(whole.address).head == head


# Context that is too long


def test_a_prompt_that_is_too_long_is_asked_again_with_less_history(whole: Stage) -> None:
    whole.append(*(Draft(("player", "narrator")[n % 2], f"{n} " + "word " * 300) for n in range(40)))  # type: ignore[arg-type]
    with ScriptedServer([overflow(), say("Yes.")]) as server:
        whole.at_server(server, context=8192).turn(whole.address, "Go.")

        first, second = (request.body["messages"] for request in server.chats)
    assert len(second) < len(first)
    assert second[-1] == first[-1]


def test_after_a_tool_too_only_the_history_is_shortened(whole: Stage) -> None:
    whole.append(*(Draft(("player", "narrator")[n % 2], f"{n} " + "word " * 300) for n in range(40)))  # type: ignore[arg-type]
    with ScriptedServer([call_tool("keep", {}), overflow(), say("Yes.")]) as server:
        whole.at_server(server).turn(whole.address, "Go.")

        assert server.chats[-1].body["messages"][-1]["role"] == "tool"
    assert len(whole.facts("memo")) == 2


def test_a_prompt_that_is_too_long_twice_is_an_error(whole: Stage) -> None:
    with ScriptedServer([overflow(), overflow()]) as server, pytest.raises(ContextOverflow):
        whole.at_server(server).turn(whole.address, "Go.")

    assert whole.told() == ["Go."]


def test_a_message_longer_than_the_context_is_refused_with_numbers_and_no_question(whole: Stage) -> None:
    with pytest.raises(ContextOverflow, match=r"takes some 5,\d\d\d tokens, and the model's context leaves \d,\d\d\d"):
        whole.narrator(context=4096).turn(whole.address, "word " * 4_000)

    assert whole.model.requests == []


# What happens meanwhile


def meanwhile(stage: Stage, act: Callable[[], object]) -> Callable[[Recorded], Step]:
    def script(_: Recorded) -> Step:
        act()
        return say("late")

    return script


def test_an_undo_during_the_turn_leaves_the_head_and_keeps_the_answer_as_a_take(stage: Stage) -> None:
    stage.play("One.")
    script = meanwhile(stage, lambda: stage.story.undo(stage.address))

    result = stage.narrator(script).turn(stage.address, "Two.")

    assert stage.told() == ["One.", "re: One."]
    stage.story.go(stage.address, result.narration.coordinate)
    assert stage.told() == ["One.", "re: One.", "Two.", "late"]


def test_a_fork_during_the_turn_is_not_moved(stage: Stage) -> None:
    stage.play("One.")
    script = meanwhile(stage, lambda: stage.story.fork(stage.address, Coordinate(0, 0), name="aside"))

    result = stage.narrator(script).turn(stage.address, "Two.")

    assert stage.told() == ["One."]
    assert stage.story.message_at(stage.address, result.narration.coordinate).text == "late"


def test_another_answer_meanwhile_makes_this_one_a_take(stage: Stage) -> None:
    script = meanwhile(stage, lambda: stage.append(Draft("narrator", "by hand")))

    stage.narrator(script).turn(stage.address, "One.")

    assert stage.told() == ["One.", "by hand"]
    assert len(stage.story.takes(stage.address)) == 2


def test_a_retry_during_which_the_story_moves_is_a_take_and_the_head_stays(stage: Stage) -> None:
    stage.play("One.")
    script = meanwhile(stage, lambda: stage.append(Draft("player", "Two.", origin="typed")))

    stage.narrator(script).retry(stage.address)

    assert stage.told() == ["One.", "re: One.", "Two."]


def test_a_session_deleted_during_the_turn_takes_everything_with_it(stage: Stage) -> None:
    script = meanwhile(stage, lambda: stage.story.delete_session(stage.address))

    with pytest.raises(TalekeeperError, match="there is no session"):
        stage.narrator(script).turn(stage.address, "One.")

    assert set(rows(stage).values()) == {0}


def cancelled(stage: Stage, script: list[Step], cancel: threading.Event, **more: Any) -> ScriptedServer:
    """Tells a turn that is cancelled; what is in the store besides is as it was."""
    before = rows(stage)
    with ScriptedServer(script) as server:
        telling = stage.at_server(server)

        with pytest.raises(Cancelled):
            telling.turn(stage.address, "Go.", cancel=cancel, **more)

        assert all(request.left.wait(10) for request in server.chats[-1:] if "on_text" in more)
    assert rows(stage) == {**before, "message": before["message"] + 1}
    return server


def test_a_turn_cancelled_at_its_beginning_asks_nobody(whole: Stage) -> None:
    cancel = threading.Event()
    cancel.set()

    server = cancelled(whole, [say("Never.")], cancel)

    assert server.chats == []


def test_a_turn_cancelled_while_it_speaks_lets_go_of_the_endpoint(whole: Stage) -> None:
    cancel = threading.Event()

    server = cancelled(whole, [say("word " * 200, gap=0.05)], cancel, on_text=lambda _: cancel.set())

    assert len(server.chats) == 1


def test_a_turn_cancelled_in_a_tool_keeps_nothing_of_it(whole: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    cancel = threading.Event()
    take = Pending.take

    def taken(self: Pending, batch: Any) -> None:
        take(self, batch)
        cancel.set()

    monkeypatch.setattr(Pending, "take", taken)

    server = cancelled(whole, [call_tool("keep", {}), say("Never.")], cancel)

    assert len(server.chats) == 1


def test_two_turns_of_a_session_at_once_are_one_and_a_sentence(stage: Stage) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def script(_: Recorded) -> Step:
        begun.set()
        assert go_on.wait(30)
        return say("first")

    slow = stage.narrator(script)
    thread = threading.Thread(target=slow.turn, args=(stage.address, "One."))
    thread.start()
    assert begun.wait(30)

    with pytest.raises(Busy, match=r"s: another turn of this session is being told by process \d+; wait until"):
        stage.narrator([say("second")]).turn(stage.address, "Two.")
    go_on.set()
    thread.join()

    assert stage.told() == ["One.", "first"]


def test_a_second_writer_is_never_kept_waiting_through_a_whole_session(whole: Stage) -> None:
    """It gives up after a second, and the narrator takes longer for each answer."""
    failures: list[str] = []
    writes = 0
    over = threading.Event()

    def write() -> None:
        nonlocal writes
        neighbour = sqlite3.connect(whole.db.path, timeout=1.0, isolation_level=None)
        while not over.is_set():
            try:
                neighbour.execute("BEGIN IMMEDIATE")
                neighbour.execute("UPDATE workspace SET title = title")
                neighbour.execute("COMMIT")
                writes += 1
            except sqlite3.Error as error:
                failures.append(str(error))
        neighbour.close()

    thread = threading.Thread(target=write)
    slow = [call_tool("keep", {}), say("It is kept. " * 4, wait=1.2)]
    with ScriptedServer([*slow, *slow, say("alone", wait=1.2), say("other", wait=1.2)]) as server:
        telling = whole.at_server(server)
        thread.start()
        try:
            telling.turn(whole.address, "One.")
            telling.turn(whole.address, "Two.")
            telling.turn(whole.address, None)
            telling.retry(whole.address)
        finally:
            over.set()
            thread.join()

    assert failures == []
    assert writes > 20


# Processes


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    with Home.open(folder, no_plugins="") as opened:
        opened.story.create_session("w", session_id="s")
    return folder


def start(home: Path, server: ScriptedServer, text: str) -> subprocess.Popen[str]:
    program = str(Path(__file__).with_name("telling.py"))
    return subprocess.Popen(
        [sys.executable, program, str(home), str(server.port), text], stdout=subprocess.PIPE, text=True
    )


def told(home: Path) -> list[str]:
    with Home.open(home, no_plugins="") as opened:
        return [message.text for message in opened.story.messages(Address("w", "s"))]


def test_a_process_killed_in_mid_turn_leaves_the_message_and_the_turn_can_be_told(home: Path) -> None:
    with ScriptedServer([say("word " * 400, gap=0.05), say("It goes on.")]) as server:
        with start(home, server, "One.") as first:
            assert first.stdout is not None
            assert first.stdout.readline() == "begun\n"
            first.send_signal(signal.SIGKILL)
        after_the_kill = told(home)

        with start(home, server, "One.") as second:
            assert second.communicate()[0].endswith("told\n")

    assert after_the_kill == ["One."]
    assert told(home) == ["One.", "It goes on."]


def test_two_processes_that_tell_at_once_tell_one_turn(home: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def script(_: Recorded) -> Step:
        begun.set()
        assert go_on.wait(60)
        return say("first")

    with ScriptedServer(script) as server, start(home, server, "One.") as first:
        assert begun.wait(60)
        with start(home, server, "Two.") as second:
            said = second.communicate()[0]
        go_on.set()
        assert first.communicate()[0] == "begun\ntold\n"

    assert said.startswith("Busy s: another turn of this session is being told by process ")
    assert told(home) == ["One.", "first"]
