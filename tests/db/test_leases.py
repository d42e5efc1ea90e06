"""Leases: one holder, free when it dies, fenced when it was thought dead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.db import Database, Leases
from talekeeper.errors import Busy, Conflict, HeldAcrossCall

HOLD = """
import os, sys
from pathlib import Path
from talekeeper.clock import SystemClock
from talekeeper.db import Database, Leases
home = Path(sys.argv[1])
db = Database.open(home / "talekeeper.sqlite", clock=SystemClock())
with Leases(home / "leases", db).hold("w", "turn/s", holder="the child") as lease:
    if sys.argv[2] == "fork" and os.fork() == 0:
        sys.stdin.readline()
        os._exit(0)
    print(lease.fence, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def leases(db: Database, path: Path) -> Leases:
    return Leases(path.parent / "leases", db)


def hold_elsewhere(home: Path, how: str = "") -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.stdout is not None
    assert child.stdout.readline().strip().isdigit()
    return child


def end(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.communicate(timeout=60)


def test_a_lease_has_one_holder_and_others_learn_who(leases: Leases) -> None:
    with (
        leases.hold("w", "turn/s", holder="the first"),
        pytest.raises(Busy, match="held by the first") as caught,
        leases.hold("w", "turn/s"),
    ):
        pass

    assert caught.value.data["holder"] == "the first"


def test_a_lease_is_free_after_its_block_however_it_ends(leases: Leases) -> None:
    with pytest.raises(KeyError), leases.hold("w", "turn/s"):
        raise KeyError

    with leases.hold("w", "turn/s") as lease:
        assert lease.fence == 2


@pytest.mark.parametrize(("workspace", "name"), [("w", "turn/t"), ("v", "turn/s"), ("w", "TURN/s")])
def test_other_names_are_other_leases(leases: Leases, workspace: str, name: str) -> None:
    with leases.hold("w", "turn/s"), leases.hold(workspace, name) as other:
        assert other.fence == 1


def test_a_lease_can_be_waited_for(leases: Leases) -> None:
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with leases.hold("w", "turn/s"):
            held.set()
            assert release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(10)
    threading.Timer(0.1, release.set).start()

    with leases.hold("w", "turn/s", wait=20.0) as lease:
        assert lease.fence == 2
    thread.join()


def test_a_lease_held_by_another_process_is_busy_until_that_is_killed(leases: Leases, path: Path) -> None:
    child = hold_elsewhere(path.parent)
    try:
        with pytest.raises(Busy, match="the child"), leases.hold("w", "turn/s"):
            pass
        child.send_signal(signal.SIGSTOP)
        with pytest.raises(Busy), leases.hold("w", "turn/s"):
            pass
    finally:
        end(child)

    with leases.hold("w", "turn/s") as lease:
        assert lease.fence == 2


def test_a_forked_child_does_not_keep_the_lease(leases: Leases, path: Path) -> None:
    child = hold_elsewhere(path.parent, "fork")
    end_parent_only = child.kill
    end_parent_only()
    child.wait(timeout=60)

    with leases.hold("w", "turn/s") as lease:
        assert lease.fence == 2
    child.communicate(timeout=60)


def test_who_lost_the_lease_cannot_commit(leases: Leases, db: Database) -> None:
    with leases.hold("w", "turn/s") as old:
        db.write(old.check, name="check")
    with leases.hold("w", "turn/s") as new:
        db.write(new.check, name="check")
        with pytest.raises(Conflict, match="taken over"):
            db.write(old.check, name="check")


def test_no_lease_is_taken_inside_a_write(leases: Leases, db: Database) -> None:
    def take(_: object) -> None:
        with leases.hold("w", "turn/s"):
            pass

    with pytest.raises(HeldAcrossCall):
        db.write(take, name="outer")


def test_the_holder_can_be_asked_for(leases: Leases) -> None:
    assert leases.holder("w", "turn/s") == ""
    with leases.hold("w", "turn/s"):
        assert leases.holder("w", "turn/s") == f"process {os.getpid()}"


def test_leases_survive_a_busy_store(leases: Leases, open_database: Callable[[], Database]) -> None:
    other = open_database()
    done = threading.Event()

    def take() -> None:
        with leases.hold("w", "turn/s"):
            done.set()

    other.write(lambda tx: threading.Thread(target=take).start(), name="outer")

    assert done.wait(30)
