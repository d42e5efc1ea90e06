from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from talekeeper.clock import FixedClock
from talekeeper.errors import StoreUnusable
from talekeeper.trace import DROPPED, Trace, count_events, forget_events, open_events, read_events

MakeTrace = Callable[..., Trace]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "traces.sqlite"


@pytest.fixture
def make_trace(path: Path) -> MakeTrace:
    clock = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))

    def make(**options: Any) -> Trace:
        return Trace(path, clock=clock, **options)

    return make


def test_events_are_read_back_in_order(make_trace: MakeTrace, path: Path) -> None:
    trace = make_trace()

    trace.event("turn.accepted", workspace="w", session="s", turn=3)
    trace.event("model.answered", workspace="w", session="s", turn=3, slot="narrator", tokens=12)
    trace.close()

    first, second = read_events(path)
    assert (first.kind, first.at, first.workspace, first.session, first.turn) == (
        "turn.accepted",
        "2026-01-01T00:00:00.000Z",
        "w",
        "s",
        3,
    )
    assert second.facts == {"slot": "narrator", "tokens": 12}
    assert second.body is None


def test_bodies_are_kept_only_when_capture_is_on(make_trace: MakeTrace, path: Path) -> None:
    off = make_trace()
    off.event("model.called", body={"prompt": "I open the door."})
    off.close()
    on = make_trace(capture=True)
    on.event("model.called", body={"prompt": "I open the gate."})
    on.close()

    assert [event.body for event in read_events(path)] == [None, {"prompt": "I open the gate."}]
    assert b"open the door" not in path.read_bytes()


def test_a_long_fact_is_cut(make_trace: MakeTrace, path: Path) -> None:
    trace = make_trace()

    trace.event("denied", reason="x" * 10_000)
    trace.close()

    assert read_events(path)[0].facts["reason"] == "x" * 500 + "…"


def test_the_file_is_private(make_trace: MakeTrace, path: Path) -> None:
    trace = make_trace()

    trace.event("turn.accepted")
    trace.flush()
    modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    trace.close()

    assert modes == {0o600}


def test_without_an_event_there_is_no_file_and_no_thread(make_trace: MakeTrace, path: Path) -> None:
    before = threading.active_count()
    trace = make_trace()

    assert trace.flush()
    assert threading.active_count() == before
    trace.close()
    assert not path.exists()
    assert read_events(path) == []


def test_what_is_written_is_masked(make_trace: MakeTrace, path: Path) -> None:
    def mask(text: str) -> str:
        return text.replace("hunter2", "[redacted]")

    trace = make_trace(capture=True, mask=mask)

    trace.event("model.answered", body=["it is hunter2"], error="hunter2 was refused")
    trace.close()

    (event,) = read_events(path)
    assert event.facts == {"error": "[redacted] was refused"}
    assert event.body == ["it is [redacted]"]


def test_anything_may_be_reported(make_trace: MakeTrace, path: Path) -> None:
    endless: list[object] = []
    endless.append(endless)
    trace = make_trace(capture=True)

    trace.event("odd", body=object(), session="\ud800", half="\ud83d", frozen=MappingProxyType({1: {2}}), path=Path())
    trace.event("endless", body=endless)
    trace.close()

    odd, last = read_events(path)
    assert (odd.body, odd.session, odd.facts["half"]) == ("object", "?", "\ud83d")
    assert odd.facts["frozen"] == {"1": "set"}
    assert last.body == {"unwritable": "list"}


