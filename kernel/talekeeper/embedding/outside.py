"""Vectors that a plugin's store keeps in place of the home's database, under keys `space/part/passage`.

The database still says which passages have one. A plugin cannot take part in its transactions, so the vector of a
passage that is gone is no longer found at once, and leaves the store at the next sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import TypeVar

import numpy as np

from talekeeper.plugins import Call, Host, VectorStore, registered
from talekeeper.story import Story

T = TypeVar("T")

_AT_ONCE = 1_000
Vector = Sequence[float]


class Outside:
    """One store as it is used for one space; raises `PluginError` for whatever goes wrong in the plugin."""

    def __init__(self, host: Host, path: str, fingerprint: str) -> None:
        self._host = host
        self._plugin, _, self._name = path.partition("/")
        self._store = _store(host, self._plugin, self._name)
        self._fingerprint = fingerprint
        self._prefix = blake2b(fingerprint.encode(), digest_size=8).hexdigest() + "/"

    def write(self, part: int, vectors: Mapping[int, Vector]) -> None:
        """Writes the vectors of passages."""
        self._run(partial(self._store.upsert, {self._key(part, doc): vector for doc, vector in vectors.items()}))

    def read(self, part: int, docs: Sequence[int]) -> dict[int, Vector]:
        """The vectors of those passages that the store has."""
        found: dict[int, Vector] = {}
        for start in range(0, len(docs), _AT_ONCE):
            keys = {self._key(part, doc): doc for doc in docs[start : start + _AT_ONCE]}
            given = self._run(partial(_given, self._store, list(keys)))
            found |= {keys[key]: vector for key, vector in given.items() if key in keys}
        return found

    def remove(self, part: int, docs: Sequence[int]) -> None:
        """Takes vectors away."""
        self._run(partial(self._store.remove, [self._key(part, doc) for doc in docs]))

    def sweep(self, story: Story) -> int:
        """Takes away what belongs to no passage any more, and all of other spaces; gives how many."""
        gone = int(self._run(partial(self._store.prune, self._prefix)))
        after = ""
        while keys := list(self._run(partial(self._store.list, after, _AT_ONCE))):
            after = keys[-1]
            places = {key: place for key in keys if (place := self._place(key)) is not None}
            kept = story.vectors.kept(self._fingerprint, list(places.values()))
            dead = [key for key in keys if places.get(key) not in kept]
            if dead:
                self._run(partial(self._store.remove, dead))
                gone += len(dead)
        return gone

    def _key(self, part: int, doc: int) -> str:
        return f"{self._prefix}{part}/{doc}"

    def _place(self, key: str) -> tuple[int, int] | None:
        part, _, doc = key.removeprefix(self._prefix).partition("/")
        return (int(part), int(doc)) if part.isdecimal() and doc.isdecimal() else None

    def _run(self, call: Callable[[], T]) -> T:
        guard = self._host.guard
        return guard.call(Call(self._plugin, f"vector store {self._name}", guard.deadlines.tool), call)


def _given(store: VectorStore, keys: Sequence[str]) -> dict[str, Vector]:
    """Raises for what are no vectors, which the guard takes for the plugin's fault."""
    found = dict(store.get(keys))
    for vector in found.values():
        numbers = np.asarray(vector, np.float64)
        if numbers.ndim != 1 or not np.isfinite(numbers).all():
            raise ValueError("what it gave for a key is no vector of finite numbers")
    return found


def _store(host: Host, plugin_id: str, name: str) -> VectorStore:
    found = registered(host, plugin_id, name, operation="upsert", noun="vector store")
    operations = {operation: found[operation] for operation in ("get", "upsert", "list", "remove", "prune")}
    return VectorStore(f"{plugin_id}/{name}", **operations)
