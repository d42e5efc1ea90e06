"""Makes one list out of several ranked ones: pure functions over anything hashable, with no idea of what a hit is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

RANK_DAMPING = 60
"""Reciprocal rank fusion's k: Cormack, Clarke and Büttcher, SIGIR 2009."""


H = TypeVar("H", bound=Hashable)


def fuse(lists: Sequence[Sequence[H]], tie: Callable[[H], Any], damping: int = RANK_DAMPING) -> list[H]:
    """Lists of answers to one question in several wordings, by 1 / (damping + rank); the lower `tie` goes first."""
    if len(lists) == 1:
        return list(lists[0])
    gained: dict[H, float] = defaultdict(float)
    for ranked in lists:
        for rank, hit in enumerate(ranked, start=1):
            gained[hit] += 1 / (damping + rank)
    return sorted(sorted(gained, key=tie), key=gained.__getitem__, reverse=True)


def merge(lists: Sequence[Sequence[H]], tie: Callable[[H], Any]) -> list[H]:
    """Lists that have nothing in common, by rank: all firsts, then all seconds; the lower `tie` goes first."""
    if len(lists) == 1:
        return list(lists[0])
    merged: list[H] = []
    for rank in range(max(map(len, lists), default=0)):
        merged.extend(sorted((ranked[rank] for ranked in lists if rank < len(ranked)), key=tie))
    return merged


def fold(ranked: Iterable[H], same: Callable[[H], Hashable]) -> dict[H, list[H]]:
    """Each first of its equals, in order, with those that came after it."""
    first: dict[Hashable, H] = {}
    folded: dict[H, list[H]] = {}
    for hit in ranked:
        stands = first.setdefault(same(hit), hit)
        if stands is hit:
            folded[hit] = []
        else:
            folded[stands].append(hit)
    return folded
