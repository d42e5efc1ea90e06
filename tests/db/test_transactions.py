"""Writes and reads: all or nothing, one snapshot, nothing outside."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextvars import copy_context

import pytest
from talekeeper.db import Database, Tx, ensure_outside_write
from talekeeper.errors import Busy, Conflict, HeldAcrossCall, ParameterError, StoreError

OpenDatabase = Callable[[], Database]


def put(name: str) -> Callable[[Tx], int]:
    return lambda tx: tx.run("INSERT INTO workspace(workspace, title, created) VALUES (?, '', '')", (name,))


def names(tx: Tx) -> list[str]:
    return [row[0] for row in tx.rows("SELECT workspace FROM workspace ORDER BY workspace")]


def test_a_write_is_seen_by_the_next_read(db: Database) -> None:
    db.write(put("a"), name="put")

    assert db.read(names) == ["a"]


def test_an_exception_leaves_nothing(db: Database) -> None:
    def fail(tx: Tx) -> None:
        put("a")(tx)
        message = "on purpose"
        raise ValueError(message)

    with pytest.raises(ValueError, match="on purpose"):
        db.write(fail, name="fail")

    assert db.read(names) == []


def test_a_write_sees_its_own_rows(db: Database) -> None:
    def write(tx: Tx) -> list[str]:
        put("a")(tx)
        return names(tx)

    assert db.write(write, name="write") == ["a"]


def test_a_read_keeps_its_snapshot_while_others_commit(open_database: OpenDatabase) -> None:
    reading, writing = open_database(), open_database()

    def twice(tx: Tx) -> tuple[list[str], list[str]]:
        before = names(tx)
        other = threading.Thread(target=lambda: writing.write(put("a"), name="put"))
        other.start()
        other.join()
        return before, names(tx)

    assert reading.read(twice) == ([], [])
    assert reading.read(names) == ["a"]


def test_a_read_cannot_write(db: Database) -> None:
    with pytest.raises(StoreError):
        db.read(put("a"))

    assert db.read(names) == []


def test_a_row_that_is_there_already_is_a_conflict(db: Database) -> None:
    db.write(put("a"), name="put")

    with pytest.raises(Conflict):
        db.write(put("a"), name="put")


HALF = "half \ud800"


def ask_rows(tx: Tx) -> object:
    return tx.rows("SELECT ?", (HALF,))


def ask_one(tx: Tx) -> object:
    return tx.one("SELECT ?", (HALF,))


def put_many(tx: Tx) -> None:
    tx.run_many("UPDATE workspace SET title = ?", [(HALF,)])


@pytest.mark.parametrize("ask", [ask_rows, ask_one, put(HALF), put_many])
def test_a_text_that_has_no_utf8_is_refused_and_is_no_bug(db: Database, ask: Callable[[Tx], object]) -> None:
    with pytest.raises(ParameterError, match=r"half a surrogate pair, U\+D800, at character 6"):
        db.write(ask, name="ask")


def test_a_transaction_is_dead_after_its_end(db: Database) -> None:
    kept = db.write(lambda tx: tx, name="leak")

    with pytest.raises(StoreError, match="after it had ended"):
        kept.rows("SELECT 1")


def test_a_closed_database_says_so(db: Database) -> None:
    db.close()
    db.close()

    with pytest.raises(StoreError, match="closed"):
        db.read(names)


CALLS: dict[str, Callable[[Database], object]] = {
    "a call": lambda db: ensure_outside_write("a model call"),
    "another write": lambda db: db.write(put("b"), name="inner"),
    "a read of its own": lambda db: db.read(names),
    "a hook in a copied context": lambda db: copy_context().run(ensure_outside_write, "a hook"),
}


@pytest.mark.parametrize("call", CALLS)
def test_nothing_happens_while_a_write_is_open(db: Database, call: str) -> None:
    def write(tx: Tx) -> None:
        put("a")(tx)
        CALLS[call](db)

    with pytest.raises(HeldAcrossCall, match="'outer'"):
        db.write(write, name="outer")

    assert db.read(names) == []
    ensure_outside_write("a model call")


def test_another_thread_may_call_while_a_write_is_open(db: Database) -> None:
    outcomes: list[str] = []

    def call() -> None:
        ensure_outside_write("a model call")
        outcomes.append("called")

    def write(tx: Tx) -> None:
        other = threading.Thread(target=call)
        other.start()
        other.join()

    db.write(write, name="outer")

    assert outcomes == ["called"]


def test_threads_write_in_the_order_they_came(db: Database) -> None:
    order: list[int] = []
    may_end, first_in = threading.Event(), threading.Event()

    def first(tx: Tx) -> None:
        first_in.set()
        assert may_end.wait(10)

    threads = [threading.Thread(target=lambda: db.write(first, name="first"))]
    threads[0].start()
    assert first_in.wait(10)

    def next_in_line(number: int) -> None:
        db.write(lambda tx: order.append(number), name="next")

    for number in range(8):
        waiting = len(db._gate._waiting)
        threads.append(threading.Thread(target=next_in_line, args=(number,)))
        threads[-1].start()
        while len(db._gate._waiting) == waiting:
            threading.Event().wait(0.001)
    may_end.set()
    for thread in threads:
        thread.join()

    assert order == list(range(8))


def test_a_function_is_run_again_when_the_database_was_busy(db: Database) -> None:
    runs: list[int] = []

    def busy_once(tx: Tx) -> None:
        put(f"w{len(runs)}")(tx)
        runs.append(1)
        if len(runs) == 1:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error

    db.write(busy_once, name="busy")

    assert db.read(names) == ["w1"]


def test_a_neighbour_that_holds_the_database_is_waited_for_and_named(
    open_database: OpenDatabase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    holder, waiter = open_database(), open_database()
    monkeypatch.setattr(holder, "_gate", type(holder._gate)())  # as if in another process
    monkeypatch.setattr("talekeeper.db.write_gate.LOOK", 0.0)
    waiter._connection().execute("PRAGMA busy_timeout = 20")
    held, release = threading.Event(), threading.Event()

    def hold(tx: Tx) -> None:
        put("a")(tx)
        held.set()
        assert release.wait(10)

    thread = threading.Thread(target=lambda: holder.write(hold, name="a slow import"))
    thread.start()
    assert held.wait(10)
    threading.Timer(0.2, release.set).start()
    waiter.write(put("b"), name="a turn")
    thread.join()

    assert waiter.read(names) == ["a", "b"]
    assert "the write 'a turn' is waiting for 'a slow import' of process" in caplog.text
    assert "the write 'a slow import' held the database" in caplog.text


def test_a_neighbour_that_never_ends_is_given_up_on(
    open_database: OpenDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder, waiter = open_database(), open_database()
    monkeypatch.setattr(holder, "_gate", type(holder._gate)())
    monkeypatch.setattr("talekeeper.db.write_gate.WAIT", 0.05)
    waiter._connection().execute("PRAGMA busy_timeout = 20")
    errors: list[BaseException] = []

    def attempt() -> None:
        try:
            waiter.write(put("b"), name="a turn")
        except Busy as error:
            errors.append(error)

    def hold(tx: Tx) -> None:
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()

    holder.write(hold, name="hold")

    assert [str(error) for error in errors] == [
        f"{waiter.path}: another program has been writing the database for too long; try again in a moment"
    ]
    waiter.write(put("b"), name="a turn")


def test_a_queue_that_moves_is_waited_for_however_long(
    open_database: OpenDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder, waiter = open_database(), open_database()
    monkeypatch.setattr(holder, "_gate", type(holder._gate)())
    monkeypatch.setattr("talekeeper.db.write_gate.WAIT", 0.3)
    waiter._connection().execute("PRAGMA busy_timeout = 10")
    thread = threading.Thread(target=lambda: waiter.write(put("b"), name="a turn"))

    def hold(tx: Tx) -> None:
        thread.start()
        for number in range(20):  # as many writes of others that overtake
            holder._note.write(f"turn {number}")
            time.sleep(0.05)

    holder.write(hold, name="hold")
    thread.join()

    assert waiter.read(names) == ["b"]


def test_every_statement_can_be_traced(db: Database) -> None:
    seen: list[str] = []

    db.trace(seen.append)
    db.write(put("a"), name="put")
    db.read(names)
    db.trace(None)
    db.read(names)

    assert [sql for sql in seen if "workspace" in sql] == [
        "INSERT INTO workspace(workspace, title, created) VALUES ('a', '', '')",
        "SELECT workspace FROM workspace ORDER BY workspace",
    ]


def test_a_log_that_only_grows_is_spoken_of(
    open_database: OpenDatabase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reading, writing = open_database(), open_database()
    monkeypatch.setattr("talekeeper.db.database.LOG_CONCERN", 1 << 20)
    monkeypatch.setattr("talekeeper.db.database._LOOK_AT_LOG", 10)

    def put_long(number: int) -> None:
        row = (f"w{number}", "x" * 40_000)
        sql = "INSERT INTO workspace(workspace, title, created) VALUES (?, ?, '')"
        writing.write(lambda tx: tx.run(sql, row), name="put")

    def grow(tx: Tx) -> None:
        names(tx)
        for number in range(40):
            other = threading.Thread(target=put_long, args=(number,))
            other.start()
            other.join()

    assert writing.log_concern() == ""
    reading.read(grow)

    assert "some program never stops reading" in writing.log_concern()
    assert "the write-ahead log has grown to 1 MB" in caplog.text
