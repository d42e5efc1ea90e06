"""Several processes, and processes that are killed: story and index stay equal and nothing accepted is lost."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Leases, Tx, ensure_outside_write
from talekeeper.errors import HeldAcrossCall
from talekeeper.ids import Ids
from talekeeper.search import Index, PartScope, Query, Source
from talekeeper.story import Address, Coordinate, JobState, Message, Story

Say = Callable[..., list[Message]]


class Tellers:
    """Starts processes that tell a story, and ends them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("telling.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def start(self, mode: str, seed: int) -> int:
        self._tell(f"{self._path} {mode} {seed}")
        return int(self._hear())

    def wait(self, count: int) -> list[int]:
        """Exit codes of the processes started since; killed ones have the negative signal."""
        self._tell("wait")
        return [int(self._hear()) for _ in range(count)]

    def close(self) -> None:
        self._process.communicate(timeout=60)

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@pytest.fixture
def tellers(path: Path, address: Address) -> Iterator[Tellers]:
    """The session is there before they begin."""
    tellers = Tellers(path)
    yield tellers
    tellers.close()


def check_everything(story: Story, db: Database, address: Address) -> int:
    """Compares what the store keeps twice, and gives the number of messages."""
    session = story.sessions.get(address)
    everything = list(story.messages.all(address))

    assert story.index.check() == []
    assert db.integrity() == []
    assert [message.seq for message in everything] == list(range(session.messages))
    assert story.tree.lineage(address) == story.tree.lineage(address, session.head)
    told = story.messages.read(address, at=session.head)
    assert [message.coordinate.depth for message in told] == sorted({m.coordinate.depth for m in told})
    return len(everything)


def kill_at_random(
    tellers: Tellers, open_database: Callable[[], Database], story: Story, address: Address, kills: int
) -> int:
    chance = random.Random(20)
    messages = survived = 0
    for round_number in range(kills):
        child = tellers.start("random", round_number)
        enough = messages + chance.randrange(2, 25)
        while story.sessions.get(address).messages < enough:
            time.sleep(0.001)
        time.sleep(chance.uniform(0.0, 0.01))
        os.kill(child, signal.SIGKILL)
        codes = tellers.wait(1)
        survived += codes == [0]

        now = check_everything(story, open_database(), address)
        assert now >= messages
        messages = now
    assert survived < kills
    story.settle()
    check_everything(story, open_database(), address)
    return messages


def test_a_process_killed_at_any_moment_leaves_story_and_index_equal(
    tellers: Tellers, open_database: Callable[[], Database], story: Story, address: Address
) -> None:
    assert kill_at_random(tellers, open_database, story, address, kills=5) > 30


@pytest.mark.slow
def test_a_process_killed_at_any_moment_of_hundreds_of_turns(
    tellers: Tellers, open_database: Callable[[], Database], story: Story, address: Address
) -> None:
    assert kill_at_random(tellers, open_database, story, address, kills=200) > 400


def found(story: Story, index: Index, address: Address, query: str) -> int:
    def search(tx: Tx) -> int:
        part = index.part_for(tx, address.workspace, address.session, "")
        scope = PartScope(part, story.tree.lineage(address, tx=tx))
        return len(index.search(tx, Query((query,), (scope,), (Source(),), neighbours=False)).hits)

    return story.read(search)


@pytest.mark.parametrize("writers", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_processes_writing_one_session_lose_nothing_and_find_each_other(
    tellers: Tellers, db: Database, story: Story, index: Index, address: Address, writers: int
) -> None:
    for number in range(writers):
        tellers.start("fifty", number)
    codes = tellers.wait(writers)

    assert codes == [0] * writers
    assert check_everything(story, db, address) == 50 * writers
    told = story.messages.read(address)
    assert [message.coordinate for message in told] == [Coordinate(0, depth) for depth in range(50 * writers)]
    for number in range(writers):
        own = [message.text for message in told if message.speaker == f"Writer {number}"]
        assert own == [f"writer{number} says {1000 + turn}" for turn in range(50)]
    assert [found(story, index, address, f"{1000 + turn}") for turn in (0, 49)] == [writers, writers]


def test_two_stores_of_one_process_see_each_others_writes(
    open_database: Callable[[], Database],
    story: Story,
    address: Address,
    say: Say,
    index: Index,
    clock: FixedClock,
    ids: Ids,
) -> None:
    say("> the lantern")
    assert found(story, index, address, "lantern") == 1
    other = Story(open_database(), Index(), clock, ids)

    other.messages.edit(address, other.messages.read(address)[0].id, "the candle")

    assert (found(story, index, address, "lantern"), found(story, index, address, "candle")) == (0, 1)


def test_another_program_writes_all_the_while_a_job_runs(
    story: Story, address: Address, leases: Leases, path: Path, say: Say
) -> None:
    say("> a", "b")
    story.jobs.enqueue(address, "memory", "extract", Coordinate(0, 1), start=0)
    neighbour = sqlite3.connect(path, timeout=1.0, isolation_level=None)
    writes = 0

    with leases.hold("w", "jobs/s") as lease:
        job = story.jobs.claim(address, lease)
        assert job is not None
        messages = story.messages.story(address, job.start, job.end, at=job.coordinate)
        for _ in range(20):  # the model thinks here
            ensure_outside_write("a model call")
            neighbour.execute("BEGIN IMMEDIATE")
            neighbour.execute("UPDATE workspace SET title = title || '.'")
            neighbour.execute("COMMIT")
            writes += 1
        story.jobs.succeed(address, job.id, lease, covered=(0, 1))
    neighbour.close()

    assert (writes, len(messages)) == (20, 2)
    assert story.jobs.get(address, job.id).state is JobState.SUCCEEDED


def test_a_model_called_inside_a_turns_commit_is_stopped_before_it_begins(
    story: Story, address: Address, path: Path
) -> None:
    def turn(tx: Tx) -> None:
        story.sessions.rename(address, "half done", tx=tx)
        ensure_outside_write("a model call")

    with pytest.raises(HeldAcrossCall, match="a model call was started while the write 'turn' was open"):
        story.write(turn, name="turn")

    neighbour = sqlite3.connect(path, timeout=1.0, isolation_level=None)
    neighbour.execute("BEGIN IMMEDIATE")
    neighbour.execute("COMMIT")
    neighbour.close()
    assert story.sessions.get(address).title == ""
