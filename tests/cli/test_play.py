"""`talekeeper play` fed with lines, in this process, with a narrator that answers from a script on loopback."""

from __future__ import annotations

import io
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from talekeeper.cli.play import game
from talekeeper.cli.play.slash_commands import BY_NAME, COMMANDS, complete
from talekeeper.home import Home
from talekeeper.models import LocalServer, read_base_url
from talekeeper.testing import Recorded, ScriptedServer, Step, call_tool, fail, say, stop_short

Play = Callable[..., Any]

WORLD = """
title = "The Salt Lantern"
opening = "The ferry has turned back."

[player]
name = "Ines"

[plugin.lorebook.entries.maud]
name = "Maud"
body = "Maud keeps the inn."
"""


def finding(*servers: LocalServer) -> Callable[..., list[LocalServer]]:
    """What looks for servers on this machine, and finds these."""

    def find(**_: object) -> list[LocalServer]:
        return list(servers)

    return find


def opens(_: Recorded) -> Step:
    """A narrator that always says the same."""
    return say("It opens.")


@pytest.fixture(autouse=True)
def no_server_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setattr(game, "find_local_servers", finding())


@pytest.fixture
def play(tk: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Play:
    """Plays these lines and gives the outcome; `answers` is a narrator's script."""

    def run(*lines: str, answers: Any = None, options: tuple[str, ...] = ()) -> Any:
        raw = io.BytesIO("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(raw, encoding="utf-8"))
        if answers is None:
            return tk("play", *options)
        with ScriptedServer(answers) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            return tk("play", *options)

    return run


@pytest.fixture
def events(play: Play) -> Callable[..., list[dict[str, Any]]]:
    """The events of a play with `--json`."""

    def run(*lines: str, answers: Any = None, options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        outcome = play(*lines, answers=answers, options=("--json", *options))
        return [json.loads(line) for line in outcome.out.splitlines()]

    return run


@pytest.fixture
def world(tmp_path: Path) -> str:
    file = tmp_path / "salt-lantern.toml"
    file.write_text(WORLD)
    return str(file)


def kinds(events: list[dict[str, Any]], *wanted: str) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] in wanted]


def test_a_world_is_played_and_its_transcript_reads(play: Play, world: str) -> None:
    outcome = play("I knock.", answers=[say("The door opens.")], options=("--world", world))

    assert outcome.code == 0
    said = [line for line in outcome.out.splitlines() if line]
    assert said == ["The Salt Lantern", "The ferry has turned back.", "> I knock.", "The door opens."]


def test_the_next_play_goes_on_where_the_last_one_stopped(play: Play, world: str) -> None:
    play("I knock.", answers=[say("The door opens.")], options=("--world", world))

    outcome = play("I enter.", answers=[say("It is warm.")])

    assert [line for line in outcome.out.splitlines() if line] == [
        "The Salt Lantern",
        "The door opens.",
        "> I enter.",
        "It is warm.",
    ]


def test_each_play_of_a_world_is_a_session_of_its_own(events: Callable[..., Any], world: str) -> None:
    sessions = [events(options=("--world", world))[0]["session"] for _ in range(3)]

    assert sessions == ["salt-lantern", "salt-lantern-2", "salt-lantern-3"]


def test_every_event_is_one_line_of_json(events: Callable[..., Any], world: str) -> None:
    told = events("I knock.", answers=[say("The door opens.", piece=4)], options=("--world", world))

    assert [one["event"] for one in told] == ["session", "line", "text", "text", "text", "text", "turn"]
    assert "".join(one["text"] for one in kinds(told, "text")) == "The door opens."
    turn = told[-1]
    assert [(one["role"], one["speaker"], one["text"]) for one in turn["messages"]] == [
        ("player", "Ines", "I knock."),
        ("narrator", "", "The door opens."),
    ]
    assert turn["usage"]["prompt"] > 0


def test_thoughts_shown_as_an_answer_are_taken_back(play: Play, events: Callable[..., Any]) -> None:
    thinking = [say("He lies.\n</think>\nThe door opens.", piece=6), say("Hm.\n</think>\nIt shuts.", piece=6)]

    outcome = play("I knock.", "I wait.", answers=list(thinking))
    told = events("I knock.", "I wait.", answers=list(thinking))

    assert "not part of the story" in outcome.err
    assert outcome.out.count("The door opens.") == 2
    assert outcome.out.count("It shuts.") == 1
    assert "Hm." not in outcome.out
    assert [one["text"] for one in kinds(told, "retracted")] == ["The door opens."]


def test_going_to_a_branch_takes_its_number_its_name_or_a_place(events: Callable[..., Any]) -> None:
    told = events("One.", "/undo", "/fork side", "Other.", "/go 0", "/go side", "/go 0:0", answers=opens)

    assert [one["place"] for one in kinds(told, "stands")[-3:]] == ["0:1", "1:1", "0:0"]


def test_without_a_model_the_person_writes_both_sides(events: Callable[..., Any], home: Path) -> None:
    told = events("I knock.", "/narrator Nobody opens.", "/retry", "/narrator The wind answers.", "/takes")

    assert [one["event"] for one in told if one["event"] != "line"] == [
        *("session", "note", "waiting", "turn", "waiting", "turn", "takes")
    ]
    assert [take["text"] for take in told[-1]["takes"]] == ["Nobody opens.", "The wind answers."]
    assert told[0]["model"] is None


def test_what_fails_keeps_the_players_message_and_an_empty_line_sends_it_again(events: Callable[..., Any]) -> None:
    answers = [fail(400, "no"), say("The door opens.")]

    told = events("I knock.", "", "/last", answers=answers)

    assert [one["event"] for one in kinds(told, "error", "turn")] == ["error", "turn"]
    assert [one["text"] for one in told[-1]["messages"]] == ["I knock.", "The door opens."]


def test_a_script_in_which_something_failed_exits_with_1(play: Play) -> None:
    outcome = play("I knock.", answers=[stop_short("The door", 1)])

    assert outcome.code == 1
    assert "talekeeper: " in outcome.err


def test_ctrl_c_stops_the_turn_and_keeps_the_message(events: Callable[..., Any]) -> None:
    asked = threading.Event()

    def script(_: Recorded) -> Step:
        if asked.is_set():
            return say("The door opens.")
        asked.set()
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        return say("The door never opens.", gap=0.5, piece=2)

    told = events("I knock.", "/last", "", answers=script)

    assert [one["event"] for one in kinds(told, "cancelled", "last", "turn")] == ["cancelled", "last", "turn"]
    assert kinds(told, "cancelled")[0]["message"]["text"] == "I knock."
    assert [one["text"] for one in kinds(told, "last")[0]["messages"]] == ["I knock."]
    assert kinds(told, "turn")[0]["messages"][-1]["text"] == "The door opens."


def test_moving_about(events: Callable[..., Any]) -> None:
    answers = (say(f"Answer {number}.") for number in range(1, 9))

    told = events(
        *("one", "two", "/undo", "/redo", "/retry", "/take 1", "/fork end", "three", "/branches", "/go 0:1", "/go end"),
        answers=answers,
    )

    assert [one["last"]["text"] for one in kinds(told, "stands")] == [
        *("Answer 1.", "Answer 2.", "Answer 2.", "Answer 2.", "Answer 1.", "Answer 4.")
    ]
    assert [one["name"] for one in kinds(told, "branches")[0]["branches"]] == ["", "", "end"]


def test_what_is_kept_is_shown_by_what_plugins_declare(events: Callable[..., Any], world: str) -> None:
    told = events("/memory", "/search Maud", options=("--world", world))

    namespaces = {one["namespace"]: one for one in kinds(told, "memory")[0]["namespaces"]}
    assert namespaces["lorebook/entries"]["count"] == 1
    assert namespaces["lorebook/entries"]["newest"] == [{"key": "maud", "text": "Maud keeps the inn."}]
    assert kinds(told, "search")[0]["results"][0]["id"] == "maud"


def test_what_is_kept_beside_the_newest_is_counted(play: Play, tmp_path: Path) -> None:
    entries = "".join(f'[plugin.lorebook.entries.e{at}]\nbody = "Entry {at}."\n' for at in range(4))
    file = tmp_path / "four.toml"
    file.write_text(f'title = "Four"\n{entries}')

    told = play("/memory", options=("--world", str(file))).out

    assert "lorebook/entries  4" in told
    assert "and 1 more; talekeeper data list lorebook/entries shows all" in told


def test_a_turn_says_why_and_what_it_took(events: Callable[..., Any]) -> None:
    told = events("I knock.", "/why", "/why 1", "/recall a door", "/usage", "/jobs", answers=[say("It opens.")])

    assert [one["turn"] for one in kinds(told, "why")] == [1, 1]
    assert kinds(told, "why")[0]["decisions"][0]["segment"] == "history"
    assert kinds(told, "recall")[0]["turn"] == 2
    assert kinds(told, "usage")[0]["usage"][0]["calls"] == 1
    assert kinds(told, "jobs")[0]["waiting"] == []


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.name != "quit"], ids=lambda one: one.name)
def test_every_command_does_something_for_people_and_for_programs(play: Play, command: Any) -> None:
    arguments = {"N": "1", "PLACE": "0:1", "TEXT": "a door", "WORDS": "door"}
    lines = ["/undo"] if command.name == "redo" else []
    lines.append(f"/{command.name} {arguments.get(command.argument, '')}".strip())

    for options in ((), ("--json",)):
        outcome = play("I knock.", *lines, answers=opens, options=options)

        assert (outcome.code, "Traceback" in outcome.err) == (0, False), outcome.err


