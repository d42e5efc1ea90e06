"""What an engine is to the benchmark, and the parts every engine is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from talekeeper.text import Terms

from bench.corpus import Passage

K1, B = 0.9, 0.4
"""Given to every engine that lets itself be told."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A passage and the terms our tokeniser finds in it: all engines index the same terms."""

    passage: Passage
    terms: Terms

    @property
    def words(self) -> list[str]:
        """The terms, each as often as it occurs."""
        return [term for term, times in self.terms.counts.items() for _ in range(times)]


@dataclass(frozen=True, slots=True)
class Scope:
    """Passages by number from `first` to before `end`; `session` where that is exactly one session."""

    first: int
    end: int
    session: int | None = None


class Engine(Protocol):
    """An index of passages. Asked one thing at a time, in turn with the others."""

    name: str
    adds: bool
    """Whether one passage can be added without building everything anew."""

    def load(self, batch: Sequence[Counted]) -> None:
        """Takes passages in bulk."""
        ...

    def settle(self) -> None:
        """Ends the bulk load: all of it is searchable."""
        ...

    def add(self, passages: Sequence[Passage]) -> None:
        """Adds passages from their text; they are searchable when this returns."""
        ...

    def delete(self, passage: Passage) -> None:
        """Removes one; it is not found when this returns."""
        ...

    def search(self, query: str, scope: Scope | None, depth: int) -> list[int]:
        """Numbers of the best passages, best first."""
        ...

    def disk(self) -> int:
        """Bytes in files; 0 for an engine that keeps none."""
        ...

    def close(self) -> None:
        """Lets go of everything."""
        ...
