"""Vectors without a model: the same text has the same vector everywhere, and texts that share words lie close."""

from __future__ import annotations

import math
from hashlib import blake2b


def hash_vector(text: str, dimensions: int = 16) -> list[float]:
    """A vector of length 1: each word adds or takes one at a place its hash names. Never all zeros."""
    vector = [0.0] * dimensions
    for word in text.lower().split() or [""]:
        number = int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest())
        vector[number % dimensions] += 1.0 if number >> 63 else -1.0
    if not any(vector):
        vector[0] = 1.0
    length = math.sqrt(sum(number * number for number in vector))
    return [number / length for number in vector]
