"""What is read from the index's tables may have changed on the disk; every decoder is decorated with `decoding`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from talekeeper.errors import StoreUnusable

P = ParamSpec("P")
R = TypeVar("R")
_RAW = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""What numpy, json and Python raise over bytes they cannot make sense of."""


class IndexDamaged(StoreUnusable):
    """The rows may be sound: the index can be rebuilt from them."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the search index is damaged ({reason})", cure="'talekeeper doctor --rebuild' makes it anew")


def decoding(decoder: Callable[P, R]) -> Callable[P, R]:
    """Around a decoder: what its bytes make it raise comes out as `IndexDamaged`."""

    @wraps(decoder)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return decoder(*args, **kwargs)
        except _RAW as error:
            raise IndexDamaged(f"{type(error).__name__}: {error}") from error

    return guarded
