"""An embedding provider that knows letters alone, and a vector store as long as the process lives."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from talekeeper.api import Registry, hookimpl

LETTERS = 64
shelf: dict[str, list[float]] = {}


def embed(texts: Sequence[str], model: str) -> list[list[float]]:
    return [
        [1.0 + sum(ord(letter) % LETTERS == place for letter in text) for place in range(LETTERS)] for text in texts
    ]


def get(keys: Sequence[str]) -> dict[str, list[float]]:
    return {key: shelf[key] for key in keys if key in shelf}


def upsert(vectors: Mapping[str, Sequence[float]]) -> None:
    shelf.update({key: list(vector) for key, vector in vectors.items()})


def listed(after: str, limit: int) -> list[str]:
    keys = sorted(shelf)
    start = bisect_right(keys, after)
    return keys[start : start + limit]


def remove(keys: Sequence[str]) -> None:
    for key in keys:
        shelf.pop(key, None)


def prune(prefix: str) -> int:
    gone = [key for key in shelf if not key.startswith(prefix)]
    remove(gone)
    return len(gone)


@hookimpl
def talekeeper_register(registry: Registry) -> None:
    shelf.clear()
    registry.embedding_provider("spelling", version="1", models=["letters"], embed=embed)
    registry.vector_store("shelf", get=get, upsert=upsert, list=listed, remove=remove, prune=prune)
