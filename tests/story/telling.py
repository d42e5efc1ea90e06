"""A process to be killed: tells random turns of a session, or a fixed number of them, in a store named on its input.

It imports once and forks for each command, so that a death costs milliseconds. A command is a line
`path mode seed`; answered by the child's number, and by its exit code when it has ended.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

from talekeeper.clock import SystemClock
from talekeeper.db import Database
from talekeeper.errors import NotFound
from talekeeper.ids import SortableIds
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.search import Index
from talekeeper.story import Address, Draft, Scope, Story

FACTS = Namespace("memory", "facts", search=SearchTable(("text",)), limit=40, on_limit="oldest")
ADDRESS = Address("w", "s")
SCOPE = Scope("w", session="s")
WORDS = ["harbour", "lantern", "Mira", "silver", "key", "bell", "storm", "thief", "cellar", "北塔", "winter", "road"]


def open_story(path: Path) -> tuple[Database, Story]:
    clock = SystemClock()
    # A killed process loses nothing the system holds for it; only a power cut needs more.
    db = Database.open(path, clock=clock, synchronous="OFF")
    return db, Story(db, Index(), clock, SortableIds(clock))


def random_turns(story: Story, seed: int) -> None:
    chance = random.Random(seed)

    def text() -> str:
        return " ".join(chance.choices(WORDS, k=12))

    def some_message() -> str:
        return chance.choice(story.messages.read(ADDRESS, last=8)).id

    def some_fact() -> str:
        return chance.choice(story.records.list(FACTS, SCOPE, limit=50)).key

    acts: list[Callable[[], object]] = [
        lambda: story.tree.undo(ADDRESS),
        lambda: story.tree.retry(ADDRESS),
        lambda: story.tree.redo(ADDRESS),
        lambda: story.tree.fork(ADDRESS),
        lambda: story.tree.switch_take(ADDRESS, 1),
        lambda: story.messages.edit(ADDRESS, some_message(), text()),
        lambda: story.messages.hide(ADDRESS, some_message()),
        lambda: story.messages.delete(ADDRESS, some_message()),
        lambda: story.records.put(FACTS, SCOPE, some_fact(), {"text": text()}, person=chance.random() < 0.3),
        lambda: story.records.withdraw(FACTS, SCOPE, some_fact()),
        lambda: story.records.forget(FACTS, SCOPE, some_fact()),
        story.index.maintain,
    ]
    for _ in range(200):
        take = (Draft("narrator", text()),) if chance.random() < 0.2 else ()
        story.messages.append(ADDRESS, [Draft("player", text()), Draft("narrator", text(), takes=take)])
        story.records.add(FACTS, SCOPE, {"text": text()})
        try:
            chance.choice(acts)()
        except (NotFound, IndexError):
            continue


def fifty_turns(story: Story, number: int) -> None:
    for turn in range(50):
        story.messages.append(
            ADDRESS, [Draft("narrator", f"writer{number} says {1000 + turn}", speaker=f"Writer {number}")]
        )
        if turn % 10 == 0:
            story.index.maintain(ADDRESS)


MODES: dict[str, Callable[[Story, int], None]] = {"random": random_turns, "fifty": fifty_turns}


def run(path: str, mode: str, seed: str) -> None:
    db, story = open_story(Path(path))
    MODES[mode](story, int(seed))
    story.settle()
    db.close()


def tell(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def main() -> None:
    children: set[int] = set()
    for line in sys.stdin:
        if line.strip() == "wait":
            for _ in range(len(children)):
                child, status = os.wait()
                children.discard(child)
                tell(os.waitstatus_to_exitcode(status))
            continue
        child = os.fork()
        if child == 0:
            run(*line.split())
            sys.stdout.flush()
            os._exit(0)
        children.add(child)
        tell(child)


if __name__ == "__main__":
    main()
