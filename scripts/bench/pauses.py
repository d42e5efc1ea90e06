"""How long maintenance holds the write lock: every write transaction timed while passages come, go and are rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, TypeVar

from talekeeper.db import Database, Tx
from talekeeper.search import Passage as Indexed
from talekeeper.search import maintain_index, purge_index, rebuild_index
from talekeeper.text import document_terms

from bench.corpus import Corpus, Passage
from bench.engine import Counted
from bench.measuring import Took, clock, no_collection
from bench.ours import Ours, entry

T = TypeVar("T")
_BATCH = 2048
_TURN = 5
_ADDED = 17_000
"""Enough for every kind of merge to fall due once."""
_REMOVED = 1_000
_REBUILT_AT_ONCE = 100
"""As many passages as story rebuilds in a transaction, terms made anew inside it."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Write transactions of one name in one kind of work; milliseconds."""

    work: str
    name: str
    count: int
    cpu_median: float
    cpu_longest: float
    wall_longest: float


class _Timed(Database):
    """Notes how long each write held the lock, commit included."""

    times: ClassVar[list[tuple[str, Took]]] = []

    def write(self, fn: Callable[[Tx], T], *, name: str) -> T:
        results: list[T] = []
        took = clock(lambda: results.append(super(_Timed, self).write(fn, name=name)))
        self.times.append((name, took))
        return results[0]


def measure(folder: Path, corpus: Corpus) -> list[Pause]:
    """Loads the corpus, then does each kind of work on top of it."""
    ours = Ours(folder, opens=_Timed)
    passages = corpus.passages(0, corpus.size + _ADDED)
    for batch in _batches(islice(passages, corpus.size), _BATCH):
        ours.load([Counted(one, document_terms(one.text)) for one in batch])
    found: list[Pause] = []
    for work, do in _works(ours, corpus, passages):
        _Timed.times = []
        with no_collection():
            do()
        found += _summary(work, _Timed.times)
    ours.close()
    return found


def _works(ours: Ours, corpus: Corpus, new: Iterator[Passage]) -> Iterator[tuple[str, Callable[[], None]]]:
    def turns() -> None:
        for turn in _batches(new, _TURN):
            ours.add(turn)
            maintain_index(ours.db, part=ours.part)

    def purge() -> None:
        step = max(1, corpus.size // _REMOVED)
        for passage in islice(corpus.passages(), 0, None, step):
            ours.delete(passage)
        purge_index(ours.db, ours.part)

    yield f"{_ADDED:,} more in turns of five", turns
    yield f"{_REMOVED:,} removed and purged", purge
    yield "rebuild", partial(rebuild_index, ours.db, ours.part, _source(corpus))


def _source(corpus: Corpus) -> Callable[[Tx, Any], tuple[Sequence[Indexed], Any]]:
    def some(_: Tx, cursor: Any) -> tuple[Sequence[Indexed], Any]:
        start = cursor or 0
        end = min(start + _REBUILT_AT_ONCE, corpus.size)
        made = [entry(passage, document_terms(passage.text)) for passage in held[start:end]]
        return made, end if end < corpus.size else None

    held = list(corpus.passages())
    return some


def _batches(passages: Iterable[Passage], size: int) -> Iterator[list[Passage]]:
    rest = iter(passages)
    while batch := list(islice(rest, size)):
        yield batch


def _summary(work: str, times: Sequence[tuple[str, Took]]) -> Iterator[Pause]:
    for name in dict.fromkeys(name for name, _ in times):
        cpu = [took.cpu for held, took in times if held == name]
        wall = [took.wall for held, took in times if held == name]
        yield Pause(work, name, len(cpu), median(cpu), max(cpu), max(wall))


def show(found: Sequence[Pause]) -> None:
    """Prints a table."""
    print(f"{'work':34} {'write':18} {'times':>6} {'median':>8} {'longest':>8} {'longest, wall':>14}   ms")
    for one in found:
        print(
            f"{one.work:34} {one.name:18} {one.count:6} {one.cpu_median:8.2f} {one.cpu_longest:8.2f}"
            f" {one.wall_longest:14.2f}"
        )
