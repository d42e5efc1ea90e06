"""A process of its own that opens an index and answers one query: time beyond the imports, memory beyond them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

from bench.corpus import Corpus, Made, questions
from bench.in_memory import Bm25s
from bench.measuring import clock, resident
from bench.on_disk import Fts5, Tantivy
from bench.ours import Ours

_REPEATS = 5
_PEERS = ("tantivy", "fts5", "bm25s")
_MORE = 200
"""Queries after the first one, of 8 terms, until memory is read."""


@dataclass(frozen=True, slots=True)
class Cold:
    """Medians over processes: milliseconds to the first answer, megabytes after it and after 200 more queries."""

    engine: str
    cpu: float
    wall: float
    resident: float
    resident_later: float


def measure(folder: Path, corpus: Corpus, *, peers: Sequence[str]) -> list[Cold]:
    """Asks the indexes a run left in `folder`, a process after the other."""
    first, *more = questions(corpus, 8, _MORE + 1)
    found: list[Cold] = []
    for engine in ("talekeeper", *(name for name in _PEERS if name in peers)):
        runs = [_one(folder, engine, first, more if repeat == 0 else []) for repeat in range(_REPEATS)]
        cpu, wall, resident = (sorted(run[i] for run in runs)[_REPEATS // 2] for i in range(3))
        found.append(Cold(engine, cpu, wall, resident, runs[0][3]))
    return found


def _one(folder: Path, engine: str, first: str, more: list[str]) -> tuple[float, float, float, float]:
    asked = json.dumps([str(folder), engine, first, more])
    scripts = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "bench.cold"]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, cwd=scripts)
    cpu, wall, resident, later = json.loads(done.stdout)
    return cpu, wall, resident, later


def main() -> None:
    """Reads what to do from standard input and prints four numbers."""
    folder, engine, first, more = json.loads(sys.stdin.read())
    search = _prepared(engine, Path(folder))
    base = resident()
    took = clock(partial(search, first))
    after = resident()
    for query in more:
        search(query)
    print(json.dumps([took.cpu, took.wall, after - base, resident() - base]))


def _prepared(engine: str, folder: Path) -> Callable[[str], list[int]]:
    """Everything imported; what opens the index is left to the first call."""
    Made(1)
    opened: list[Ours | Tantivy | Fts5 | Bm25s] = []
    if engine in {"tantivy", "bm25s"}:
        import_module(engine)

    def ask(query: str) -> list[int]:
        if not opened:
            opened.append(_open(engine, folder))
        return opened[0].search(query, None, 10)

    return ask


def _open(engine: str, folder: Path) -> Ours | Tantivy | Fts5 | Bm25s:
    if engine == "tantivy":
        return Tantivy(folder)
    if engine == "bm25s":
        saved = Bm25s(folder)
        saved.recall()
        return saved
    return Fts5(folder) if engine == "fts5" else Ours(folder)


if __name__ == "__main__":
    main()
