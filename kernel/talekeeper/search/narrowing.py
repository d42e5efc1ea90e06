"""Leaves of the postings what a query may see."""

from __future__ import annotations

from talekeeper.search.passage import Kind
from talekeeper.search.postings import Chunk, Postings
from talekeeper.search.scope import Scope, label_of


def narrow(postings: Postings, scope: Scope, kind: Kind) -> Postings:
    """What is in scope and of `kind`.

    A scope is often one stretch of positions, such as some turns, so the ends are cut off before single ones are
    looked at.
    """
    if scope.is_whole(kind):
        return postings
    label, (first, end) = label_of(kind), scope.span(kind)
    is_seen = scope.labels == label
    is_solid = scope.counts[kind] == end - first
    heavy: dict[str, Chunk] = {}
    for term, chunk in postings.heavy.items():
        inside = chunk.within(first, end)
        if not is_solid:
            inside = inside.where(is_seen)
        if len(inside):
            heavy[term] = inside
    light = postings.light.part(is_seen.take(postings.light.positions))
    return Postings(heavy, light, postings.average)
