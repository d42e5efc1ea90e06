"""A turn that fails leaves the player's message and nothing else, wherever it fails; and can be sent again."""

from __future__ import annotations

from typing import Any

import pytest
from talekeeper.errors import (
    BadReply,
    ContextOverflow,
    ModelUnreachable,
    RateLimited,
    StoreError,
    TalekeeperError,
)
from talekeeper.plugin_context import Pending
from talekeeper.story import Draft, Messages, TurnLog
from talekeeper.testing import ScriptedServer, Step, call_tool, fail, overflow, raw, say, stop_short
from talekeeper.turn import narrator, segments, tool_loop, turn_decisions
from talekeeper.turn.jobs import JobRunner

Stage = Any
"""The one of conftest.py, which cannot be imported."""

SCRIPT = (call_tool("keep", {}), say("It is kept."))


def raising(*_: Any, **__: Any) -> Any:
    raise StoreError("planted")


PLACES: list[tuple[Any, str]] = [
    (narrator, "assemble"),
    (segments, "_source"),
    (tool_loop.ToolLoop, "narrate"),
    (tool_loop.ToolLoop, "_count"),
    (narrator, "commit"),
    (Messages, "answer"),
    (Pending, "commit"),
    (TurnLog, "show"),
    (TurnLog, "decide"),
    (TurnLog, "spend"),
    (JobRunner, "enqueue"),
]


@pytest.mark.parametrize(("owner", "name"), PLACES, ids=[f"{owner.__name__}.{name}" for owner, name in PLACES])
def test_a_fault_at_any_step_leaves_the_message_and_sending_again_tells_the_turn_once(
    whole: Stage, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    before = whole.rows()
    with monkeypatch.context() as planted:
        planted.setattr(owner, name, raising)
        telling = whole.narrator([*SCRIPT, *SCRIPT])
        failed = name != "_source"  # a fault of one segment leaves out that segment alone
        if failed:
            with pytest.raises(StoreError, match="planted"):
                telling.turn(whole.address, "Keep it.")
            assert whole.rows() == {**before, "message": before["message"] + 1}

    result = whole.narrator(SCRIPT).turn(whole.address, "Keep it.")

    assert whole.told() == ["Keep it.", "It is kept."]
    assert [fact.value["text"] for fact in whole.facts("memo")] == ["The lamp is cracked.", "kept"]
    assert len(result.jobs) == 1
    assert whole.rows() == {"message": 2, "record": 2, "use": 1, "usage": 2, "decision": 2, "job": 1}


def test_a_segment_that_fails_is_left_out_and_why_says_so(whole: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_source", raising)

    whole.narrator([say("x")]).turn(whole.address, "Go.")

    assert "cracked" not in str(whole.prompt())
    (_, recall) = turn_decisions(whole.story, whole.address, 1)
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
    pytest.param(say("\u200b \u2060"), BadReply, id="nothing that can be seen"),
]


@pytest.mark.parametrize(("step", "kind"), FAULTS)
@pytest.mark.parametrize("after_a_tool", [False, True], ids=["at once", "after a tool"])
def test_an_endpoint_that_fails_fails_the_turn_and_nothing_else(
    whole: Stage, step: Step, kind: type[Exception], after_a_tool: bool
) -> None:
    before = whole.rows()
    script = [call_tool("keep", {}), step] if after_a_tool else [step]
    with ScriptedServer([*script, *SCRIPT]) as server:
        telling = whole.at_server(server)

        with pytest.raises(kind):
            telling.turn(whole.address, "Keep it.")
        assert whole.rows() == {**before, "message": before["message"] + 1}

        telling.turn(whole.address, "Keep it.")

    assert whole.told() == ["Keep it.", "It is kept."]
    assert len(whole.facts("memo")) == 2


def test_a_retry_that_fails_changes_nothing(whole: Stage) -> None:
    whole.play("One.")
    before, head = whole.rows(), whole.story.sessions.get(whole.address).head

    with pytest.raises(BadReply):
        whole.narrator([say("")]).retry(whole.address)

    assert whole.rows() == before
    assert whole.story.sessions.get(whole.address).head == head


# Context that is too long


def test_a_prompt_that_is_too_long_is_asked_again_with_less_history(whole: Stage) -> None:
    whole.append(*(Draft(("player", "narrator")[n % 2], f"{n} " + "word " * 300) for n in range(40)))
    with ScriptedServer([overflow(), say("Yes.")]) as server:
        whole.at_server(server, context=8192).turn(whole.address, "Go.")

        first, second = (request.body["messages"] for request in server.chats)
    assert len(second) < len(first)
    assert second[-1] == first[-1]


def test_after_a_tool_too_only_the_history_is_shortened(whole: Stage) -> None:
    whole.append(*(Draft(("player", "narrator")[n % 2], f"{n} " + "word " * 300) for n in range(40)))
    with ScriptedServer([call_tool("keep", {}), overflow(), say("Yes.")]) as server:
        whole.at_server(server).turn(whole.address, "Go.")

        assert server.chats[-1].body["messages"][-1]["role"] == "tool"
    assert len(whole.facts("memo")) == 2


def test_what_a_store_cannot_hold_does_not_come_into_the_story(stage: Stage) -> None:
    with ScriptedServer([say("a\0b \ud800 c\u2028d")]) as server:
        stage.at_server(server).turn(stage.address, "Go.")

    assert stage.told() == ["Go.", "ab \ufffd c\u2028d"]


def test_a_prompt_that_is_too_long_twice_is_an_error(whole: Stage) -> None:
    with ScriptedServer([overflow(), overflow()]) as server, pytest.raises(ContextOverflow):
        whole.at_server(server).turn(whole.address, "Go.")

    assert whole.told() == ["Go."]


def test_a_message_longer_than_the_context_is_refused_with_numbers_and_no_question(whole: Stage) -> None:
    with pytest.raises(ContextOverflow, match=r"takes some 5,\d\d\d tokens, and the model's context leaves \d,\d\d\d"):
        whole.narrator(context=4096).turn(whole.address, "word " * 4_000)

    assert whole.model.requests == []


@pytest.mark.parametrize("text", ["Hi.", None])
def test_a_context_without_room_for_any_message_is_not_laid_to_the_message(stage: Stage, text: str | None) -> None:
    with pytest.raises(ContextOverflow, match="instructions and tools, takes all of the 100 tokens") as told:
        stage.narrator(context=200, reply=100).turn(stage.address, text)

    assert "shorten it" not in told.value.sentence()


def test_thoughts_are_no_narration_and_a_reply_they_use_up_says_what_helps(stage: Stage) -> None:
    script = [say("<think>Hm, the door.", finish="length"), say("<think>Hm.</think>\n\nThe door opens.", piece=4)]
    heard: list[str] = []

    with ScriptedServer(script) as server:
        narrator = stage.at_server(server)
        with pytest.raises(BadReply, match="without a word of narration, and its answer was cut off") as told:
            narrator.turn(stage.address, "I open the door.", on_text=heard.append)
        narrator.turn(stage.address, None, on_text=heard.append)

    assert "larger reply" in told.value.sentence()
    assert "".join(heard) == "The door opens."
    assert stage.told() == ["I open the door.", "The door opens."]