def test_quit_leaves_the_rest_unread(events: Callable[..., Any]) -> None:
    told = events("/quit", "/help")

    assert kinds(told, "help") == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/udno", "did you mean /undo?"),
        ("/", "there is no such command"),
        ("/undo 3", "it takes no argument"),
        ("/take", "it needs N"),
        ("/take 0", "'0' is not a number here"),
        ("/take 99", "there is no take 99"),
        ("/why 9999999999", "is not a number here"),
        ("/go nowhere", "there is no branch 'nowhere'"),
        ("/undo", "there is nothing to undo"),
        ("a\udce4b", "is not utf-8"),
        ("a\x00b", "NUL"),
    ],
    ids=repr,
)
def test_what_makes_no_sense_is_one_sentence(play: Play, line: str, said: str) -> None:
    outcome = play(line)

    assert outcome.code == 1
    assert said in outcome.err
    assert "Traceback" not in outcome.err


def test_two_slashes_begin_a_text_with_one_and_a_backslash_goes_on(events: Callable[..., Any]) -> None:
    told = events("//shrug", "I knock \\", "and wait.", "/last")

    assert [one["text"] for one in told[-1]["messages"]] == ["/shrug", "I knock \nand wait."]


def test_what_a_model_writes_does_not_steer_the_terminal(play: Play) -> None:
    outcome = play("I knock.", answers=[say("A \x1b[2Jdoor\x07.")])

    assert "A [2Jdoor." in outcome.out


