"""What is read from the index's tables may have changed on the disk; every decoder works inside `decoding`."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from talekeeper.errors import StoreUnusable

_RAW = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""What numpy, json and Python raise over bytes they cannot make sense of."""


class IndexDamaged(StoreUnusable):
    """The rows may be sound: the index can be made anew from them."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the search index is damaged ({reason})", cure="'talekeeper doctor --rebuild' makes it anew")


@contextmanager
def decoding() -> Generator[None, None, None]:
    """Around a decoder, as a `with` or a decorator: what its bytes make it raise comes out as `IndexDamaged`."""
    try:
        yield
    except _RAW as error:
        raise IndexDamaged(f"{type(error).__name__}: {error}") from error
