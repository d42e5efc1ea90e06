"""Turns told by processes: one that is killed, and two at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from talekeeper.home import Home
from talekeeper.story import Address
from talekeeper.testing import Recorded, ScriptedServer, Step, say


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    with Home.open(folder, no_plugins="") as opened:
        opened.story.sessions.create("w", session_id="s")
    return folder


def start(home: Path, server: ScriptedServer, text: str) -> subprocess.Popen[str]:
    program = str(Path(__file__).with_name("telling.py"))
    return subprocess.Popen(
        [sys.executable, program, str(home), str(server.port), text], stdout=subprocess.PIPE, text=True
    )


def told(home: Path) -> list[str]:
    with Home.open(home, no_plugins="") as opened:
        return [message.text for message in opened.story.messages.read(Address("w", "s"))]


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

    assert said.startswith("Busy s: another turn is running in this session, by process ")
    assert told(home) == ["One.", "first"]
