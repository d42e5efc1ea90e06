"""Blocks, the story's present state: which labels there are, how long each may be, and the segment `blocks`.

A world or a person adds a block by writing a record under a new label with `about`, what belongs into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from talekeeper.api import Considered, Json, Line, PluginContext, Recalled, Record, TurnView

from talekeeper_memory.cards import confirmed_line
from talekeeper_memory.prompts import player_labels, prompts_for
from talekeeper_memory.truncate import cut_at_sentence
from talekeeper_memory.visibility import every

DEFAULTS = ("story_state", "scene", "character_relationships", "player_profile")
PROFILE = "player_profile"
RESERVED = "new_facts"
_LABEL = re.compile(r"[a-z][a-z0-9_]*")
_CONFIRMED = "what the session itself knows of the player"


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


def blocks_segment(ctx: PluginContext, turn: TurnView) -> Recalled:
    """Every block that has a text, the profile under its confirmed line."""
    settings = ctx.settings
    line = confirmed_line(ctx, turn.locale)
    shown = [
        replace(block, text=with_player(block.text, line)) if block.label == PROFILE else block
        for block in current_blocks(ctx).known.values()
    ]
    fitting = in_prompt(shown, settings["blocks_in_prompt"], settings["block_characters"])
    because = {PROFILE: _CONFIRMED} if line else {}
    return Recalled(
        tuple(Line(f"{block.label}: {block.text}", block.label, block.turn, "story", "blocks") for block in fitting),
        tuple(Considered(block.label, "blocks", because=because.get(block.label, "")) for block in fitting),
    )


def current_blocks(ctx: PluginContext) -> Blocks:
    """The blocks at this place of the story, the profile without its confirmed line."""
    settings, about = ctx.settings, prompts_for(ctx.session.locale).blocks
    found = collect(every(ctx.data["blocks"]), about, settings["block_characters"], settings["blocks_most"])
    profile = found.known[PROFILE]
    bare = replace(profile, text=without_player(profile.text))
    return Blocks({**found.known, PROFILE: bare}, found.refused)


def block_value(ctx: PluginContext, label: str, text: str, turn: int) -> dict[str, Json]:
    """The record of a block with a new text; its definition stays, and the profile gets the confirmed line."""
    before = ctx.data["blocks"].get(label)
    if label == PROFILE:
        text = with_player(text, confirmed_line(ctx))
    return {**(before.value if before else {}), "text": text, "turn": turn}


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
    return [replace(block, text=cut_at_sentence(block.text, part)) for block in filled]


def with_player(text: str, line: str) -> str:
    """A profile's text under the confirmed line about the player, which replaces an older one."""
    rest = without_player(text)
    return "\n".join(part for part in (line, rest) if part)


def without_player(text: str) -> str:
    """A profile's text without first lines that present themselves as the confirmed one."""
    lines = text.strip().split("\n")
    while lines and lines[0].strip().startswith(player_labels()):
        del lines[0]
    return "\n".join(lines).strip()


def _block(record: Record, default: Block | None, limit: int) -> Block:
    """A default block keeps its definition; another block's definition is the first record under its label."""
    about = default.about if default else str(record.value.get("about", ""))
    most = default.limit if default else int(record.value.get("limit", limit))
    return Block(record.key, about, most, str(record.value["text"]), record.value.get("turn"))
