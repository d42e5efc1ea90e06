"""All measures of one corpus: build, ask, check that the answers agree, then change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from talekeeper.text import document_terms

from bench.agreement import Agreement, Searcher, compare
from bench.cold import Cold
from bench.corpus import SESSION, Corpus, Passage, questions
from bench.engine import Counted, Engine, Scope
from bench.in_memory import Bm25s, Bm25sNumba, RankBm25
from bench.measuring import Call, Figure, Samples, clock, in_turn
from bench.on_disk import Fts5, OneRow, Tantivy, TantivyCounting
from bench.ours import Ours

TERMS = (3, 8, 25)
_BATCH = 2048
_DEPTH = 10
_ALL = 1 << 30  # bytes, more than the postings of a million passages take
_LARGE = 100_000  # passages; with more, rank-bm25 would need more memory than a machine has
PEERS: Mapping[str, Callable[[Path], Engine]] = {
    "tantivy": Tantivy,
    "fts5": Fts5,
    "bm25s": Bm25s,
    "rank-bm25-rs": lambda _: RankBm25("rank-bm25-rs", "rank_bm25_rs"),
    "rank-bm25": lambda _: RankBm25("rank-bm25", "rank_bm25"),
}
"""Made with the folder to keep files in."""
MODULES: Mapping[str, Sequence[str]] = {
    "tantivy": ["tantivy"],
    "fts5": [],
    "bm25s": ["bm25s", "numba"],
    "rank-bm25-rs": ["rank_bm25_rs"],
    "rank-bm25": ["rank_bm25"],
}
"""What each needs to be installed."""
_CHANGES = 40
_TURN = 5


@dataclass
class Result:
    """What was measured of one corpus. `built` is CPU seconds of the bulk load, `disk` bytes."""

    corpus: str
    size: int
    figures: list[Figure] = field(default_factory=list[Figure])
    built: dict[str, float] = field(default_factory=dict[str, float])
    disk: dict[str, int] = field(default_factory=dict[str, int])
    agreement: list[Agreement] = field(default_factory=list[Agreement])
    cold: list[Cold] = field(default_factory=list[Cold])


class Run:
    """One corpus with all engines in one process."""

    def __init__(self, folder: Path, corpus: Corpus, *, peers: Sequence[str], repeats: int, queries: int) -> None:
        self._corpus = corpus
        self._repeats = repeats
        self._queries = queries
        self._folder = folder
        self._ours = Ours(folder)
        self._engines: list[Engine] = [self._ours]
        self._engines += [PEERS[name](folder) for name in peers if name != "rank-bm25" or corpus.size <= _LARGE]

    def measure(self) -> Result:
        """Everything, in an order in which no measure disturbs the next."""
        result = Result(self._corpus.name, self._corpus.size)
        result.built = self._build()
        asking = self._asking()
        result.disk = {engine.name: engine.disk() for engine in self._engines if engine.disk()}
        queries = {terms: questions(self._corpus, terms, self._queries) for terms in TERMS}
        for terms, asked in queries.items():
            for kind, scope in self._scopes().items():
                samples = in_turn(_calls(asking, asked, scope), self._repeats)
                result.figures += samples.figures(self._corpus.size, f"query, {terms} terms{kind}")
        result.agreement = compare(asking[:-1], self._corpus, queries)
        for measure, samples in self._changes():
            result.figures += samples.figures(self._corpus.size, measure)
        for engine in self._engines:
            engine.close()
        return result

    def _build(self) -> dict[str, float]:
        built = {engine.name: 0.0 for engine in self._engines}
        passages = self._corpus.passages()
        while batch := [Counted(one, document_terms(one.text)) for one in islice(passages, _BATCH)]:
            for engine in self._engines:
                built[engine.name] += clock(partial(engine.load, batch)).cpu / 1e3
        for engine in self._engines:
            built[engine.name] += clock(engine.settle).cpu / 1e3
        return built

    def _scopes(self) -> Mapping[str, Scope | None]:
        size = self._corpus.size
        scopes: dict[str, Scope | None] = {"": None, ", a stretch of 5%": Scope(size // 2, size // 2 + size // 20)}
        if size > SESSION:
            scopes[", one session"] = Scope(3 * SESSION, 4 * SESSION, 3)
        return scopes

    def _asking(self) -> list[Searcher]:
        """Ours first; all rank by words alone but the last, which takes the second stage."""
        asking: list[Searcher] = [*self._engines, Ours(self._folder, "talekeeper, nothing cached", postings=0)]
        if self._corpus.size > _LARGE:
            asking.append(Ours(self._folder, "talekeeper, all cached", postings=_ALL))
        for engine in self._engines:
            if isinstance(engine, Tantivy):
                asking.append(TantivyCounting(engine))
            if isinstance(engine, Bm25s):
                asking.append(Bm25sNumba(engine))
        return [*asking, Ours(self._folder, "talekeeper, second stage", neighbours=True)]

    def _changes(self) -> Iterator[tuple[str, Samples]]:
        adders = [engine for engine in self._engines if engine.adds]
        new = self._corpus.passages(self._corpus.size, self._corpus.size + 20 * _CHANGES)
        queries = questions(self._corpus, 8, _CHANGES)
        one_each = [next(new) for _ in range(_CHANGES)]
        row = OneRow(self._folder)
        yield "add one", in_turn([_adding([*adders, row], [one]) for one in one_each], 1)
        row.close()
        safe: list[Engine] = [Ours(self._folder, "talekeeper, fsync", synchronous="FULL")]
        yield "add one", in_turn([_adding(safe, [next(new)]) for _ in range(_CHANGES)], 1)
        then = [_adding_then_asking(adders, next(new), query) for query in queries]
        yield "add one, then query", in_turn(then, 1)
        turns = [_adding(adders, list(islice(new, _TURN))) for _ in range(_CHANGES)]
        yield "a turn of five", in_turn(turns, 1)
        yield "delete one", in_turn([_deleting(adders, one) for one in one_each], 1)
        rebuilders = [engine for engine in self._engines if not engine.adds]
        if self._corpus.size <= _LARGE:
            yield "add one", in_turn([_adding(rebuilders, one_each[:1])], 1)


def _calls(engines: Sequence[Searcher], queries: Sequence[str], scope: Scope | None) -> list[dict[str, Call]]:
    return [{one.name: partial(one.search, query, scope, _DEPTH) for one in engines} for query in queries]


def _adding(engines: Sequence[Engine | OneRow], passages: Sequence[Passage]) -> dict[str, Call]:
    return {engine.name: partial(engine.add, passages) for engine in engines}


def _deleting(engines: Sequence[Engine], passage: Passage) -> dict[str, Call]:
    return {engine.name: partial(engine.delete, passage) for engine in engines}


def _adding_then_asking(engines: Sequence[Engine], passage: Passage, query: str) -> dict[str, Call]:
    def both(engine: Engine) -> None:
        engine.add([passage])
        engine.search(query, None, _DEPTH)

    return {engine.name: partial(both, engine) for engine in engines}
