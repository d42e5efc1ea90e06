"""What is read from the index's tables may have changed on the disk; every decoder works inside `decoding`."""

from __future__ import annotations

from contextlib import ContextDecorator
from types import TracebackType

from talekeeper.errors import StoreUnusable

_RAW = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""What numpy, json and Python raise over bytes they cannot make sense of."""


class IndexDamaged(StoreUnusable):
    """The rows may be sound: the index can be made anew from them."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the search index is damaged ({reason})", cure="'talekeeper doctor --rebuild' makes it anew")


class _Decoding(ContextDecorator):
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if isinstance(error, _RAW):
            raise IndexDamaged(f"{type(error).__name__}: {error}") from error


def decoding() -> _Decoding:
    """Around a decoder, as a `with` or a decorator: what its bytes make it raise comes out as `IndexDamaged`."""
    return _Decoding()
