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
    from talekeeper.search.snippets import RankedText, rank_texts, snippet
    from talekeeper.search.storage.inspection import Difference, IndexSize, Unreadable, check_index, index_size
    from talekeeper.search.storage.maintenance import (
        maintain_index,
        purge_index,
        rebuild_index,
        renew_index,
        unpurged,
        unpurged_parts,
    )
    from talekeeper.search.storage.writing import stale_parts
    from talekeeper.search.vector.stored import (
        count_vectors,
        has_vectors,
        put_vectors,
        vector_space,
        without_vectors,
    )
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
    "check_index",
    "count_vectors",
    "features_of_message",
    "has_vectors",
    "index_size",
    "maintain_index",
    "purge_index",
    "put_vectors",
    "rank_texts",
    "rebuild_index",
    "renew_index",
    "snippet",
    "stale_parts",
    "unpurged",
    "unpurged_parts",
    "vector_space",
    "without_vectors",
]
