"""What the plugin does by itself: its segments, jobs, tools and commands, under the names of `plugin.toml`."""

from __future__ import annotations

from talekeeper.api import Registry

from talekeeper_memory import commands, tools
from talekeeper_memory.bank import write_memories
from talekeeper_memory.capacity import evict_memories, thin_facts
from talekeeper_memory.extraction import extract
from talekeeper_memory.recall import recalled_facts
from talekeeper_memory.recall_memories import memories
from talekeeper_memory.segments import blocks_segment, cards_segment, summary_segment
from talekeeper_memory.summary import write_summary


def wire(registry: Registry) -> None:
    """Registers all of it."""
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
    registry.tool("memory-get-block", tools.get_block)
    registry.tool("memory-update-block", tools.update_block)
    registry.tool("memory-remember", tools.remember)
    registry.command("pin", commands.pin)
    registry.command("unpin", commands.unpin)
    registry.command("source", commands.source)
    registry.command("blocks", commands.blocks)
