"""The terms of a text: what the index counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Terms:
    """`counts` maps term → occurrences (1..255); `length` is the number of tokens BM25 calls the document length.

    Single CJK characters stand in `counts` in a term space of their own and do not add to `length`, except where a run
    has one character only.
    """

    counts: Mapping[str, int]
    length: int
