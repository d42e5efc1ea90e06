"""Times the search index beside other engines: one process, everybody asked the same thing in turn.

    python scripts/bench_search.py                         ours alone, at 1,000 and 10,000 passages
    python scripts/bench_search.py --peers                 with rank-bm25, its Rust port, bm25s, tantivy, FTS5
    python scripts/bench_search.py --sizes 1000000 --peers tantivy bm25s
    python scripts/bench_search.py --text notes.jsonl      real text: .jsonl, a folder of them, or a passage a line
    python scripts/bench_search.py --pauses                how long maintenance holds the write lock

Wants `pip install -e '.[bench]'` for peers and plot. Prints a table of ratios, and with --json and --plot writes the
figures and the picture. Ratios of CPU time are what to read; wall time on a shared machine says little.

A query of the whole has only its terms in the table; "a stretch of 5%" may see the passages in the middle of one, and
"one session" those of one of 1,000. Rows that need a word:

    talekeeper                    by words alone, as the peers are asked
    talekeeper, second stage      with neighbours' words, as memory-search asks
    talekeeper, nothing cached    every posting is read anew; "all cached": all are kept, beyond 100,000 passages
    talekeeper, fsync             synchronous=FULL, where the others of SQLite do not wait for the disk
    tantivy, counting             counts all matches as well, which its Python interface does unless told otherwise
    bm25s, numba                  its other scorer, compiled before it is asked
    SQLite, one row               the text written in a transaction, with no index: what is below every other row
"""

from __future__ import annotations

import argparse
import json
import platform
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import numpy as np
from bench import cold, pauses
from bench.corpus import Corpus, Made, Read
from bench.report import plot, print_table
from bench.run import MODULES, PEERS, Result, Run
from extras import require

_PEERS = ("rank-bm25", "rank-bm25-rs", "bm25s", "numba", "tantivy", "matplotlib")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exits with 0 unless an engine gave an answer that its own arithmetic does not explain."""
    options = _parser().parse_args(arguments)
    peers = [] if options.peers is None else options.peers or list(PEERS)
    require("bench", [*(name for peer in peers for name in MODULES[peer]), *(["matplotlib"] if options.plot else [])])
    results: list[Result] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for corpus in _corpora(options):
            place = Path(folder) / str(corpus.size)
            place.mkdir()
            if options.pauses:
                pauses.show(pauses.measure(place, corpus))
                continue
            result = Run(place, corpus, peers=peers, repeats=options.repeats, queries=options.queries).measure()
            result.cold.extend(cold.measure(place, corpus, peers=peers))
            print_table(result)
            results.append(result)
            if options.json:  # after each size, since the large ones take long
                kept = {"with": _versions(), "results": [asdict(one) for one in results]}
                options.json.write_text(json.dumps(kept, indent=1) + "\n")
    if options.plot and results:
        plot(results, options.plot)
    return 0 if all(one.explained in {None, 1.0} for result in results for one in result.agreement) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000], metavar="N")
    parser.add_argument("--text", type=Path, help="real text instead of the made corpus")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=None, help="all, or those named")
    parser.add_argument("--pauses", action="store_true")
    parser.add_argument("--queries", type=int, default=25, help="different queries of each length")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where to put the indexes; removed afterwards")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    return parser


def _corpora(options: argparse.Namespace) -> Iterator[Corpus]:
    for size in options.sizes:
        yield Made(size) if options.text is None else Read(options.text, size)


def _versions() -> dict[str, str]:
    own = {"python": platform.python_version(), "numpy": np.__version__, "sqlite": sqlite3.sqlite_version}
    for name in _PEERS:
        try:
            own[name] = version(name)
        except ModuleNotFoundError:
            own[name] = "not installed"
    return own


if __name__ == "__main__":
    sys.exit(main())
