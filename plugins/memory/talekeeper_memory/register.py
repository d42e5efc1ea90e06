"""What the kernel loads: every segment, job, tool, command and importer under its name in `plugin.toml`."""

from __future__ import annotations

from talekeeper.api import Registry, hookimpl

from talekeeper_memory import actions
from talekeeper_memory.bank import summary_segment, write_memories, write_summary
from talekeeper_memory.blocks import blocks_segment
from talekeeper_memory.card_import import read_character_card, read_world_info
from talekeeper_memory.cards import cards_segment
from talekeeper_memory.eviction import evict_memories, thin_facts
from talekeeper_memory.extraction import extract
from talekeeper_memory.recall import memories, recalled_facts


@hookimpl
def talekeeper_register(registry: Registry) -> None:
    """Registers what the manifest declares."""
    registry.prompt("cards", cards_segment)
    registry.prompt("story-summary", summary_segment)
    registry.prompt("blocks", blocks_segment)
    registry.prompt("memories", memories)
    registry.prompt("recalled-facts", recalled_facts)
    registry.job("extract", extract)
    registry.job("memories", write_memories)
    registry.job("summary", write_summary)
    registry.job("eviction", evict_memories)
    registry.job("facts-capacity", thin_facts)
    registry.tool("memory-get-block", actions.get_block)
    registry.tool("memory-update-block", actions.update_block)
    registry.tool("memory-remember", actions.remember)
    registry.command("pin", actions.pin)
    registry.command("unpin", actions.unpin)
    registry.command("source", actions.source)
    registry.command("blocks", actions.list_blocks)
    registry.importer("world-info", read_world_info)
    registry.importer("character-card", read_character_card)
