"""Measures the store against what the disk and SQLite alone would take; every figure is a ratio of one run.

    python scripts/bench_store.py [--turns 400] [--json]

1. A turn (two messages, a job row, the index) against a bare `BEGIN IMMEDIATE; 3 inserts; COMMIT` of the same texts,
   asked in turn on the same disk, with `synchronous` FULL and OFF. Goal: at most 3.
2. The last 50 messages of a session of 2,000 turns, each retried once, against one never retried. Goal: at most 2.
3. Eight processes of 50 turns each on one file, while a neighbour holds it for 3 s. Goal: none lost, none failed.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from talekeeper.clock import SystemClock
from talekeeper.db import Database, Lease, Leases, Synchronous, Tx
from talekeeper.ids import SortableIds
from talekeeper.search import Index
from talekeeper.story import Address, Draft, Story

PROCESSES = 8
TURNS_EACH = 50
RETRIED_TURNS = 2_000
HOLD = 3.0
ASK = "I follow Mira down to the harbour and ask the old guard about the silver key."
ANSWER = (
    "The guard looks at the lantern for a long time before he answers. He says that the key was under the third step "
    "of the bell tower until the storm, and that nobody has climbed the tower since. Mira asks him twice; he only "
    "shrugs, and the rain goes on falling on the boats."
)


def open_story(path: Path, synchronous: Synchronous = "FULL") -> tuple[Database, Story]:
    """A store of its own caches, as every process has one."""
    clock = SystemClock()
    db = Database.open(path, clock=clock, synchronous=synchronous)
    return db, Story(db, Index(), clock, SortableIds(clock))


def turn(story: Story, address: Address) -> None:
    """What the commit of a turn writes."""

    def write(tx: Tx) -> None:
        messages = story.messages.append(address, [Draft("player", ASK), Draft("narrator", ANSWER)], tx=tx)
        last = messages[-1].coordinate
        story.jobs.enqueue(address, "memory", "extract", last, start=last.depth - 1, tx=tx)

    story.write(write, name="turn")


def job(story: Story, address: Address, lease: Lease) -> None:
    """What the worker writes after the turn: two transactions."""
    claimed = story.jobs.claim(address, lease)
    if claimed is not None:
        story.jobs.succeed(address, claimed.id, lease, covered=(claimed.start, claimed.end))


def bare_transaction(connection: sqlite3.Connection) -> None:
    """The least that would keep the same rows."""
    connection.execute("BEGIN IMMEDIATE")
    for text in (ASK, ANSWER, "memory extract"):
        connection.execute("INSERT INTO bare(text) VALUES (?)", (text,))
    connection.execute("COMMIT")


def in_turn(repeat: int, *operations: Callable[[], object]) -> list[list[float]]:
    """Seconds of each operation, one after the other, so that a busy moment of the machine hits all alike."""
    times: list[list[float]] = [[] for _ in operations]
    for _ in range(repeat):
        for taken, operation in zip(times, operations, strict=True):
            started = time.perf_counter()
            operation()
            taken.append(time.perf_counter() - started)
    return times


def milliseconds(times: list[float]) -> dict[str, float]:
    """p50 and p95."""
    return {
        "p50 ms": round(statistics.median(times) * 1e3, 3),
        "p95 ms": round(sorted(times)[int(len(times) * 0.95)] * 1e3, 3),
    }


def measure_turns(folder: Path, turns: int, synchronous: Synchronous) -> dict[str, Any]:
    """Figure 1."""
    db, story = open_story(folder / f"turns-{synchronous}.sqlite", synchronous)
    address = story.sessions.create("w", session_id="s").address
    bare = sqlite3.connect(folder / f"bare-{synchronous}.sqlite", isolation_level=None)
    for statement in ("PRAGMA journal_mode = WAL", f"PRAGMA synchronous = {synchronous}", "PRAGMA secure_delete = ON"):
        bare.execute(statement)
    bare.execute("CREATE TABLE bare(id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    with Leases(folder / "leases", db).hold("w", "jobs") as lease:
        operations = (
            partial(turn, story, address),
            partial(bare_transaction, bare),
            partial(job, story, address, lease),
        )
        in_turn(20, *operations)
        ours, least, jobs = in_turn(turns, *operations)
    bare.close()
    db.close()
    ratio = statistics.median(ours) / statistics.median(least)
    return {
        "turn": milliseconds(ours),
        "bare": milliseconds(least),
        "job, claimed and ended": milliseconds(jobs),
        "ratio": round(ratio, 2),
        "goal": 3,
    }


def measure_reading(folder: Path) -> dict[str, Any]:
    """Figure 2."""
    db, story = open_story(folder / "reading.sqlite", "OFF")
    plain, retried = (story.sessions.create("w", session_id=name).address for name in ("plain", "retried"))
    for address in (plain, retried):
        for _ in range(0, RETRIED_TURNS, 100):
            story.write(partial(_hundred_turns, story, address, retried=address == retried), name="turns")
    reads = [partial(story.messages.read, address, last=50) for address in (plain, retried)]
    in_turn(20, *reads)
    once, twice = in_turn(300, *reads)
    db.close()
    ratio = statistics.median(twice) / statistics.median(once)
    return {"never": milliseconds(once), "retried": milliseconds(twice), "ratio": round(ratio, 2), "goal": 2}


def _hundred_turns(story: Story, address: Address, tx: Tx, *, retried: bool) -> None:
    for _ in range(100):
        story.messages.append(address, [Draft("player", ASK), Draft("narrator", ANSWER)], tx=tx)
        if retried:
            story.tree.retry(address, tx=tx)
            story.messages.append(address, [Draft("narrator", ANSWER)], tx=tx)


def measure_processes(folder: Path) -> dict[str, Any]:
    """Figure 3."""
    path = folder / "shared.sqlite"
    db, story = open_story(path)
    addresses = [story.sessions.create("w", session_id=f"s{number}").address for number in range(PROCESSES)]
    children = [_start(path, address.session) for address in addresses]
    while not any(story.sessions.get(address).messages for address in addresses):
        time.sleep(0.01)  # the neighbour comes while they are at it
    db.write(lambda _: time.sleep(HOLD), name="a slow neighbour")
    results = [child.communicate() for child in children]
    kept = sum(story.sessions.get(address).messages for address in addresses)
    db.close()
    times = [float(value) for output, _ in results for value in output.split()]
    complaints = "".join(errors for _, errors in results)
    return {
        "turns": len(times),
        "failed": sum(child.returncode != 0 for child in children),
        "lost": PROCESSES * TURNS_EACH - kept // 2,
        "neighbour named": "waiting for 'a slow neighbour'" in complaints,
        "longest s": round(max(times), 2),
        **milliseconds(times),
    }


def _start(path: Path, session: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, "--tell", str(path), session],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def tell(path: Path, session: str) -> None:
    """A process of figure 3: prints the seconds of each of its turns."""
    db, story = open_story(path)
    (times,) = in_turn(TURNS_EACH, partial(turn, story, Address("w", session)))
    db.close()
    print(*times)


def main() -> int:
    """Runs all and prints a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=400, help="turns measured for figure 1")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--tell", nargs=2, metavar=("STORE", "SESSION"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.tell:
        tell(Path(arguments.tell[0]), arguments.tell[1])
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = {
            "turn, synchronous FULL": measure_turns(folder, arguments.turns, "FULL"),
            "turn, synchronous OFF": measure_turns(folder, arguments.turns, "OFF"),
            "last 50 messages": measure_reading(folder),
            f"{PROCESSES} processes, {TURNS_EACH} turns each": measure_processes(folder),
        }
    if arguments.json:
        print(json.dumps(figures, indent=2))
    else:
        for title, figure in figures.items():
            print(f"{title}: {', '.join(f'{key} {value}' for key, value in figure.items())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
