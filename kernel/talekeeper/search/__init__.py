"""Terms to index to ranking: what story writes and `memory-search` asks."""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
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
    from talekeeper.search.query.params import STANDARD, RankingParams
    from talekeeper.search.snippets import RankedText, rank_texts, snippet, terms
    from talekeeper.search.storage.inspection import Difference, IndexSize, Unreadable, index_size
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
    "RankingParams",
    "Source",
    "TermScore",
    "Unreadable",
    "features_of_message",
    "index_size",
    "rank_texts",
    "snippet",
    "terms",
]
