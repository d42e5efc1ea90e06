"""The terms of passages that are in no segment yet, turned over: from term to passages."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping

import numpy as np

from talekeeper.search.arrays import Bytes, Positions

_TF_BITS = 8
_ENTRY_BYTES = 150  # of a term with its list, measured on CPython 3.11
_POSTING_BYTES = 40


def dump_terms(counts: Mapping[str, int]) -> str:
    """The text stored in `tail.terms`."""
    return json.dumps(dict(counts), ensure_ascii=False, separators=(",", ":"))


def load_terms(text: str) -> dict[str, int]:
    """Term to occurrences, from `tail.terms`."""
    counts: dict[str, int] = json.loads(text)
    return counts


class Tail:
    """Grows at the end like `Shelf`, and is shared like it; a state sees the positions below its own size only."""

    def __init__(self, start: int) -> None:
        self._postings: dict[str, list[int]] = {}  # position << 8 | term frequency, ascending
        self._size = start
        self._lock = threading.Lock()
        self.nbytes = 0

    def extend(self, size: int, added: Iterable[str]) -> Tail:
        """A tail holding this one's positions below `size` and, behind them, a passage for each stored text."""
        with self._lock:
            if self._size == size:
                for text in added:
                    self._append(load_terms(text))
                return self
            fresh = self._copy(size)
        return fresh.extend(size, added)

    def find(self, term: str, size: int) -> tuple[Positions, Bytes] | None:
        """Positions below `size` that hold `term`, and how often."""
        held = self._postings.get(term)
        if held is None:
            return None
        packed = np.array(held.copy(), np.int64)
        positions = packed >> _TF_BITS
        seen = int(np.searchsorted(positions, size))
        return positions[:seen], (packed[:seen] & 255).astype(np.uint8)

    def _append(self, counts: Mapping[str, int]) -> None:
        place = self._size << _TF_BITS
        for term, tf in counts.items():
            held = self._postings.get(term)
            if held is None:
                self._postings[term] = [place | tf]
                self.nbytes += _ENTRY_BYTES
            else:
                held.append(place | tf)
        self.nbytes += _POSTING_BYTES * len(counts)
        self._size += 1

    def _copy(self, size: int) -> Tail:
        fresh = Tail(size)
        end = size << _TF_BITS
        for term, held in self._postings.items():
            if kept := [packed for packed in held if packed < end]:
                fresh._postings[term] = kept
        fresh.nbytes = self.nbytes
        return fresh
