"""Whether engines agree with ours on the best ten, and where not, whether their own constants explain it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from talekeeper.text import query_terms

from bench.corpus import Corpus
from bench.engine import K1, B, Scope
from bench.exact import Arithmetic, Exact

_DEPTH = 10
_AT_MOST = 100_000  # passages gone through by plain arithmetic
_QUERIES = 20
_TOLERANCE = 1e-5  # single precision
_AS_WE_DO = Arithmetic(K1, B)
_COUNTS: Mapping[str, Arithmetic] = {
    "tantivy": Arithmetic(1.2, 0.75, one_byte=True),
    "tantivy, counting": Arithmetic(1.2, 0.75, one_byte=True),
    "SQLite FTS5": Arithmetic(1.2, 0.75, floor=1e-6),
    "rank-bm25": Arithmetic(K1, B, floor=0.25, of_average=True),
    "rank-bm25-rs": Arithmetic(K1, B, floor=0.25, of_average=True),
}


class Searcher(Protocol):
    """Whoever answers queries; some share an index with an engine."""

    name: str

    def search(self, query: str, scope: Scope | None, depth: int) -> list[int]:
        """Numbers of the best passages, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Agreement:
    """`shared` is the mean share of our best ten in an engine's best ten.

    `explained` is the share of its answers that plain arithmetic with its own constants gives, equal scores being
    equal; None where the corpus is too large for that.
    """

    engine: str
    terms: int
    queries: int
    shared: float
    explained: float | None


def compare(engines: Sequence[Searcher], corpus: Corpus, queries: Mapping[int, Sequence[str]]) -> list[Agreement]:
    """The first of `engines` is ours; all rank by words alone. `queries` are by their number of terms."""
    words = {term for some in queries.values() for query in some[:_QUERIES] for term in query_terms(query)}
    exact = Exact(corpus, words) if corpus.size <= _AT_MOST else None
    return [one for terms, some in queries.items() for one in _compare(engines, exact, terms, some[:_QUERIES])]


def _compare(
    engines: Sequence[Searcher], exact: Exact | None, terms: int, queries: Sequence[str]
) -> Iterator[Agreement]:
    asked = [query_terms(query) for query in queries]
    ours = [engines[0].search(query, None, _DEPTH) for query in queries]
    for engine in engines:
        answers = [engine.search(query, None, _DEPTH) for query in queries]
        shared = [len({*mine} & {*theirs}) / max(1, len(mine)) for mine, theirs in zip(ours, answers, strict=True)]
        explained = None
        if exact is not None:
            how = _COUNTS.get(engine.name, _AS_WE_DO)
            right = [_is_right(exact, query, answer, how) for query, answer in zip(asked, answers, strict=True)]
            explained = sum(right) / len(right)
        yield Agreement(engine.name, terms, len(queries), sum(shared) / len(shared), explained)


def _is_right(exact: Exact, query: Sequence[str], answer: Sequence[int], how: Arithmetic) -> bool:
    """Whether no passage left out scores higher than one taken."""
    scores = exact.scores(query, how)
    best = np.sort(scores)[::-1][: len(answer)]
    return bool(np.allclose(np.sort(scores[list(answer)])[::-1], best, rtol=_TOLERANCE))
