"""Peers that live in memory and are built anew for every change: rank-bm25, its port to Rust, bm25s."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from talekeeper.text import document_terms, query_terms

from bench.corpus import Passage
from bench.engine import K1, B, Counted, Scope


class _Rebuilt(ABC):
    """Keeps the words of every passage and builds the index from them; numbers are places, a removed one is empty."""

    adds = False
    name = ""

    def __init__(self) -> None:
        self.words: list[list[str]] = []

    def load(self, batch: Sequence[Counted]) -> None:
        self.words.extend(one.words for one in batch)

    def settle(self) -> None:
        self.build()

    def add(self, passages: Sequence[Passage]) -> None:
        self.words.extend(Counted(one, document_terms(one.text)).words for one in passages)
        self.build()

    def delete(self, passage: Passage) -> None:
        self.words[passage.number] = []
        self.build()

    @abstractmethod
    def build(self) -> None:
        """Makes the index anew from all words."""

    def disk(self) -> int:
        return 0

    def close(self) -> None:
        self.words = []


class RankBm25(_Rebuilt):
    """rank-bm25's `BM25Okapi`, or rank-bm25-rs's, which gives the same scores."""

    def __init__(self, name: str, module: str) -> None:
        super().__init__()
        self.name = name
        self._lib: Any = import_module(module)
        self._index: Any = None

    def build(self) -> None:
        """From all words."""
        self._index = self._lib.BM25Okapi(self.words, k1=K1, b=B)

    def search(self, query: str, scope: Scope | None, depth: int) -> list[int]:
        """Scores of every passage, then the best; a scope can only be applied to the scores."""
        scores: NDArray[np.float64] = self._index.get_scores(list(query_terms(query)))
        first, scores = (0, scores) if scope is None else (scope.first, scores[scope.first : scope.end])
        numbers: list[int] = (best(scores, depth) + first).tolist()
        return numbers


class Bm25s(_Rebuilt):
    """bm25s with the variant whose idf is ours (`lucene`)."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.name = "bm25s"
        self._folder = folder / "bm25s"
        self._lib: Any = import_module("bm25s")
        self.index: Any = None

    def build(self) -> None:
        """From all words."""
        self.index = self._index("numpy")
        self.index.index(self.words, show_progress=False)

    def settle(self) -> None:
        """Builds, and saves for another process to load."""
        self.build()
        self.index.save(str(self._folder), show_progress=False)

    def recall(self) -> None:
        """What `settle` saved, mapped into memory."""
        self.index = self._lib.BM25.load(str(self._folder), mmap=True, load_corpus=False)

    def search(self, query: str, scope: Scope | None, depth: int) -> list[int]:
        """Scores of every passage, then the best; a scope is a mask over them."""
        return _retrieve(self.index, list(query_terms(query)), scope, depth)

    def compiled(self) -> Any:
        """The same index with the scorer that numba compiles."""
        index = self._index("numba")
        index.scores, index.vocab_dict = self.index.scores, self.index.vocab_dict
        index.unique_token_ids_set = self.index.unique_token_ids_set
        index.nonoccurrence_array = self.index.nonoccurrence_array
        return index

    def disk(self) -> int:
        """What was saved."""
        return sum(file.stat().st_size for file in self._folder.iterdir())

    def _index(self, backend: str) -> Any:
        return self._lib.BM25(k1=K1, b=B, method="lucene", backend=backend)


class Bm25sNumba:
    """bm25s's index asked through numba, which compiles at the first query, and again at the first with a mask."""

    def __init__(self, other: Bm25s) -> None:
        self.name = "bm25s, numba"
        self._index = other.compiled()
        for scope in (None, Scope(0, 1)):
            _retrieve(self._index, other.words[0], scope, 1)

    def search(self, query: str, scope: Scope | None, depth: int) -> list[int]:
        """As bm25s."""
        return _retrieve(self._index, list(query_terms(query)), scope, depth)


def _retrieve(index: Any, terms: list[str], scope: Scope | None, depth: int) -> list[int]:
    mask = None
    if scope is not None:
        mask = np.zeros(index.scores["num_docs"], np.float32)
        mask[scope.first : scope.end] = 1
    found = index.retrieve([terms], k=depth, show_progress=False, weight_mask=mask)
    numbers: list[int] = found.documents[0].tolist()
    return numbers


def best(scores: NDArray[np.float64], depth: int) -> NDArray[np.intp]:
    """Places of the highest scores, highest first: faster than the sort of everything that rank-bm25 itself does."""
    depth = min(depth, len(scores))
    rough = np.argpartition(scores, -depth)[-depth:]
    return rough[np.argsort(-scores[rough], kind="stable")]
