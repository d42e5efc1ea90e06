"""Imports in processes of their own: killed in the middle, and two at once."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

MESSAGES = 3000
MAIN = "import talekeeper.cli as c; c.main()"


@pytest.fixture
def long_chat(tmp_path: Path) -> Path:
    file = tmp_path / "long.jsonl"
    rows = [{"id": f"m{n}", "session": "long", "speaker": "user", "text": f"line {n}"} for n in range(MESSAGES)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def start(home: Path, file: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "TALEKEEPER_HOME": str(home), "TALEKEEPER_PLUGINS": ""}
    command = [sys.executable, "-c", MAIN, "import", str(file)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stored(home: Path) -> int:
    db = sqlite3.connect(f"file:{home / 'talekeeper.sqlite'}?mode=ro", uri=True)
    try:
        return int(db.execute("SELECT count(*) FROM message").fetchone()[0])
    finally:
        db.close()


def wait_for(process: subprocess.Popen[str], home: Path) -> None:
    """Until the first batch is there, or the process has ended."""
    while process.poll() is None and not stored(home):
        time.sleep(0.01)


def test_a_killed_import_is_taken_up_where_it_ended(tk: Run, home: Path, long_chat: Path) -> None:
    process = start(home, long_chat)
    wait_for(process, home)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    kept = stored(home)

    again = tk("import", long_chat, "--json").json["files"][0]

    assert kept > 0
    assert (again["already_there"], again["imported"]) == (kept, MESSAGES - kept)
    texts = [message["text"] for message in tk("sessions", "show", "long", "--all", "--json").json["shown"]]
    assert texts == [f"line {n}" for n in range(MESSAGES)]
    assert tk("doctor").code == 0


def test_two_imports_of_one_file_at_once_bring_it_once(tk: Run, home: Path, long_chat: Path) -> None:
    processes = [start(home, long_chat) for _ in range(2)]
    outcomes = [(*process.communicate(), process.returncode) for process in processes]

    assert [code for *_, code in outcomes] == [0, 0], outcomes
    shown = tk("sessions", "show", "long", "--all", "--json").json["shown"]
    assert sorted(message["ref"] for message in shown) == sorted(f"m{n}" for n in range(MESSAGES))
    assert tk("doctor").code == 0


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks: list[int] = []
    measure = f"import resource, sys\ntry: {MAIN}\nfinally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    for count in (10_000, 60_000):
        file = tmp_path / f"{count}.jsonl"
        text = "a word or two about the weather in the harbour"
        file.write_text("".join(f'{{"id": "m{n}", "text": "{n} {text}"}}\n' for n in range(count)))
        command = [sys.executable, "-c", measure, "--home", str(tmp_path / f"home{count}"), "import", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout.split()[-1]))

    assert peaks[1] < 1.3 * peaks[0]


@pytest.fixture
def long_archive(tk: Run, long_chat: Path, tmp_path: Path) -> Path:
    tk("--home", "source", "import", long_chat)
    assert tk("--home", "source", "export", "-o", "long.archive").code == 0
    return tmp_path / "long.archive"


def killed_restore(home: Path, archive: Path) -> int:
    """Kills an import when its first rows are there; gives how many there were."""
    process = start(home, archive)
    wait_for(process, home)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return stored(home)


def test_what_a_killed_restore_left_is_gone_when_the_home_is_opened_next(
    tk: Run, home: Path, long_archive: Path
) -> None:
    left = killed_restore(home, long_archive)

    named = tk("sessions", "new", "long")

    assert 0 < left < MESSAGES
    assert (named.code, stored(home)) == (0, 0)
    assert tk("doctor").code == 0


def test_a_restore_runs_again_after_it_was_killed(tk: Run, home: Path, long_archive: Path) -> None:
    killed_restore(home, long_archive)

    again = tk("import", long_archive, "--json").json["files"][0]

    assert (again["imported"], again["error"], stored(home)) == (MESSAGES, None, MESSAGES)
    assert tk("doctor").code == 0


def test_a_restore_at_work_is_not_swept_away(tk: Run, home: Path, long_archive: Path) -> None:
    process = start(home, long_archive)
    wait_for(process, home)
    process.send_signal(signal.SIGSTOP)

    tk("sessions", "list")
    there = stored(home)
    process.send_signal(signal.SIGCONT)
    process.communicate()

    assert there > 0
    assert (process.returncode, stored(home)) == (0, MESSAGES)
