"""Terms to index to ranking: what story writes and `memory-search` asks."""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.search.checking import Difference
    from talekeeper.search.index import Index
    from talekeeper.search.message_features import features_of_message
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
    from talekeeper.search.size import IndexSize, index_size
    from talekeeper.search.snippets import snippet
    from talekeeper.search.text_ranking import RankedText, rank_texts, terms
    from talekeeper.search.tuning import STANDARD, Tuning
    from talekeeper.search.unreadable import Unreadable
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "STANDARD",
    "Closeness",
    "Difference",
    "Index",
    "IndexSize",
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
    "Unreadable",
    "features_of_message",
    "index_size",
    "rank_texts",
    "snippet",
    "terms",
]