def test_a_caller_never_waits_and_what_did_not_fit_is_counted(make_trace: MakeTrace, path: Path) -> None:
    trace = make_trace(waiting=10)
    trace.event("first")
    trace.flush()
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")

    for _ in range(300):
        trace.event("many")
    dropped = trace.dropped
    blocker.execute("ROLLBACK")
    blocker.close()
    trace.flush()
    trace.event("last")
    trace.close()

    kinds = [event.kind for event in read_events(path)]
    told = sum(event.facts["count"] for event in read_events(path, kind=DROPPED))
    assert dropped > 0
    assert told == trace.dropped
    assert kinds.count("many") + trace.dropped == 300
    assert kinds[-1] == "last"


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"\0" * 5000])
def test_a_foreign_file_is_left_as_it_is_and_the_fault_shown(make_trace: MakeTrace, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    trace = make_trace()

    trace.event("turn.accepted")
    trace.flush()

    assert trace.dropped == 1
    assert trace.fault
    assert path.read_bytes() == content
    with pytest.raises(StoreUnusable, match="the traces cannot be read"):
        read_events(path)
    trace.close()


def test_a_complaint_about_a_damaged_file_may_hold_bytes_that_are_no_text(make_trace: MakeTrace, path: Path) -> None:
    open_events(path).close()
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE event", b"CREATE T\xfaBLE event"))
    trace = make_trace()

    trace.event("turn.accepted")
    trace.close()

    assert trace.dropped == 1
    assert trace.fault
    with pytest.raises(StoreUnusable, match="the traces cannot be read"):
        read_events(path)
    with pytest.raises(StoreUnusable, match="the traces cannot be changed"):
        forget_events(path, "w", "s")


def test_facts_that_are_no_json_are_damage(make_trace: MakeTrace, path: Path) -> None:
    trace = make_trace()
    trace.event("turn.accepted")
    trace.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE event SET facts = '{'")
        connection.commit()

    with pytest.raises(StoreUnusable, match="the traces cannot be read"):
        read_events(path)


@pytest.mark.skipif(os.name != "posix", reason="pipes are POSIX")
@pytest.mark.parametrize("beside", ["", "-wal", "-journal"])
def test_a_pipe_in_the_place_of_the_traces_is_not_waited_for(make_trace: MakeTrace, path: Path, beside: str) -> None:
    if beside:
        open_events(path).close()
    pipe = path.with_name(path.name + beside)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    trace = make_trace()

    trace.event("turn.accepted")
    trace.close()

    assert "not a regular file" in trace.fault
    for ask in (read_events, count_events, partial(forget_events, workspace="w", session="s")):
        with pytest.raises(StoreUnusable, match="not a regular file"):
            ask(path)


def test_a_file_of_a_later_layout_is_left_alone(make_trace: MakeTrace, path: Path) -> None:
    connection = open_events(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    trace = make_trace()

    trace.event("turn.accepted")
    trace.close()

    assert "another version" in trace.fault
    assert trace.dropped == 1


def test_a_folder_that_is_not_there_drops_events_until_it_is(make_trace: MakeTrace, tmp_path: Path) -> None:
    clock = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
    folder = tmp_path / "later"
    trace = Trace(folder / "traces.sqlite", clock=clock)

    trace.event("lost")
    trace.flush()
    folder.mkdir()
    trace.event("kept")
    trace.close()

    assert [event.kind for event in read_events(folder / "traces.sqlite")] == [DROPPED, "kept"]
    assert trace.fault == ""


def test_after_closing_events_are_counted_and_not_written(make_trace: MakeTrace, path: Path) -> None:
    trace = make_trace()
    trace.event("kept")
    trace.close()

    trace.event("late")
    trace.close()

    assert not trace.flush()
    assert trace.dropped == 1
    assert [event.kind for event in read_events(path)] == ["kept"]


def test_the_oldest_go_when_there_are_too_many(make_trace: MakeTrace, path: Path) -> None:
    trace = make_trace(kept=5)

    for number in range(20):
        trace.event("turn.accepted", number=number)
    trace.close()

    assert [event.facts["number"] for event in read_events(path)] == [15, 16, 17, 18, 19]


def test_events_are_picked_by_session_and_kind(make_trace: MakeTrace, path: Path) -> None:
    trace = make_trace()
    for session in ("a", "b"):
        for kind in ("turn.accepted", "turn%", "model.called"):
            trace.event(kind, workspace="w", session=session)
    trace.close()

    assert [event.kind for event in read_events(path, session="a")] == ["turn.accepted", "turn%", "model.called"]
    assert [event.session for event in read_events(path, kind="turn.")] == ["a", "b"]
    assert [event.session for event in read_events(path, kind="turn%")] == ["a", "b"]
    assert read_events(path, workspace="other") == []
    assert [event.session for event in read_events(path, limit=1)] == ["b"]


def test_a_forgotten_session_leaves_no_byte(make_trace: MakeTrace, path: Path) -> None:
    trace = make_trace(capture=True)
    trace.event("model.called", workspace="w", session="gone", body="the silver key " * 400)
    trace.event("model.called", workspace="w", session="kept")
    trace.flush()

    forget_events(path, "w", "gone")

    files = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"silver" not in files
    assert [event.session for event in read_events(path)] == ["kept"]
    trace.close()


def test_forgetting_where_nothing_was_traced_makes_no_file(path: Path) -> None:
    forget_events(path, "w", "s")

    assert not path.exists()


def test_two_sinks_write_one_file(make_trace: MakeTrace, path: Path) -> None:
    traces = [make_trace(), make_trace()]

    for trace in traces:
        for _ in range(100):
            trace.event("turn.accepted")
    for trace in traces:
        trace.close()

    assert len(read_events(path)) == 200
    assert sum(trace.dropped for trace in traces) == 0


def test_many_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    def opened(barrier: threading.Barrier, path: Path) -> None:
        barrier.wait()
        open_events(path).close()

    with ThreadPoolExecutor(4) as pool:
        for number in range(100):
            barrier, path = threading.Barrier(4), tmp_path / f"{number}.sqlite"
            opening = [pool.submit(opened, barrier, path) for _ in range(4)]

            assert [each.exception() for each in opening] == [None] * 4
