"""Talekeeper's index under the benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from talekeeper.clock import SystemClock
from talekeeper.db import Database, Tx
from talekeeper.search import Index, Kind, PartScope, Query, Ranking, Source, maintain_index
from talekeeper.search import Passage as Entry
from talekeeper.text import Terms, digest, document_terms

from bench.corpus import SESSION, Passage
from bench.engine import Counted, Scope

_EVERYTHING = 2**31 - 1
_ALONE = 8
"""So many sessions have a partition of their own beside the one with every passage: what a session scope asks."""


class Ours:
    """All passages in one partition. `postings` is what is kept of them in memory, in bytes; None: as much as usual."""

    adds = True

    def __init__(
        self,
        folder: Path,
        name: str = "talekeeper",
        *,
        neighbours: bool = False,
        postings: int | None = None,
        synchronous: Literal["OFF", "FULL"] = "OFF",
        opens: type[Database] = Database,
    ) -> None:
        self.name = name
        self.db = opens.open(folder / "talekeeper.sqlite", clock=SystemClock(), synchronous=synchronous)
        self.index = Index() if postings is None else Index(posting_budget=postings)
        self.part = self.db.write(lambda tx: self.index.part_for(tx, "all", "", ""), name="find a partition")
        self._neighbours = neighbours
        self._alone = {number: part for number in range(_ALONE) if (part := self._find(number)) is not None}

    def load(self, batch: Sequence[Counted]) -> None:
        """As an import does: a transaction a batch, then what maintenance is due."""
        entries = [(one.passage, one.terms) for one in batch]
        self.db.write(lambda tx: self._add_all(tx, entries), name="load")
        maintain_index(self.db)

    def settle(self) -> None:
        """Checkpoints, so that the file is the index."""
        self.db.checkpoint()

    def add(self, passages: Sequence[Passage]) -> None:
        """One transaction, as story makes it."""
        entries = [(passage, document_terms(passage.text)) for passage in passages]
        self.db.write(
            lambda tx: [self.index.add(tx, self.part, entry(passage, terms)) for passage, terms in entries], name="add"
        )

    def delete(self, passage: Passage) -> None:
        """One transaction, as story makes it."""
        key = str(passage.number)
        self.db.write(
            lambda tx: self.index.remove(tx, self.part, kind=Kind.MESSAGE, plugin="", namespace="", key=key),
            name="remove",
        )

    def search(self, query: str, scope: Scope | None, depth: int) -> list[int]:
        """From the query's text; a scope that is a session goes to its partition, another is a range of turns."""
        return [int(hit.key) for hit in self.ask(query, scope, depth).hits]

    def ask(self, query: str, scope: Scope | None, depth: int) -> Ranking:
        """The whole answer."""
        part = self.part
        turns = (None, None) if scope is None else (scope.first, scope.end - 1)
        if scope is not None and scope.session in self._alone:
            part, turns = self._alone[scope.session], (None, None)
        asked = Query(
            (query,),
            (PartScope(part, {0: _EVERYTHING}),),
            (Source(),),
            turn_from=turns[0],
            turn_to=turns[1],
            depth=depth,
            neighbours=self._neighbours,
        )
        return self.db.read(lambda tx: self.index.search(tx, asked))

    def disk(self) -> int:
        """The database with its log."""
        return sum(self.db.sizes())

    def close(self) -> None:
        """Closes the database."""
        self.db.close()

    def _add_all(self, tx: Tx, entries: Sequence[tuple[Passage, Terms]]) -> None:
        for passage, terms in entries:
            made = entry(passage, terms)
            self.index.add(tx, self.part, made)
            if passage.session < _ALONE and passage.number < _ALONE * SESSION:
                if passage.session not in self._alone:
                    self._alone[passage.session] = self.index.part_for(tx, "all", str(passage.session), "")
                self.index.add(tx, self._alone[passage.session], made)

    def _find(self, session: int) -> int | None:
        return self.db.read(lambda tx: self.index.find_part(tx, "all", str(session), ""))


def entry(passage: Passage, terms: Terms) -> Entry:
    """A message for the index; its turn is its number."""
    return Entry(
        kind=Kind.MESSAGE,
        plugin="",
        namespace="",
        key=str(passage.number),
        branch=0,
        depth=passage.number,
        turn=passage.number,
        terms=terms,
        digest=digest(passage.text),
    )
