"""Values at the plugin border: frozen copies go in, checked plain copies come out.

The frozen kinds are subclasses of `dict` and `list`, so that `json.dumps`, `==` and schema checks work as usual.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Never, cast

from talekeeper.text.strict_json import EXACT_INTEGER, JSON_DEPTH_LIMIT

RESULT_BYTES = 256 * 1024
"""The most a result may take as JSON text; a whole answer of memory-search is under 30 KiB."""


class FrozenDict(dict[str, Any]):
    """A dict that refuses to change; `dict(it)` gives a copy that does not."""


class FrozenList(list[Any]):
    """A list that refuses to change; `list(it)` gives a copy that does not."""


def _refuse(self: object, *_arguments: Any, **_more: Any) -> Never:
    kind = "dict" if isinstance(self, dict) else "list"
    raise TypeError(f"what the kernel hands over is frozen; take a copy with {kind}(…) and change that")


_OF_BOTH = ("__setitem__", "__delitem__", "clear", "pop")
for _name in (*_OF_BOTH, "__ior__", "popitem", "setdefault", "update"):
    setattr(FrozenDict, _name, _refuse)
for _name in (*_OF_BOTH, "__iadd__", "__imul__", "append", "extend", "insert", "remove", "reverse", "sort"):
    setattr(FrozenList, _name, _refuse)

_SCALARS = frozenset[type[Any]]((str, int, float, bool, type(None)))
# Exact kinds: a subclass with methods of its own is no JSON value.
_LISTS: frozenset[type[Any]] = frozenset[type[Any]]((list, tuple, FrozenList))
_DICTS: frozenset[type[Any]] = frozenset[type[Any]]((dict, FrozenDict))


def freeze(value: Any) -> Any:
    """A deep copy of a JSON value in which nothing can be changed."""
    if type(value) in _SCALARS:  # most are, and asking whether it is a Mapping takes ten times as long
        return value
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        return FrozenDict({key: freeze(item) for key, item in table.items()})
    if isinstance(value, (list, tuple)):
        return FrozenList(freeze(item) for item in cast("Sequence[Any]", value))
    return value


def thaw(value: Any, *, limit: int = RESULT_BYTES) -> Any:
    """A deep copy of a JSON value in dicts and lists of their own.

    Raises ValueError, saying where, for what JSON cannot hold (other types, NaN, integers past 2^53 - 1, lone
    surrogates, NUL), for nesting deeper than 64 and as soon as the copy passes `limit` bytes.
    """
    return _Copier(limit).copy(value, "", 0)


class _Copier:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit

    def copy(self, value: Any, place: str, depth: int) -> Any:
        if depth > JSON_DEPTH_LIMIT:
            raise ValueError(f"{place} is nested deeper than {JSON_DEPTH_LIMIT}")
        kind = _kind(value)
        if value is None or kind is bool:
            self._spend(4)
            return value
        if kind is str:
            return self._text(value, place)
        if kind is int or kind is float:
            return self._number(value, place)
        if kind in _LISTS:
            self._spend(2)
            return [self.copy(item, f"{place}/{number}", depth + 1) for number, item in enumerate(value)]
        if kind in _DICTS:
            self._spend(2)
            return {self._key(key, place): self.copy(item, f"{place}/{key}", depth + 1) for key, item in value.items()}
        raise ValueError(f"{place or 'the value'} is {kind.__name__}, which JSON does not have")

    def _key(self, key: Any, place: str) -> str:
        if type(key) is not str:
            raise ValueError(f"{place or 'the value'} has a key that is not a string")
        return self._text(key, place)

    def _text(self, value: str, place: str) -> str:
        try:
            self._spend(len(value.encode()) + 3)
        except UnicodeEncodeError:
            raise ValueError(f"{place or 'the value'} holds half of a surrogate pair") from None
        if "\0" in value:
            raise ValueError(f"{place or 'the value'} holds a NUL character")
        return value

    def _number(self, value: float, place: str) -> float:
        self._spend(8)
        if isinstance(value, int) and abs(value) > EXACT_INTEGER:
            raise ValueError(f"{place or 'the value'} is an integer beyond ±(2^53 - 1)")
        if not math.isfinite(value):
            raise ValueError(f"{place or 'the value'} is not a finite number")
        return value

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise ValueError(f"the value is larger than {self._limit:,} bytes")


def _kind(value: object) -> type[object]:
    return type(value)