def test_a_tool_that_was_called_is_told(events: Callable[..., Any]) -> None:
    told = events("I knock.", answers=[call_tool("memory-search", {"query": "door"}), say("It opens.")])

    assert kinds(told, "turn")[0]["calls"] == [{"tool": "memory-search", "plugin": "", "fault": ""}]


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A server at a usual port."""
    with ScriptedServer(opens, models=("a", "b", "c", "d")) as server:
        found = LocalServer("Ollama", read_base_url(server.base_url, "url"), server.models)
        monkeypatch.setattr(game, "find_local_servers", finding(found))
        yield server


def test_where_nobody_can_be_asked_a_server_on_this_machine_is_named_and_gets_nothing(
    events: Callable[..., Any], play: Play, local: ScriptedServer, home: Path
) -> None:
    told = events("I knock.")
    shown = play("I enter.")

    assert told[0]["event"] == "local-server"
    assert told[0]["url"] == local.base_url
    assert told[1]["event"] == "note"
    assert kinds(told, "waiting")
    assert f"nothing is sent there; set OPENAI_BASE_URL={local.base_url}" in shown.err
    assert local.requests == []
    assert not (home / "local-server").exists()


def test_a_server_that_a_person_let_narrate_does_so_from_then_on(
    events: Callable[..., Any], local: ScriptedServer, home: Path
) -> None:
    with Home.open(home) as opened:
        opened.remember_server(local.base_url)

    told = events("I knock.")

    assert kinds(told, "local-server") == []
    assert kinds(told, "turn")


def test_no_model_asks_none_and_remembers_none(events: Callable[..., Any], local: ScriptedServer, home: Path) -> None:
    told = events("I knock.", options=("--no-model",))

    assert kinds(told, "waiting")
    assert local.requests == []
    with Home.open(home) as opened:
        assert opened.models.origin == "none"


def test_completion_proposes_from_the_table() -> None:
    assert complete("/re") == ["/retry", "/redo", "/recall "]
    assert complete("I ") == []
    assert complete("") == []
    assert set(BY_NAME) == {one.name for one in COMMANDS}


def test_a_preset_that_is_not_there_changes_nothing(play: Play, home: Path) -> None:
    play()

    outcome = play(options=("--preset", "noir"))

    assert outcome.code == 1
    assert "there is no preset 'noir'" in outcome.err
    with Home.open(home) as opened:
        assert opened.story.sessions.all("default")[0].preset == ""


def test_a_preset_speaks_in_the_prompt(play: Play, home: Path) -> None:
    (home / "presets").mkdir()
    (home / "presets" / "noir.toml").write_text('system = "It rains."')
    asked: list[str] = []

    def script(request: Recorded) -> Step:
        asked.append(request.body["messages"][0]["content"])
        return say("It opens.")

    play("I knock.", answers=script, options=("--preset", "noir"))

    assert asked[0].startswith("It rains.")
