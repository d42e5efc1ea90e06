"""Terms to index to ranking: what story writes and `memory-search` asks."""

from __future__ import annotations

from talekeeper.search.index import Index
from talekeeper.search.passage import Kind, PartScope, Passage, Query, Ranked, Ranking, Source, TermScore

__all__ = ["Index", "Kind", "PartScope", "Passage", "Query", "Ranked", "Ranking", "Source", "TermScore"]
