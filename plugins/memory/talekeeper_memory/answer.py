"""A model's answer about a turn: the JSON Schema it is asked with, and what of an answer can be used. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from talekeeper.api import Json

from talekeeper_memory.blocks import RESERVED, Block
from talekeeper_memory.truncate import cut_at_sentence, is_blank, one_line

_ROOM = 4
"""A block may come back this many times its limit: it is shortened then, and an answer without end is refused."""

_FACT_ITEMS = 1000  # an answer with more is no list of a turn's facts


@dataclass(frozen=True, slots=True)
class Answer:
    """New texts by label, the facts that can be used, and what else there was: labels nobody knows, facts left out."""

    blocks: Mapping[str, str]
    facts: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    dropped: int = 0


def schema_of(blocks: Iterable[Block], facts: int, characters: int) -> dict[str, Json]:
    """The form of an answer.

    It bounds what the kernel checks and leaves the facts open: one that cannot be used is dropped and must not cost the
    blocks, so how many and how long they may be is said in words.
    """
    properties: dict[str, Json] = {
        block.label: {"type": "string", "minLength": 1, "maxLength": block.limit * _ROOM} for block in blocks
    }
    said = f"At most {facts} sentences, each a string of at most {characters} characters."
    properties[RESERVED] = {"description": said, "maxItems": _FACT_ITEMS}
    return {"type": "object", "properties": properties}


def fault_of(value: Mapping[str, Json], blocks: Mapping[str, Block]) -> str:
    """What is wrong with an answer, in words for the model; empty when it can be used."""
    for label in blocks:
        text = value.get(label, "…")
        if not isinstance(text, str):
            return f"{label} is no text"
        if is_blank(text):
            return f"{label} is blank"
    return ""


def read(value: Mapping[str, Json], blocks: Mapping[str, Block], facts: int, characters: int) -> Answer:
    """An answer without fault, in parts: blocks whose text is new, and the first facts that are sentences."""
    known = {label: value[label].strip() for label in blocks if label in value}
    changed = {label: text for label, text in known.items() if text != blocks[label].text.strip()}
    listed = _listed(value.get(RESERVED))
    usable = [text for item in listed if (text := _fact(item, characters))]
    kept = tuple(dict.fromkeys(usable))[:facts]
    ignored = tuple(sorted(key for key in value if key not in blocks and key != RESERVED))
    return Answer(changed, kept, ignored, len(listed) - len(kept))


def _listed(given: object) -> list[object]:
    """The facts as a list; one that stands by itself is a list of one."""
    if given is None:
        return []
    return list(cast("Iterable[object]", given)) if isinstance(given, (list, tuple)) else [given]


def _fact(item: object, characters: int) -> str:
    """One sentence or two, cut at a sentence end; empty for what is no text."""
    if not isinstance(item, str) or is_blank(item):
        return ""
    return cut_at_sentence(one_line(item), characters)
