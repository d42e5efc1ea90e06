"""An interruption that falls between two steps of a write or a read leaves a database that works."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from talekeeper.clock import SystemClock
from talekeeper.db import Database
from talekeeper.db.transaction import Tx
from talekeeper.db.write_gate import Gate


def go_through(gate: Gate, passed: threading.Event) -> None:
    with gate:
        passed.set()


@pytest.mark.parametrize("waits", [True, False])
def test_a_gate_that_was_taken_and_never_left_opens_for_its_holder_and_then_for_others(*, waits: bool) -> None:
    gate, passed, other_passed = Gate(), threading.Event(), threading.Event()
    other = threading.Thread(target=go_through, args=(gate, other_passed), daemon=True)

    gate.__enter__()
    if waits:
        other.start()
    was_shut = not other_passed.wait(0.05)
    go_through(gate, passed)
    if not waits:
        other.start()

    assert was_shut
    assert passed.is_set()
    assert other_passed.wait(10)


def test_a_reader_whose_rollback_was_interrupted_is_used_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = Database.open(tmp_path / "store.sqlite", clock=SystemClock())

    def interrupt(_: Tx) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Tx, "end", interrupt)
    with pytest.raises(KeyboardInterrupt):
        db.read(lambda tx: tx.one("SELECT 1"))
    monkeypatch.undo()

    assert db.read(lambda tx: tx.one("SELECT 2")) == (2,)
    db.close()
