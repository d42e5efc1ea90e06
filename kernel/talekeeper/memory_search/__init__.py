"""The tool memory-search: a session's messages and its plugins' declared data, ranked together.

Arguments become a `Question`; the plugins that work in the session, and who asks, give the sources; the story gives the
lineage; the index ranks; the answer is read in the same snapshot.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.memory_search.search import query_meaning, read_embedded, search_memory
    from talekeeper.memory_search.sources import part_scopes
    from talekeeper.memory_search.tool import (
        DEFAULT_LIMIT,
        MAX_LIMIT,
        MEMORY_SEARCH,
        SEARCH_SCOPES,
        Question,
        read_question,
    )
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "DEFAULT_LIMIT",
    "MAX_LIMIT",
    "MEMORY_SEARCH",
    "SEARCH_SCOPES",
    "Question",
    "part_scopes",
    "query_meaning",
    "read_embedded",
    "read_question",
    "search_memory",
]
