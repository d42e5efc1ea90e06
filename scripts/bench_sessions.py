"""Whether a session is slowed down by others: one of many small ones in a home, beside the same session alone in its.

    python scripts/bench_sessions.py                          10,000 sessions of 12 messages
    python scripts/bench_sessions.py --sessions 1000 --messages 40

Each time a home is opened, a session is asked through memory-search, and the home is closed; the crowded home and the
home with one session take turns. Prints times and their ratios.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from bench.corpus import Made, Passage, questions
from bench.measuring import Samples, clock, no_collection
from talekeeper.home import Home
from talekeeper.memory_search import read_question, search_memory
from talekeeper.story import Address, Draft

_WORKSPACE = "crowd"
_WARM_UP = 5
_LIMIT = 1.5


def main(arguments: Sequence[str] | None = None) -> int:
    """Exits with 1 when opening and searching takes more than 1.5 times as long in the crowd."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=12)
    parser.add_argument("--asked", type=int, default=60, help="how many of the sessions are opened")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        crowd, alone = Path(folder) / "crowd", Path(folder) / "alone"
        _fill(crowd, options.sessions, options.messages)
        _fill(alone, 1, options.messages)
        samples = _measure({"crowd": crowd, "alone": alone}, options.sessions, options.asked)
    return _report(samples, options.sessions, options.messages)


def _fill(folder: Path, sessions: int, messages: int) -> None:
    passages = Made(sessions * messages).passages()
    with Home.open(folder) as home:
        for number in range(sessions):
            some = list(islice(passages, messages))
            home.story.sessions.create(_WORKSPACE, session_id=_name(number))
            home.story.messages.append(Address(_WORKSPACE, _name(number)), list(_drafts(some)))


def _drafts(passages: Sequence[Passage]) -> Iterator[Draft]:
    for place, passage in enumerate(passages):
        yield Draft("narrator" if place % 2 else "player", passage.text)


def _name(number: int) -> str:
    return f"s{number}"


def _measure(homes: dict[str, Path], sessions: int, asked: int) -> dict[str, Samples]:
    samples = {step: Samples() for step in ("open and ask", "ask again", "close")}
    queries = questions(Made(1_000), 8, asked)
    chosen = np.random.default_rng(7).integers(0, sessions, asked).tolist()
    for place, (query, number) in enumerate(zip(queries, chosen, strict=True)):
        for name, folder in homes.items():
            session = _name(number if name == "crowd" else 0)
            opened: list[Home] = []

            def ask_in_new(folder: Path = folder, session: str = session, opened: list[Home] = opened) -> None:
                opened.append(Home.open(folder))
                _ask(opened[0], session, query)  # noqa: B023 -- called before the next turn of the loop

            with no_collection():
                first = clock(ask_in_new)
                again = clock(partial(_ask, opened[0], session, query))
                last = clock(opened[0].close)
            if place >= _WARM_UP:
                for step, took in zip(samples, (first, again, last), strict=True):
                    samples[step].note(name, place, took)
    return samples


def _ask(home: Home, session: str, query: str) -> None:
    search_memory(home.services, Address(_WORKSPACE, session), read_question({"query": query}))


def _report(samples: dict[str, Samples], sessions: int, messages: int) -> int:
    print(f"{sessions:,} sessions of {messages} messages in one home, against one session alone")
    print(
        f"{'':14} {'alone, CPU ms':>14} {'in the crowd':>13} {'ratio':>7} {'alone, wall ms':>15} {'in the crowd':>13}"
    )
    ratios: dict[str, float] = {}
    for step, held in samples.items():
        figures = {one.engine: one for one in held.figures(sessions, step)}
        alone, crowd = figures["alone"], figures["crowd"]
        ratios[step] = crowd.cpu / alone.cpu
        print(
            f"{step:14} {alone.cpu:14.2f} {crowd.cpu:13.2f} {ratios[step]:7.2f} {alone.wall:15.2f} {crowd.wall:13.2f}"
        )
    return 0 if ratios["open and ask"] <= _LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
