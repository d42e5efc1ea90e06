"""Leaves of the postings what a query may see."""

from __future__ import annotations

import numpy as np

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
    borders = np.array((first, end), np.int32)
    is_solid = scope.counts[kind] == end - first
    heavy: dict[str, Chunk] = {}
    for term, chunk in postings.heavy.items():
        start, stop = chunk.positions.searchsorted(borders).tolist()
        inside = chunk.part(slice(start, stop))
        if not is_solid:
            inside = inside.part(scope.labels.take(inside.positions) == label)
        if len(inside):
            heavy[term] = inside
    light = postings.light.part(scope.labels.take(postings.light.positions) == label)
    return Postings(heavy, light, postings.average)
