"""Blocks: which labels there are, how long each may be, and what of them fits a prompt. Pure.

A world or a person adds a block by writing a record under a new label with `about`, what belongs into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from talekeeper.api import Record

from talekeeper_memory.truncate import cut_at_sentence

DEFAULTS = ("story_state", "scene", "character_relationships", "player_profile")
PROFILE = "player_profile"
RESERVED = "new_facts"
_LABEL = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Block:
    """A block with its text, empty before it is first written; `limit` in characters."""

    label: str
    about: str
    limit: int
    text: str = ""
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a story in the order of their definition, the default ones first, and why others are refused."""

    known: Mapping[str, Block]
    refused: Mapping[str, str]


def collect(records: Iterable[Record], about: Mapping[str, str], limit: int, most: int) -> Blocks:
    """The default blocks, described by `about`, and those the records define, oldest first; at most `most` in all."""
    known = {label: Block(label, about[label], limit) for label in DEFAULTS}
    refused: dict[str, str] = {}
    for record in records:
        fault = label_fault(record.key)
        if not fault and record.key not in known and len(known) >= most:
            fault = f"there are {most} blocks already"
        if fault:
            refused[record.key] = fault
            continue
        known[record.key] = _block(record, known.get(record.key), limit)
    return Blocks(known, refused)


def label_fault(label: str) -> str:
    """Why a label cannot be a block's; empty when it can."""
    if label == RESERVED:
        return f"{RESERVED} is the key of the facts in a model's answer"
    if not _LABEL.fullmatch(label):
        return "a label is a small letter and then small letters, digits and underscores"
    return ""


def in_prompt(blocks: Sequence[Block], most: int, each: int) -> list[Block]:
    """The blocks that have a text; over `most` characters in all, each is cut to its part, at most `each`."""
    filled = [block for block in blocks if block.text.strip()]
    if sum(len(block.text) for block in filled) <= most:
        return filled
    part = min(each, most // len(filled))
    return [
        Block(block.label, block.about, block.limit, cut_at_sentence(block.text, part), block.turn) for block in filled
    ]


def with_player(text: str, line: str, labels: Sequence[str]) -> str:
    """A profile's text under the confirmed line about the player; what stood there in its place is replaced."""
    rest = without_player(text, labels)
    return "\n".join(part for part in (line, rest) if part)


def without_player(text: str, labels: Sequence[str]) -> str:
    """A profile's text without a first line that gives itself as the confirmed one."""
    lines = text.strip().split("\n")
    while lines and lines[0].strip().startswith(tuple(labels)):
        del lines[0]
    return "\n".join(lines).strip()


def _block(record: Record, default: Block | None, limit: int) -> Block:
    """What defines a default block is not the record; of the others the key's first record is the definition."""
    about = default.about if default else str(record.value.get("about", ""))
    most = default.limit if default else int(record.value.get("limit", limit))
    return Block(record.key, about, most, str(record.value["text"]), record.value.get("turn"))
