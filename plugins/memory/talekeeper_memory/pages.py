"""Reads a whole namespace, page by page."""

from __future__ import annotations

from collections.abc import Iterator

from talekeeper.api import NamespaceData, Record

_PAGE = 1_000


def every(data: NamespaceData) -> Iterator[Record]:
    """All live records, oldest first."""
    after: str | None = None
    while True:
        found = data.list(after=after, limit=_PAGE)
        yield from found
        if len(found) < _PAGE:
            return
        after = found[-1].key
