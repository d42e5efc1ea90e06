"""Blocks of Unicode as they are written in its charts."""

from __future__ import annotations

from collections.abc import Iterator


def codes(blocks: str) -> Iterator[int]:
    """The code points of `"AD 300-36F"`: hexadecimal, single or first-last, in the order given."""
    for block in blocks.split():
        first, _, last = block.partition("-")
        yield from range(int(first, 16), int(last or first, 16) + 1)


def ranges(ascending: Iterator[int]) -> str:
    """Ascending code points as the inside of a regular expression's character class."""
    spans: list[list[int]] = []
    for code in ascending:
        if spans and code == spans[-1][1] + 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in spans)
