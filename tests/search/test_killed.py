"""A process killed at any moment leaves an index that is whole."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.db import Database
from talekeeper.search import Index, Passage, check_index, maintain_index

BUSY = """
import itertools, sys
from pathlib import Path
from talekeeper.clock import SystemClock
from talekeeper.db import Database
from talekeeper.search import Index, Kind, Passage, maintain_index
from talekeeper.search.storage import maintenance, segments
from talekeeper.text import document_terms, digest

segments.FLUSH = maintenance.FLUSH = 4
segments.FAN = maintenance.FAN = 2
path, part, start = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
db, index = Database.open(path, clock=SystemClock()), Index()
for i in itertools.count(start):
    text = f"silver {'ash elm fir oak'.split()[i % 4]}"
    passage = Passage(Kind.MESSAGE, "", "", f"m{i}", 0, i, i, document_terms(text), digest(text))
    db.write(lambda tx: index.add(tx, part, passage), name="add")
    if i % 3 == 0:
        db.write(
            lambda tx: index.remove(
                tx, part, kind=Kind.MESSAGE, plugin="", namespace="", key=f"m{i - 5}", forget=i % 2 == 0
            ),
            name="remove",
        )
    maintain_index(db)
    print(i, flush=True)
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_process_leaves_a_whole_index(
    db: Database, path: Path, index: Index, part: int, message: Callable[..., Passage], seed: int
) -> None:
    chance = random.Random(seed)
    for start in (0, 100_000):
        worker = subprocess.Popen(
            [sys.executable, "-c", BUSY, str(path), str(part), str(start)], stdout=subprocess.PIPE
        )
        assert worker.stdout is not None
        for _ in range(chance.randrange(10, 80)):
            worker.stdout.readline()
        worker.send_signal(signal.SIGKILL)
        worker.communicate()

    depths = [int(key[1:]) for (key,) in db.read(lambda tx: tx.rows("SELECT key FROM doc"))]
    trees = ["ash", "elm", "fir", "oak"]
    expected = [message(f"silver {trees[depth % 4]}", depth) for depth in depths]
    assert depths
    assert db.read(lambda tx: check_index(tx, part, expected)) == []
    maintain_index(db)
    assert db.read(lambda tx: check_index(tx, part, expected)) == []
    assert db.read(lambda tx: tx.one("SELECT count(*) FROM retired")) == (0,)
