"""The terms of passages that are in no segment yet."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from talekeeper.search.postings import Unsettled

_PASSAGE_BYTES = 3_000  # of a dictionary with its keys, measured on CPython 3.11
_TERM_BYTES = 140  # of an entry in it and one in the lists
_TF_BITS = 8
_LOOKS = 64
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_NOWHERE: list[int] = []


def dump_terms(counts: Mapping[str, int]) -> str:
    """The text stored in `tail.terms`."""
    return _encode(dict(counts))


def load_terms(text: str) -> dict[str, int]:
    """Term to occurrences, from `tail.terms`; raises `ValueError` or `TypeError` for a text that is no such thing."""
    counts: dict[str, int] = json.loads(text)
    bytes(counts.values())  # the quickest way to see that they are numbers from 0 to 255
    return counts


class Tail:
    """Grows at the end like `Shelf`, and is shared like it; a state sees its own beginning of it only.

    Looking a term up in each of some 256 passages costs 7 µs; turning them over into term → passages costs as much as
    reading them, which the first search of a partition must not. So they are turned over once 64 terms were looked up.
    """

    def __init__(self, start: int, passages: Sequence[Mapping[str, int]] = ()) -> None:
        self._start = start
        self._passages = list(passages)
        self._lock = threading.Lock()
        self._looks = 0
        self._turned: dict[str, list[int]] = {}  # position << 8 | frequency, ascending
        self._turned_to = 0

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

    def find(self, terms: Sequence[str], size: int) -> Unsettled:
        """Where below position `size` the terms are, and how often."""
        self._looks += len(terms)
        groups = self._in_lists(terms) if self._looks > _LOOKS else self._one_by_one(terms)
        counts = tuple(map(len, groups))
        packed = np.fromiter(chain.from_iterable(groups), np.int64, sum(counts))
        positions = packed >> _TF_BITS
        found = Unsettled(tuple(terms), counts, positions, (packed & 255).astype(np.uint8))
        return found if not len(positions) or positions.max() < size else found.part(positions < size)

    def _one_by_one(self, terms: Sequence[str]) -> list[list[int]]:
        passages = list(enumerate(self._passages, self._start))
        return [[place << _TF_BITS | counts[term] for place, counts in passages if term in counts] for term in terms]

    def _in_lists(self, terms: Sequence[str]) -> list[list[int]]:
        with self._lock:
            for place in range(self._turned_to, len(self._passages)):
                for term, tf in self._passages[place].items():
                    self._turned.setdefault(term, []).append((self._start + place) << _TF_BITS | tf)
            self._turned_to = len(self._passages)
            return [self._turned.get(term, _NOWHERE).copy() for term in terms]
