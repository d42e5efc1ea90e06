"""A process that runs the jobs of sessions in a home, to be killed or to run beside others.

`working FOLDER SESSION …` runs those sessions' jobs one after the other until nothing is due, and says how many it did.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from talekeeper.clock import SystemClock
from talekeeper.db import Database, Leases
from talekeeper.errors import Busy
from talekeeper.ids import SortableIds
from talekeeper.models import NO_MODELS
from talekeeper.plugins import Host
from talekeeper.search import Index
from talekeeper.services import Services
from talekeeper.story import Address, Story
from talekeeper.turn.jobs import JobRunner


def main(folder: Path, sessions: list[str]) -> None:
    clock = SystemClock()
    db = Database.open(folder / "store.sqlite", clock=clock, synchronous="OFF")
    index = Index()
    story = Story(db, index, clock, SortableIds(clock))
    host = Host(story, clock, folder=folder / "plugins", entries=tuple)
    runner = JobRunner(Services(story, index, host, clock, NO_MODELS), NO_MODELS, Leases(folder / "leases", db))
    done = 0
    for session in sessions:
        address = Address("w", session)
        while any(where == address for where, _ in story.jobs.unfinished("w")):
            try:
                done += len(runner.run(address, limit=1))
            except Busy:
                time.sleep(0.01)
    sys.stdout.write(f"{done}\n")
    db.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
