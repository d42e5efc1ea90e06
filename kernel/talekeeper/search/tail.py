"""The terms of passages that are in no segment yet, passage by passage as they were stored."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence

import numpy as np

from talekeeper.search.arrays import Bytes, Positions

_PASSAGE_BYTES = 3_000  # of a dictionary with its keys, measured on CPython 3.11
_TERM_BYTES = 80


def dump_terms(counts: Mapping[str, int]) -> str:
    """The text stored in `tail.terms`."""
    return json.dumps(dict(counts), ensure_ascii=False, separators=(",", ":"))


def load_terms(text: str) -> dict[str, int]:
    """Term to occurrences, from `tail.terms`."""
    counts: dict[str, int] = json.loads(text)
    return counts


class Tail:
    """Grows at the end like `Shelf`, and is shared like it; a state sees its own beginning of it only.

    Not turned over into term → passages: a tail holds some 256 passages, and looking a term up in each costs 7 µs,
    while turning them over would cost the first search of a partition as much as reading them.
    """

    def __init__(self, start: int, passages: Sequence[Mapping[str, int]] = ()) -> None:
        self._start = start
        self._passages = list(passages)
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Roughly what it holds in memory."""
        return sum(_PASSAGE_BYTES + _TERM_BYTES * len(counts) for counts in self._passages[:1]) * len(self._passages)

    def extend(self, size: int, added: Sequence[str]) -> Tail:
        """A tail that has, up to position `size`, what this one has, and then a passage for each stored text."""
        held = size - self._start
        more = [load_terms(text) for text in added]
        with self._lock:
            if len(self._passages) == held:
                self._passages.extend(more)
                return self
            return Tail(self._start, [*self._passages[:held], *more])

    def find(self, term: str, size: int) -> tuple[Positions, Bytes] | None:
        """Positions below `size` that hold `term`, and how often."""
        seen = self._passages[: size - self._start]
        held = [(place, counts[term]) for place, counts in enumerate(seen, self._start) if term in counts]
        if not held:
            return None
        places, tfs = zip(*held, strict=True)
        return np.array(places, np.intp), np.array(tfs, np.uint8)
