"""The tool memory-search: arguments → what may be searched → `Query` → `Ranking` → rows and snippets."""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.memory_search.arguments import DEFAULT, MOST, SCOPES, Question, read_question
    from talekeeper.memory_search.sources import part_scopes
    from talekeeper.memory_search.services import Services
    from talekeeper.memory_search.tool import TOOL, ask, by_meaning, meaning, run
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "DEFAULT",
    "MOST",
    "SCOPES",
    "TOOL",
    "Question",
    "Services",
    "ask",
    "by_meaning",
    "meaning",
    "part_scopes",
    "read_question",
    "run",
]
