"""What happens while a turn is told: the story moves, somebody cancels, somebody else tells or writes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.errors import Busy, Cancelled, TalekeeperError
from talekeeper.plugin_context import Pending
from talekeeper.story import Coordinate, Draft
from talekeeper.testing import Recorded, ScriptedServer, Step, call_tool, say

Stage = Any
"""The one of conftest.py, which cannot be imported."""


def meanwhile(stage: Stage, act: Callable[[], object]) -> Callable[[Recorded], Step]:
    def script(_: Recorded) -> Step:
        act()
        return say("late")

    return script


def test_an_undo_during_the_turn_leaves_the_head_and_keeps_the_answer_as_a_take(stage: Stage) -> None:
    stage.play("One.")
    script = meanwhile(stage, lambda: stage.story.tree.undo(stage.address))

    result = stage.narrator(script).turn(stage.address, "Two.")

    assert stage.told() == ["One.", "re: One."]
    stage.story.tree.go(stage.address, result.narration.coordinate)
    assert stage.told() == ["One.", "re: One.", "Two.", "late"]


def test_a_fork_during_the_turn_is_not_moved(stage: Stage) -> None:
    stage.play("One.")
    script = meanwhile(stage, lambda: stage.story.tree.fork(stage.address, Coordinate(0, 0), name="aside"))

    result = stage.narrator(script).turn(stage.address, "Two.")

    assert stage.told() == ["One."]
    assert stage.story.messages.at(stage.address, result.narration.coordinate).text == "late"


def test_another_answer_meanwhile_makes_this_one_a_take(stage: Stage) -> None:
    script = meanwhile(stage, lambda: stage.append(Draft("narrator", "by hand")))

    stage.narrator(script).turn(stage.address, "One.")

    assert stage.told() == ["One.", "by hand"]
    assert len(stage.story.tree.takes(stage.address)) == 2


def test_a_retry_during_which_the_story_moves_is_a_take_and_the_head_stays(stage: Stage) -> None:
    stage.play("One.")
    script = meanwhile(stage, lambda: stage.append(Draft("player", "Two.", origin="typed")))

    stage.narrator(script).retry(stage.address)

    assert stage.told() == ["One.", "re: One.", "Two."]


def test_a_session_deleted_during_the_turn_takes_everything_with_it(stage: Stage) -> None:
    script = meanwhile(stage, lambda: stage.story.sessions.delete(stage.address))

    with pytest.raises(TalekeeperError, match="there is no session"):
        stage.narrator(script).turn(stage.address, "One.")

    assert set(stage.rows().values()) == {0}


def cancelled(stage: Stage, script: list[Step], cancel: threading.Event, **more: Any) -> ScriptedServer:
    """Tells a turn that is cancelled; what is in the store besides is as it was."""
    before = stage.rows()
    with ScriptedServer(script) as server:
        telling = stage.at_server(server)

        with pytest.raises(Cancelled):
            telling.turn(stage.address, "Go.", cancel=cancel, **more)

        assert all(request.left.wait(10) for request in server.chats[-1:] if "on_text" in more)
    assert stage.rows() == {**before, "message": before["message"] + 1}
    return server


def stopping(cancel: threading.Event) -> Callable[[str], None]:
    def on_text(_: str) -> None:
        cancel.set()

    return on_text


def test_a_turn_cancelled_at_its_beginning_asks_nobody(whole: Stage) -> None:
    cancel = threading.Event()
    cancel.set()

    server = cancelled(whole, [say("Never.")], cancel)

    assert server.chats == []


def test_a_turn_cancelled_while_it_speaks_lets_go_of_the_endpoint(whole: Stage) -> None:
    cancel = threading.Event()

    server = cancelled(whole, [say("word " * 200, gap=0.05)], cancel, on_text=stopping(cancel))

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

    with pytest.raises(Busy, match=r"s: another turn is running in this session, by process \d+; wait until"):
        stage.narrator([say("second")], wait=0.1).turn(stage.address, "Two.")
    go_on.set()
    thread.join()

    assert stage.told() == ["One.", "first"]


def test_a_second_writer_is_never_kept_waiting_through_a_whole_session(whole: Stage) -> None:
    """It gives up sooner than the narrator has any answer."""
    failures: list[str] = []
    writes = 0
    over = threading.Event()

    def write() -> None:
        nonlocal writes
        neighbour = sqlite3.connect(whole.db.path, timeout=0.3, isolation_level=None)
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
    slow = [call_tool("keep", {}), say("It is kept. " * 4, wait=0.4)]
    with ScriptedServer([*slow, say("alone", wait=0.4), say("other", wait=0.4)]) as server:
        telling = whole.at_server(server)
        thread.start()
        try:
            telling.turn(whole.address, "One.")
            telling.turn(whole.address, None)
            telling.retry(whole.address)
        finally:
            over.set()
            thread.join()

    assert failures == []
    assert writes > 10
