"""What commands leave in the home's traces, and that nothing waits for it or is stopped by it."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.clock import SystemClock
from talekeeper.testing import ScriptedServer, say
from talekeeper.trace import DROPPED, Event, Trace, read_events

Run = Callable[..., Any]


@pytest.fixture
def events(home: Path) -> Callable[..., list[Event]]:
    """The events of the home, of kinds that begin so."""

    def read(kind: str = "") -> list[Event]:
        return read_events(home / "traces.sqlite", kind=kind)

    return read


def test_a_search_leaves_an_event_without_its_words(told: Run, events: Callable[..., list[Event]]) -> None:
    told("search", "brass eels")

    (event,) = events("memory.search")
    assert (event.workspace, event.session, event.facts["searched"]) == ("default", "harbour", 5)
    assert "eels" not in str(event)


@pytest.mark.parametrize(("command", "raised"), [("count", ""), ("fail", "UserError")])
def test_a_call_into_a_plugin_leaves_what_it_raised(
    told: Run, events: Callable[..., list[Event]], command: str, raised: str
) -> None:
    told("run", f"lorebook/{command}")

    facts = events("plugin.called")[-1].facts
    assert (facts["plugin"], facts["what"], facts["raised"]) == ("lorebook", f"command {command}", raised)


def test_without_traces_there_is_no_file(told: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told("--no-trace", "search", "eels")
    monkeypatch.setenv("TALEKEEPER_TRACE", "0")
    told("search", "eels")

    assert not (home / "traces.sqlite").exists()


@pytest.mark.parametrize("value", [None, "1", "bodies"])
def test_what_models_were_sent_is_written_only_when_asked_for(
    tk: Run, events: Callable[..., list[Event]], monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is not None:
        monkeypatch.setenv("TALEKEEPER_TRACE", value)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"I knock.\n")))
    with ScriptedServer(lambda _: say("It opens.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert tk("play").code == 0

    asked, answered = (event.body for event in events("model."))
    if value == "bodies":
        assert asked[-1] == {"role": "user", "content": "I knock."}
        assert answered == "It opens."
    else:
        assert (asked, answered) == (None, None)


def test_a_deleted_session_takes_its_events_along(told: Run, events: Callable[..., list[Event]]) -> None:
    told("search", "eels")
    told("sessions", "delete", "harbour", "--yes")

    assert events("memory.") == []


def test_a_deleted_workspace_takes_its_events_along(told: Run, events: Callable[..., list[Event]]) -> None:
    told("search", "eels")
    told("workspaces", "delete", "default", "--yes")

    assert events("memory.") == []


def test_traces_that_cannot_be_written_stop_nothing(told: Run, home: Path) -> None:
    (home / "traces.sqlite").write_bytes(b"not a database, and longer than its header would be" * 20)

    found = told("search", "eels")

    assert found.code == 0
    assert "Nothing but eels" in found.out
    assert "traces.sqlite: events were not written" in found.err
    assert "the traces cannot be read" in told("status").out
    assert told("doctor", "--json").json["reasons"] == ["traces"]


def test_traces_that_cannot_be_changed_leave_what_was_deleted_deleted(told: Run, home: Path) -> None:
    (home / "traces.sqlite").mkdir()

    deleted = told("sessions", "delete", "harbour", "--yes")

    assert deleted.code == 2
    assert "everything is deleted except its events" in deleted.err
    assert told("sessions", "list", "--json").json["sessions"] == []


def test_status_says_how_many_events_are_missing(told: Run, home: Path) -> None:
    told("search", "eels")
    trace = Trace(home / "traces.sqlite", clock=SystemClock())
    trace.event(DROPPED, count=3)
    trace.event(DROPPED, count=4)
    trace.close()

    facts = told("status", "--json").json

    assert facts["events_dropped"] == 7
    assert "7 events came faster than they could be written" in told("doctor").out
    assert f"{facts['events']} events, 7 more dropped" in told("status").out
