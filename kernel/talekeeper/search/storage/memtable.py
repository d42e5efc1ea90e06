"""The terms of passages that are in no segment yet."""

from __future__ import annotations

import json
import threading
from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from talekeeper.search.storage.columns import Bytes, Positions
from talekeeper.search.storage.writing import encode

_EXPANDED = 14
"""Bytes in memory for each character of a stored text once it is turned over, measured on CPython 3.11."""
_TF_BITS = 8
_PACKED = array("q").itemsize
_LOOKS = 64
_NOWHERE = array("q")


def load_terms(text: str) -> dict[str, int]:
    """Term to occurrences, from `tail.terms`; raises `ValueError` or `TypeError` for a text that is no such thing."""
    counts: dict[str, int] = json.loads(text)
    bytes(counts.values())  # the quickest way to see that they are numbers from 0 to 255
    return counts


class Found(NamedTuple):
    """Postings of terms, one behind the other: `counts` has how many are of each."""

    counts: list[int]
    positions: Positions
    tfs: Bytes


class Memtable:
    """Grows at the end like `Shelf`, and is shared like it; a state sees its own beginning of it only.

    Finding a term in the stored texts of some 128 passages costs 20 µs; reading them, to turn them over into
    term → passages, costs some 4 ms, which the first search of a partition must not. So they are turned over once 64
    terms were looked up.
    """

    def __init__(self, start: int, texts: Sequence[str] = ()) -> None:
        self._start = start
        self._texts = list(texts)
        self._size = sum(map(len, texts))
        self._lock = threading.Lock()
        self._looks = 0
        self._turned: dict[str, array[int]] = {}  # position << 8 | frequency, ascending
        self._turned_to = 0

    @property
    def nbytes(self) -> int:
        """Roughly what it holds in memory."""
        return _EXPANDED * self._size

    def extend(self, size: int, added: Sequence[str]) -> Memtable:
        """A tail that has, up to position `size`, what this one has, and then a passage for each stored text."""
        held = size - self._start
        with self._lock:
            if len(self._texts) == held:
                self._texts.extend(added)
                self._size += sum(map(len, added))
                return self
            return Memtable(self._start, [*self._texts[:held], *added])

    def find(self, terms: Sequence[str], size: int) -> Found:
        """Where below position `size` the terms are, and how often."""
        self._looks += len(terms)
        groups = self._in_lists(terms) if self._looks > _LOOKS else self._in_texts(terms)
        if size < self._start + len(self._texts):
            groups = [_below(group, size) for group in groups]
        packed = np.frombuffer(b"".join(groups), np.int64)
        return Found([len(group) // _PACKED for group in groups], packed >> _TF_BITS, packed.astype(np.uint8))

    def _in_texts(self, terms: Sequence[str]) -> list[bytes]:
        texts = [f",{text[1:-1]}," for text in self._texts]
        groups: list[bytes] = []
        for term in terms:
            name = f",{encode(term)}:"
            places = [(place, text) for place, text in enumerate(texts, self._start) if name in text]
            groups.append(array("q", [place << _TF_BITS | _frequency(text, name) for place, text in places]).tobytes())
        return groups

    def _in_lists(self, terms: Sequence[str]) -> list[bytes]:
        with self._lock:
            for place in range(self._turned_to, len(self._texts)):
                for term, tf in load_terms(self._texts[place]).items():
                    self._turned.setdefault(term, array("q")).append((self._start + place) << _TF_BITS | tf)
                self._turned_to = place + 1
            return [self._turned.get(term, _NOWHERE).tobytes() for term in terms]


def _below(group: bytes, size: int) -> bytes:
    """A beginning that a state sees, while another has added more."""
    return group[: np.searchsorted(np.frombuffer(group, np.int64), size << _TF_BITS) * _PACKED]


def _frequency(text: str, name: str) -> int:
    """The number behind `name`; a `ValueError` where there is none from 0 to 255."""
    start = text.index(name) + len(name)
    (frequency,) = bytes([int(text[start : text.index(",", start)])])
    return frequency
