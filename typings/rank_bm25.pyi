# rank-bm25, as far as it is used here: the ranking oracle of the tests.

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class BM25Okapi:
    k1: float
    b: float
    epsilon: float
    corpus_size: int
    avgdl: float
    doc_freqs: list[dict[str, int]]
    doc_len: list[int]
    idf: dict[str, float]
    def __init__(
        self, corpus: Sequence[Sequence[str]], *, k1: float = 1.5, b: float = 0.75, epsilon: float = 0.25
    ) -> None: ...
    def get_scores(self, query: Sequence[str]) -> NDArray[np.float64]: ...
