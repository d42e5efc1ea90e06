"""Counts the terms of what a write is about to store before the write is opened.

A text of some megabytes takes seconds to count, and while a write is open everybody else waits.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from talekeeper.text import Terms, document_terms

_counted: ContextVar[tuple[tuple[str, ...], Terms] | None] = ContextVar("talekeeper_counted_terms", default=None)


@contextmanager
def counted(texts: tuple[str, ...]) -> Generator[None, None, None]:
    """Inside the block, `terms_of` has these texts' terms at hand; empty texts for nothing."""
    token = _counted.set((texts, document_terms(*texts)) if texts else None)
    try:
        yield
    finally:
        _counted.reset(token)


def terms_of(*texts: str) -> Terms:
    """What `document_terms` gives."""
    known = _counted.get()
    return known[1] if known is not None and known[0] == texts else document_terms(*texts)
