"""JSON values as lines for people: `name: value`, what lies within indented, `-` before each of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

_STEP = "  "


def readable(value: object) -> Iterator[str]:
    """The lines of a value. A text keeps its line breaks; what is empty is said to be."""
    if _is_object(value) and value:
        for name, part in value.items():
            yield from _under(f"{name}:", part)
    elif _is_list(value) and value:
        for part in value:
            yield from _item(part)
    else:
        yield from _word(value).split("\n")


def _under(head: str, value: object) -> Iterator[str]:
    """Beside its name when it takes one line, else below it."""
    lines = list(readable(value))
    if len(lines) == 1 and not ((_is_object(value) or _is_list(value)) and value):
        yield f"{head} {lines[0]}"
        return
    yield head
    for line in lines:
        yield f"{_STEP}{line}".rstrip()


def _item(value: object) -> Iterator[str]:
    for number, line in enumerate(readable(value)):
        yield f"{_STEP if number else '- '}{line}".rstrip()


def _word(value: object) -> str:
    if value is None or _is_object(value) or _is_list(value):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) or "(empty)"


def _is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str)
