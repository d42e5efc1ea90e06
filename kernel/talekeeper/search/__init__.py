"""Terms to index to ranking: what story writes and `memory-search` asks."""

from __future__ import annotations

from talekeeper.search.checking import Difference
from talekeeper.search.excerpt import excerpt
from talekeeper.search.index import Index
from talekeeper.search.manner import manner
from talekeeper.search.passage import (
    Closeness,
    Kind,
    LeftOut,
    Meaning,
    PartScope,
    Passage,
    Placing,
    Query,
    Ranked,
    Ranking,
    Source,
    TermScore,
)
from talekeeper.search.rank_texts import RankedText, rank_texts, terms
from talekeeper.search.tuning import Tuning

__all__ = [
    "Closeness",
    "Difference",
    "Index",
    "Kind",
    "LeftOut",
    "Meaning",
    "PartScope",
    "Passage",
    "Placing",
    "Query",
    "Ranked",
    "RankedText",
    "Ranking",
    "Source",
    "TermScore",
    "Tuning",
    "excerpt",
    "manner",
    "rank_texts",
    "terms",
]
