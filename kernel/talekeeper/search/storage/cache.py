"""A mapping with a budget, as a rule of bytes, that forgets what was used longest ago."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ByteLru(Generic[K, V]):
    """Threads may share it. A value larger than the whole budget is kept until the next one comes."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._held = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """The value, now the most recently used one."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def get_each(self, keys: Sequence[K]) -> dict[K, V]:
        """The values there are, now the most recently used ones."""
        with self._lock:
            found = {key: self._entries[key][0] for key in keys if key in self._entries}
            for key in found:
                self._entries.move_to_end(key)
            return found

    def put(self, key: K, value: V, size: int) -> None:
        """Keeps `value` as `size` bytes, in place of what `key` had."""
        with self._lock:
            self._held += size - self._drop(key)
            self._entries[key] = (value, size)
            while self._held > self._budget and len(self._entries) > 1:
                self._held -= self._drop(next(iter(self._entries)))

    def _drop(self, key: K) -> int:
        return self._entries.pop(key, (None, 0))[1]
