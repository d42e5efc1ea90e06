"""What a turn costs the kernel itself, with no model to wait for: CPU time of turns in a short and in a long session.

Prints milliseconds of CPU and the ratio of the two sessions, measured in one run, turn and turn about. The narrator
answers in the process; the bundled plugins work as they do for people, on facts that were recorded before.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from talekeeper.home import Home
from talekeeper.story import Address, Draft, Scope
from talekeeper.testing import OneModel, Recorded, ScriptedNarrator, Step, say
from talekeeper.turn import Narrator

WORKSPACE = "bench"
_PLACES = ("harbour", "mill", "lighthouse", "chapel", "market", "quarry", "orchard", "bridge", "tavern", "cellar")
_PEOPLE = ("Mara", "Tobias", "Hesper", "Oskar", "Linnea", "Corvin", "Ysolde", "Bram", "Edda", "Jorun")


_THINGS = tuple(
    f"{first}{last}" for first in ("brass", "salt", "moon", "thorn", "ash") for last in ("key", "bell", "map")
)


def sentence(number: int) -> str:
    """A sentence that shares its names with one in ten others and its thing with one in fifteen."""
    person, place, thing = _PEOPLE[number % 10], _PLACES[number // 10 % 10], _THINGS[number // 7 % 15]
    return (
        f"{person} carried the {thing} number {number} to the {place} and left it there, wrapped in cloth {number * 7}."
    )


def answer(_: Recorded) -> Step:
    """A narration of the usual length."""
    return say(" ".join(sentence(number) for number in range(6)), piece=40)


def fill(home: Home, name: str, messages: int, plugins: tuple[str, ...]) -> Address:
    """A session with so many messages, in turns of two."""
    address = home.story.sessions.create(WORKSPACE, session_id=name, plugins=plugins).address
    roles = ("player", "narrator")
    drafts = [
        Draft("player" if number % 2 == 0 else "narrator", f"{sentence(number)} {roles[number % 2]}", origin="typed")
        for number in range(messages)
    ]
    for start in range(0, messages, 500):
        home.story.messages.append(address, drafts[start : start + 500])
    home.host.ready(address)
    home.story.index.maintain()
    return address


def facts(home: Home, address: Address, count: int) -> None:
    """Records of every bundled plugin's namespace of that name that takes a text alone."""
    for plugin in home.host.roster(session=home.story.sessions.get(address)).working:
        for namespace in plugin.declared.data:
            if namespace.name == "facts" and set(namespace.schema.get("required", ())) <= {"text", "fact"}:
                key = next(iter(namespace.schema["required"]))
                for number in range(count):
                    home.story.records.add(namespace, Scope(WORKSPACE, address.session), {key: sentence(number * 3)})


def measured(act: Callable[[Address], object], address: Address) -> float:
    """CPU milliseconds, those of the plugins' threads among them."""
    started = time.process_time()
    act(address)
    return (time.process_time() - started) * 1000


def main() -> int:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=30, help="turns measured in each session")
    parser.add_argument("--short", type=int, default=500, help="messages of the short session")
    parser.add_argument("--long", type=int, default=5_000, help="messages of the long session")
    parser.add_argument("--facts", type=int, default=300, help="facts recorded in each")
    parser.add_argument("--bare", action="store_true", help="without plugins")
    parser.add_argument("--memory", type=int, default=0, metavar="TURNS", help="also watch memory over so many turns")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Home.open(Path(folder) / "home") as home:
        plugins = () if options.bare else home.plugins_of_new_sessions(WORKSPACE)
        sessions = {name: fill(home, name, getattr(options, name), plugins) for name in ("short", "long")}
        for address in sessions.values():
            facts(home, address, options.facts)
        model = ScriptedNarrator(answer)
        narrator = Narrator(home.services, OneModel(model), home.leases)
        print(f"plugins: {', '.join(plugins) or 'none'}; {options.facts} facts; {options.turns} turns in each session")
        _compare(narrator, sessions, options.turns)
        if options.memory:
            _watch(narrator, model, sessions["short"], options.memory)
    return 0


def _compare(narrator: Narrator, sessions: dict[str, Address], turns: int) -> None:
    acts: dict[str, Callable[[Address], object]] = {
        "whole turn": lambda address: narrator.turn(address, "Mara asks who has seen the moonbell at the harbour."),
        "prompt alone": lambda address: narrator.recall(address, "Mara asks who has seen the moonbell at the harbour."),
    }
    for what, act in acts.items():
        cost: dict[str, list[float]] = {name: [] for name in sessions}
        for address in sessions.values():
            act(address)  # what is loaded once is not counted
        for _ in range(turns):
            for name, address in sessions.items():
                cost[name].append(measured(act, address))
        medians = {name: statistics.median(each) for name, each in cost.items()}
        told = ", ".join(f"{name} {medians[name]:.1f} ms" for name in sessions)
        print(f"{what}: {told}; long / short {medians['long'] / medians['short']:.2f}")


def _watch(narrator: Narrator, model: ScriptedNarrator, address: Address, turns: int) -> None:
    tracemalloc.start()
    narrator.turn(address, "Mara begins.")
    first, _ = tracemalloc.get_traced_memory()
    for number in range(turns):
        narrator.turn(address, f"Mara goes on, {number}.")
        model.requests.clear()
        if (number + 1) % (turns // 4 or 1) == 0:
            held, peak = tracemalloc.get_traced_memory()
            print(f"after {number + 1} turns: {(held - first) / 1e6:+.1f} MB held, peak {peak / 1e6:.1f} MB")
    tracemalloc.stop()


if __name__ == "__main__":
    sys.exit(main())
