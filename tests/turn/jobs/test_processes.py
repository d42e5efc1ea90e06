"""Real processes over one store: one killed in a job, several at the same jobs, one that lost its lease."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.db import Leases, Tx
from talekeeper.errors import Conflict
from talekeeper.story import Draft, Jobs

Start = Callable[..., Any]
Until = Callable[[Callable[[], bool]], None]
WORKING = Path(__file__).with_name("working.py")

NOTE = """
with ctx.data.batch() as batch:
    for message in job.messages():
        batch.add("notes", {"text": message.text})
return JobResult(covered=job.range)
"""
SLOW_ONCE = """
import time
from pathlib import Path
flag = Path(ctx.session.title)
with ctx.data.batch() as batch:
    batch.add("notes", {"text": f"before {job.attempt}"}, dedupe="before")
if not flag.exists():
    flag.touch()
    while True:
        ctx.check()
        time.sleep(0.01)
with ctx.data.batch() as batch:
    batch.add("notes", {"text": f"after {job.attempt}"}, dedupe="after")
return JobResult()
"""


def working(folder: Path, *sessions: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", str(WORKING), str(folder), *sessions]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_job_whose_process_was_killed_is_taken_up(start: Start, until: Until, tmp_path: Path) -> None:
    home = start({"slow": SLOW_ONCE})
    home.story.sessions.rename(home.address(), str(tmp_path / "flag"))
    home.turn("ask", "tell")
    process = working(tmp_path, "s")
    until((tmp_path / "flag").exists)

    process.kill()
    process.communicate()
    (left,) = home.story.jobs.all(home.address())
    (done,) = home.runner.run(home.address())

    assert (left.state, left.attempts) == ("running", 1)
    assert (done.state, done.attempts) == ("succeeded", 2)
    assert home.notes() == ["before 1", "after 2"]


def test_several_processes_do_every_job_once(start: Start, tmp_path: Path) -> None:
    home = start({"note": NOTE})
    for number in range(4):
        for session in ("s", "t"):
            home.turn(f"ask {number}", f"tell {number}", session=session)

    processes = [working(tmp_path, *sessions) for sessions in (("s", "t"), ("t", "s"))]
    done = [int(process.communicate()[0]) for process in processes]

    assert [process.returncode for process in processes] == [0, 0]
    assert sum(done) == 8
    told = [f"{what} {number}" for number in range(4) for what in ("ask", "tell")]
    assert home.notes() == told
    assert home.notes(session="t") == told


def test_who_lost_the_lease_commits_nothing_more(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    home = start({"note": NOTE})
    home.turn("ask", "tell")
    taken: list[str] = []

    def taken_over(address: Any, job: str, lease: Any, tx: Any) -> None:
        # As another holder does whose lock the system has granted.
        tx.run("UPDATE lease SET fence = fence + 1 WHERE workspace = 'w' AND name = ?", (Jobs.lease_name(address),))
        taken.append(job)
        lease.check(tx)

    with monkeypatch.context() as stopped:
        stopped.setattr(home.story.jobs, "check", taken_over)
        ended = home.run()

    # The transaction that noticed was rolled back, so the job is still this worker's: it failed like any other.
    assert (len(taken), ended, home.notes()) == (1, ["note failed"], [])


def test_a_zombie_is_refused(start: Start, tmp_path: Path) -> None:
    home = start({"note": NOTE})
    home.turn("ask", "tell")
    address = home.address()
    leases = Leases(tmp_path / "leases", home.db)
    with leases.hold("w", Jobs.lease_name(address)) as dead:
        job = home.story.jobs.claim(address, dead)
        assert job is not None

    home.run()

    def late_batch(tx: Tx) -> None:
        home.story.jobs.check(address, job.id, dead, tx)

    with pytest.raises(Conflict):
        home.story.write(late_batch, name="a late batch")
    with pytest.raises(Conflict):
        home.story.jobs.succeed(address, job.id, dead)
    assert not home.story.jobs.fail(address, job.id, dead, "late")

    assert [one.state for one in home.story.jobs.all(address)] == ["succeeded"]
    assert home.story.jobs.unrecorded == []


def test_a_session_deleted_under_its_job_leaves_nothing(start: Start, until: Until, tmp_path: Path) -> None:
    home = start({"slow": SLOW_ONCE})
    home.story.sessions.rename(home.address(), str(tmp_path / "flag"))
    home.turn("ask", "tell")
    home.story.messages.append(home.address("other"), [Draft("player", "x")])
    process = working(tmp_path, "s")
    until((tmp_path / "flag").exists)

    home.story.sessions.delete(home.address())
    process.kill()
    process.communicate()

    assert [session.id for session in home.story.sessions.all("w")] == ["other"]
    assert home.story.jobs.unfinished("w") == []
