"""Wall and CPU time of calls, engines taking turns, so that a busy machine is busy for all of them."""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

_PATIENCE = 1_500.0  # milliseconds of CPU an engine gets for one measure
_SLOW = 50.0  # a call this long needs no warming up
Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Took:
    """Milliseconds. CPU is that of the whole process, other threads of an engine included."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number with where it belongs; times are in milliseconds."""

    size: int
    measure: str
    engine: str
    cpu: float
    cpu_p95: float
    wall: float
    wall_p95: float
    samples: int


@dataclass
class Samples:
    """What was measured: by engine, by what was asked, one time for each repeat."""

    times: dict[str, dict[int, list[Took]]] = field(default_factory=dict[str, dict[int, list[Took]]])

    def note(self, engine: str, asked: int, took: Took) -> None:
        """Adds one time."""
        self.times.setdefault(engine, {}).setdefault(asked, []).append(took)

    def figures(self, size: int, measure: str) -> Iterator[Figure]:
        """Of everything asked the median of its repeats, and of those p50 and p95."""
        for engine, asked in self.times.items():
            cpu = sorted(median(one.cpu for one in repeats) for repeats in asked.values())
            wall = sorted(median(one.wall for one in repeats) for repeats in asked.values())
            yield Figure(size, measure, engine, median(cpu), _p95(cpu), median(wall), _p95(wall), len(cpu))


def clock(call: Call) -> Took:
    """Runs it once."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return Took(1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu))


def in_turn(calls: Sequence[Mapping[str, Call]], repeats: int) -> Samples:
    """`calls[i]` has, by engine, the i-th thing to ask; every engine is asked it before the next thing comes.

    The first round warms up and is not counted, where there is more than one. An engine that has had its time is left
    out of the rest.
    """
    samples = Samples()
    spent: defaultdict[str, float] = defaultdict(float)
    with no_collection():
        for repeat in range(repeats + (repeats > 1)):
            for asked, by_engine in enumerate(calls):
                for engine, call in by_engine.items():
                    if spent[engine] < _PATIENCE:
                        took = clock(call)
                        spent[engine] += took.cpu
                        if repeat or repeats == 1 or took.cpu > _SLOW:
                            samples.note(engine, asked, took)
    return samples


@contextmanager
def no_collection() -> Generator[None, None, None]:
    """Python's cycle collector would be charged to whoever happens to run."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def resident() -> float:
    """Megabytes of memory this process holds."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * 4096 / 1e6


def _p95(ascending: Sequence[float]) -> float:
    return ascending[min(len(ascending) - 1, round(0.95 * (len(ascending) - 1)))]
