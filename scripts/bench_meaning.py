"""What search by meaning costs beside search by words: time of a query, of the first one, after a turn, and memory.

    python scripts/bench_meaning.py                              1,000, 10,000 and 100,000 passages of 512 dimensions
    python scripts/bench_meaning.py --sizes 100000 --dimensions 384

Passages are those of bench_search.py, all in one session, with vectors that are drawn at random, so no encoder is
needed and none is measured. Each size is asked in a process of its own. CPU milliseconds, p50; megabytes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from bench.corpus import Made, questions
from bench.measuring import clock, in_turn, resident
from bench.ours import Ours, entry
from talekeeper.db import Tx
from talekeeper.search import (
    Meaning,
    PartScope,
    Passage,
    Query,
    Ranking,
    Source,
    maintain_index,
    put_vectors,
    vector_space,
)
from talekeeper.text import document_terms

_SPACE = "drawn at random"
_EVERYTHING = 2**31 - 1
_AT_ONCE = 1_000
_ASKED, _REPEATS = 20, 3
_TERMS = 8
_TURNS, _TURN = 10, 2  # how often a query follows a turn, and the messages of one
_DEPTH = 5


class Told:
    """An index whose passages have vectors, made in `folder` or found there."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._ours = Ours(folder)
        self._dice = np.random.default_rng(dimensions)
        self._dimensions = dimensions

    def tell(self, start: int, end: int) -> None:
        """Adds passages from `start` to before `end`, each with its vector."""
        corpus, db = Made(end), self._ours.db
        for first in range(start, end, _AT_ONCE):
            some = corpus.passages(first, min(first + _AT_ONCE, end))
            db.write(partial(self._add, passages=[entry(one, document_terms(one.text)) for one in some]), name="add")
            maintain_index(db)

    def ask(self, text: str, *, by_meaning: bool) -> Ranking:
        """With the second stage, as memory-search asks."""
        return self._ours.db.read(partial(self._ask, text=text, by_meaning=by_meaning))

    def close(self) -> None:
        """Closes the database."""
        self._ours.close()

    def _add(self, tx: Tx, passages: Sequence[Passage]) -> None:
        index, part = self._ours.index, self._ours.part
        docs = [index.add(tx, part, one) for one in passages]
        put_vectors(tx, part, _SPACE, dict(zip(docs, self._drawn(len(docs)), strict=True)))

    def _ask(self, tx: Tx, text: str, *, by_meaning: bool) -> Ranking:
        index = self._ours.index
        space = vector_space(tx, _SPACE) if by_meaning else None
        meaning = None if space is None else Meaning(space, {text: self._drawn(1)[0]})
        scope = PartScope(self._ours.part, {0: _EVERYTHING})
        return index.search(tx, Query((text,), (scope,), (Source(),), depth=_DEPTH, meaning=meaning))

    def _drawn(self, count: int) -> list[list[float]]:
        found: list[list[float]] = self._dice.standard_normal((count, self._dimensions)).tolist()
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table."""
    options = _parser().parse_args(arguments)
    if options.folder is not None:
        print(json.dumps(_asked(options.folder, options.sizes[0], options.dimensions)))
        return 0
    print("passages  by words  by meaning too  first one  after a turn  MB by words  MB more by meaning")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            told = Told(Path(folder), options.dimensions)
            told.tell(0, size)
            told.close()
            command = [sys.executable, __file__, "--folder", folder, "--sizes", str(size)]
            command += ["--dimensions", str(options.dimensions)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        words, both, first, later, base, more = json.loads(done.stdout)
        print(f"{size:8,}  {words:8.2f}  {both:14.2f}  {first:9.1f}  {later:12.2f}  {base:11.0f}  {more:18.0f}")
    return 0


def _asked(folder: Path, size: int, dimensions: int) -> list[float]:
    """The numbers of a line of the table."""
    texts = questions(Made(size), _TERMS, _ASKED)
    before = resident()
    told = Told(folder, dimensions)
    for text in texts:
        told.ask(text, by_meaning=False)
    base = resident()
    first = clock(partial(told.ask, texts[0], by_meaning=True))
    ways = {"words": False, "both": True}
    calls = [{name: partial(told.ask, text, by_meaning=way) for name, way in ways.items()} for text in texts]
    figures = {figure.engine: figure.cpu for figure in in_turn(calls, _REPEATS).figures(size, "query")}
    after: list[float] = []
    for turn, text in enumerate(texts[:_TURNS]):
        told.tell(size + turn * _TURN, size + (turn + 1) * _TURN)
        after.append(clock(partial(told.ask, text, by_meaning=True)).cpu)
    told.close()
    return [figures["words"], figures["both"], first.cpu, median(after), base - before, resident() - base]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--dimensions", type=int, default=512)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
