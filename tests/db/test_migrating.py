"""Many processes at once, and processes killed in the middle."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Database
from talekeeper.db.connect import APPLICATION_ID, connect, migrations

OPEN = """
import sys
from pathlib import Path
from talekeeper.clock import SystemClock
from talekeeper.db import Database
sys.stdin.readline()
db = Database.open(Path(sys.argv[1]), clock=SystemClock())
name = f"w{sys.argv[2]}"
db.write(lambda tx: tx.run("INSERT INTO workspace(workspace, title, created) VALUES (?, '', '')", (name,)), name="put")
db.close()
"""


def start(path: Path, number: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", OPEN, str(path), str(number)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def go_all(children: list[subprocess.Popen[str]]) -> list[str]:
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    return [child.communicate(timeout=120)[1] for child in children]


def start_at(path: Path, version: int) -> None:
    path.touch(mode=0o600)
    connection = connect(path)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for step in migrations()[:version]:
        connection.executescript(step.sql)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


@pytest.mark.parametrize("version", [None, 0], ids=["nothing there", "an old one there"])
def test_processes_open_one_store_at_once(path: Path, clock: FixedClock, version: int | None) -> None:
    if version is not None:
        start_at(path, version)

    errors = go_all([start(path, number) for number in range(4)])

    assert errors == [""] * 4
    db = Database.open(path, clock=clock)
    rows = db.read(lambda tx: tx.rows("SELECT workspace FROM workspace ORDER BY workspace"))
    db.close()
    assert [name for (name,) in rows] == [f"w{number}" for number in range(4)]
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(".")] == []


def test_a_process_killed_while_it_migrates_leaves_all_or_nothing(path: Path, clock: FixedClock) -> None:
    chance = random.Random(7)
    for round_number in range(4):
        store = path.with_name(f"store{round_number}.sqlite")
        start_at(store, 0)
        child = start(store, 0)
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
        time.sleep(chance.uniform(0.1, 0.6))
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=60)

        db = Database.open(store, clock=clock)
        faults, version = db.integrity(), db.read(lambda tx: tx.rows("PRAGMA user_version"))
        db.close()

        assert faults == []
        assert version == [(migrations()[-1].number,)]
