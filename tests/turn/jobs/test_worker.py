"""Jobs in the background: asked for, waited for, in parallel for different sessions, and left behind when closing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from talekeeper.db import Leases
from talekeeper.errors import StoreUnusable
from talekeeper.story import Address, Jobs
from talekeeper.turn.worker import Worker

Start = Callable[..., Any]
Until = Callable[[Callable[[], bool]], None]
Work = Callable[[Any], Worker]

NOTE = """
with ctx.data.batch() as batch:
    for message in job.messages():
        batch.add("notes", {"text": message.text})
return JobResult(covered=job.range)
"""
MEET = """
import time
from pathlib import Path
folder = Path(ctx.session.title)
(folder / ctx.session.id).touch()
while not ((folder / "s").exists() and (folder / "t").exists()):
    ctx.check()
    time.sleep(0.01)
return JobResult()
"""
FOR_EVER = """
import time
from pathlib import Path
Path(ctx.session.title).touch()
while True:
    ctx.check()
    time.sleep(0.01)
"""


@pytest.fixture
def work() -> Iterator[Work]:
    """Makes a worker over a home; all are closed in the end."""
    made: list[Worker] = []

    def make(home: Any) -> Worker:
        made.append(Worker(home.runner))
        return made[-1]

    yield make
    for worker in made:
        worker.close()


def test_what_is_asked_for_is_done_and_can_be_waited_for(start: Start, work: Work) -> None:
    home = start({"note": NOTE})
    worker = work(home)
    for number in range(3):
        home.turn(f"ask {number}", "tell")
        worker.notify(home.address())

    assert worker.wait(home.address(), 60)
    assert len(home.notes()) == 6
    assert worker.wait(Address("w", "nowhere"), 0)


def test_sessions_are_worked_on_in_parallel(start: Start, work: Work, tmp_path: Path) -> None:
    home = start({"meet": MEET})
    worker = work(home)
    for session in ("s", "t"):
        home.story.sessions.rename(home.address(session), str(tmp_path))
        home.turn("ask", "tell", session=session)
        worker.notify(home.address(session))

    assert all(worker.wait(home.address(session), 60) for session in ("s", "t"))
    assert [job.state for session in ("s", "t") for job in home.story.jobs.all(home.address(session))] == [
        "succeeded",
        "succeeded",
    ]


def test_waiting_has_an_end_and_closing_puts_the_job_back(
    start: Start, work: Work, until: Until, tmp_path: Path
) -> None:
    home = start({"ever": FOR_EVER})
    worker = work(home)
    home.story.sessions.rename(home.address(), str(tmp_path / "flag"))
    home.turn("ask", "tell")
    worker.notify(home.address())
    until((tmp_path / "flag").exists)

    waited = worker.wait(home.address(), 0.01)
    worker.close()
    worker.notify(home.address())

    assert not waited
    assert worker.wait(home.address(), 0)
    (job,) = home.story.jobs.all(home.address())
    assert (job.state, job.attempts, job.reason) == ("pending", 0, "")


def test_jobs_another_process_runs_are_looked_at_again(start: Start, work: Work, tmp_path: Path) -> None:
    home = start({"note": NOTE})
    worker = work(home)
    home.turn("ask", "tell")
    with Leases(tmp_path / "leases", home.db).hold("w", Jobs.lease_name(home.address())):
        worker.notify(home.address())
        busy = not worker.wait(home.address(), 0.05)

    assert busy
    assert worker.wait(home.address(), 60)
    assert home.notes() == ["ask", "tell"]


def test_a_store_that_fails_is_told_until_it_works(start: Start, work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    home = start({"note": NOTE})
    worker = work(home)
    home.turn("ask", "tell")

    def full(*_: object) -> None:
        raise StoreUnusable("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(home.story.jobs, "claim", full)
        worker.notify(home.address())
        worker.wait(home.address(), 60)
        told = worker.faults
    worker.notify(home.address())
    worker.wait(home.address(), 60)

    assert told == {home.address(): "the disk is full"}
    assert worker.faults == {}
    assert home.notes() == ["ask", "tell"]


def test_no_thread_is_left(start: Start, work: Work) -> None:
    home = start({"note": NOTE})
    worker = work(home)
    home.turn("ask", "tell")
    worker.notify(home.address())
    worker.wait(home.address(), 60)

    worker.close()

    assert not [thread for thread in threading.enumerate() if thread.name == "jobs of s"]
