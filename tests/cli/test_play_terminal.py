"""`talekeeper play` at a real terminal: prompt, streaming, Ctrl-C, questions, in a process of its own."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from talekeeper.home import Home
from talekeeper.story import Address
from talekeeper.testing import Recorded, ScriptedServer, Step, call_tool, say

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX")

PATIENCE = 60.0
_STYLE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")

PLUGIN = """
[plugin]
id = "post"
version = "1.0.0"
api = 1
summary = "Sends letters."
module = "code"

[[contributes.tools]]
name = "send-letter"
description = "Sends a letter to the world outside."
effects = "external"
"""
CODE = """
from talekeeper.api import hookimpl

@hookimpl
def talekeeper_register(registry):
    registry.tool("send-letter", lambda ctx, arguments: {"sent": True})
"""


class Terminal:
    """A program at a terminal; `sees` waits for a text, `shown` is all there was."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
        )
        os.close(slave)
        self.shown = ""
        self._seen = 0

    def sees(self, text: str) -> None:
        end = time.monotonic() + PATIENCE
        while text not in self.shown[self._seen :]:
            if time.monotonic() > end or not self._read():
                pytest.fail(f"{text!r} is not shown; there is\n{self.shown}")
        self._seen = self.shown.index(text, self._seen) + len(text)

    def types(self, text: str) -> None:
        os.write(self.master, text.encode())

    def interrupts(self, until: str) -> None:
        """Ctrl-C, pressed anew while nothing comes of it: a line editor about to wait for a key sees it no sooner."""
        end = time.monotonic() + PATIENCE
        while until not in self.shown[self._seen :] and time.monotonic() < end:
            os.kill(self.process.pid, signal.SIGINT)
            pause = time.monotonic() + 2.0
            while until not in self.shown[self._seen :] and time.monotonic() < pause and self._read():
                pass
        self.sees(until)

    def ends(self) -> int:
        end = time.monotonic() + PATIENCE
        while self._read():
            if time.monotonic() > end:
                pytest.fail(f"it goes on; there is\n{self.shown}")
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        if not select.select([self.master], [], [], 0.2)[0]:
            return self.process.poll() is None
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.shown += _STYLE.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n")
        return bool(data)


Open = Callable[..., Terminal]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Open]:
    opened: list[Terminal] = []

    def start(server: ScriptedServer, *options: str) -> Terminal:
        code = "import sys; from talekeeper.cli import main; sys.argv[0] = 'talekeeper'; main()"
        environment = {**os.environ, "OPENAI_BASE_URL": server.base_url, "TERM": "xterm", "PYTHONUTF8": "1"}
        environment["TALEKEEPER_HOME"] = str(tmp_path / "home")
        opened.append(Terminal([sys.executable, "-c", code, *options, "play"], environment))
        return opened[-1]

    yield start
    for one in opened:
        one.process.kill()
        one.process.wait()
        os.close(one.master)


def test_a_turn_streams_and_ctrl_c_stops_the_next_one(terminal: Open) -> None:
    def script(request: Recorded) -> Step:
        if "slowly" in str(request.body["messages"][-1]["content"]):
            return say("Once upon a time and for ever. " * 1000, gap=0.2, piece=5)
        return say("The door opens.")

    with ScriptedServer(script) as server:
        at = terminal(server, "--no-plugins")
        at.sees("> ")
        at.types("I kno\x7fock.\n")
        at.sees("The door opens.")
        at.sees("> ")
        at.types("Tell it slowly.\n")
        at.sees("Once")
        at.interrupts(until="stopped. Your line is kept: an empty line sends it again")
        at.sees("> ")
        at.types("/la\t\n")
        at.sees("I knock.")
        at.sees("Tell it slowly.")
        at.sees("> ")
        at.interrupts(until="Ctrl-C again, Ctrl-D or /quit leaves")
        at.sees("> ")  # before it the line editor does not read yet, and would lose the key
        at.types("\x04")

        assert at.ends() == 0


def test_an_external_tool_is_asked_for_in_a_turn_that_holds_text_of_others(terminal: Open, tmp_path: Path) -> None:
    plugin = tmp_path / "plugins" / "post"
    plugin.mkdir(parents=True)
    (plugin / "plugin.toml").write_text(PLUGIN)
    (plugin / "code.py").write_text(CODE)
    steps = [
        step
        for answer in ("It is sent.", "It is not sent.")
        for step in (call_tool("memory-search", {"query": "door"}), call_tool("send-letter", {}), say(answer))
    ]

    with ScriptedServer(steps) as server:
        at = terminal(server, "--no-plugins=memory", "--plugin", str(plugin))
        at.sees("> ")
        at.types("Write to her.\n")
        at.sees("The narrator wants to use post/send-letter with {}")
        at.sees("Allow it? [y/N] ")
        at.types("y\n")
        at.sees("It is sent.")
        at.sees("> ")
        at.types("And again.\n")
        at.sees("Allow it? [y/N] ")
        at.types("\n")
        at.sees("It is not sent.")
        at.sees("it was not allowed")
        at.types("/quit\n")

        assert at.ends() == 0
    results = [request.body["messages"][-1]["content"] for request in server.chats]
    assert '{"sent": true}' in results[2]
    assert "not allowed" in results[5]


def test_what_is_pasted_is_one_message_and_said_to_be_pasted(terminal: Open, tmp_path: Path) -> None:
    readline = pytest.importorskip("readline")
    if "libedit" in (readline.__doc__ or ""):
        pytest.skip("libedit does not mark what is pasted")

    with ScriptedServer(lambda _: say("It is long.")) as server:
        at = terminal(server, "--no-plugins")
        at.sees("> ")
        at.types("\x1b[200~Dear Ines,\nthe sea is out.\x1b[201~\n")
        at.sees("It is long.")
        at.sees("> ")
        at.types("I read it.\n")
        at.sees("It is long.")
        at.types("/quit\n")

        assert at.ends() == 0
    with Home.open(tmp_path / "home") as home:
        messages = home.story.messages.read(Address("default", "story"))
        said = [(message.origin, message.text) for message in messages if message.role == "player"]
    assert said == [("pasted", "Dear Ines,\nthe sea is out."), ("typed", "I read it.")]


def test_a_process_killed_in_a_turn_leaves_the_message_to_be_sent_again(terminal: Open, tmp_path: Path) -> None:
    steps = [say("Once upon a time and for ever.", gap=0.4, piece=5), say("The door opens.")]

    with ScriptedServer(steps) as server:
        at = terminal(server, "--no-plugins")
        at.sees("> ")
        at.types("I knock.\n")
        at.sees("Once")
        at.process.kill()
        at.process.wait()
        again = terminal(server, "--no-plugins")
        again.sees("your last line has no answer yet: an empty line sends it again")
        again.sees("> ")
        again.types("\n")
        again.sees("The door opens.")
        again.sees("> ")
        again.types("\x04")

        assert again.ends() == 0
    with Home.open(tmp_path / "home") as home:
        texts = [message.text for message in home.story.messages.read(Address("default", "story"))]
    assert texts == ["I knock.", "The door opens."]
