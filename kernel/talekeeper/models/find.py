"""Finds the JSON object in an answer that may have prose, fences and thoughts around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from talekeeper.models.plain import NotJson, read_json_at
from talekeeper.models.thoughts import without_thoughts

_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
# `{"`, `{}` or `{` at the end; a brace in prose, `{travel}`, does not begin like that.
_BEGINS = re.compile(r'\{\s*(?:"|\}|\Z)')


@dataclass(frozen=True, slots=True)
class Found:
    """An object, or why something that begins like one is none; `size` is its length in characters."""

    value: dict[str, Any]
    size: int
    fault: str = ""


def find_objects(text: str) -> list[Found]:
    """The outermost objects of an answer, those in fences alone when there are any; a broken one ends the list.

    What stands behind or inside a broken object is not looked at: `{}` may be a valid answer, and the rest of a broken
    one must not pass for "nothing changed". Takes time in proportion to the text.
    """
    text = without_thoughts(text)
    fenced = [found for block in _FENCE.finditer(text) for found in _scan(block[1])]
    return fenced or list(_scan(text))


def _scan(text: str) -> Iterator[Found]:
    at = text.find("{")
    while at >= 0:
        end = at + 1
        # Asked first, because an error of the parser counts the lines before it, every time.
        if _BEGINS.match(text, at):
            try:
                value, end = read_json_at(text, at)
            except NotJson as error:
                yield Found({}, 0, str(error))
                return
            yield Found(value, end - at)
        at = text.find("{", end)
