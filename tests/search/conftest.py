"""A real database and index, and short ways to make passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Database
from talekeeper.search import Index, Kind, Passage
from talekeeper.text import Terms, digest, document_terms


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def connect(path: Path) -> Iterator[Callable[[], Database]]:
    """Opens the one database file, as often as asked."""
    opened: list[Database] = []

    def open_it() -> Database:
        opened.append(Database.open(path, clock=FixedClock(datetime(2024, 1, 1, tzinfo=UTC)), synchronous="OFF"))
        return opened[-1]

    yield open_it
    for database in opened:
        database.close()


@pytest.fixture
def db(connect: Callable[[], Database]) -> Database:
    return connect()


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.fixture
def part(db: Database, index: Index) -> int:
    """The partition of one session."""
    return db.write(lambda tx: index.part_for(tx, "w", "s", ""), name="make a partition")


@pytest.fixture
def message() -> Callable[..., Passage]:
    """A message at a depth, on branch 0 unless said otherwise; its turn is its depth."""

    def make(text: str, depth: int, *, key: str = "", branch: int = 0, turn: int | None = None) -> Passage:
        return Passage(
            kind=Kind.MESSAGE,
            plugin="",
            namespace="",
            key=key or f"m{depth}",
            branch=branch,
            depth=depth,
            turn=depth if turn is None else turn,
            terms=document_terms(text),
            digest=digest(text),
        )

    return make


@pytest.fixture
def record() -> Callable[..., Passage]:
    """A record's version in lore/entries, at the root unless said otherwise."""

    def make(
        text: str,
        key: str,
        *,
        namespace: str = "entries",
        at: tuple[int, int] = (0, -1),
        revision: int = 1,
        person: bool = False,
        withdrawn: bool = False,
        turn: int = -1,
    ) -> Passage:
        return Passage(
            kind=Kind.RECORD,
            plugin="lore",
            namespace=namespace,
            key=key,
            branch=at[0],
            depth=at[1],
            turn=turn,
            terms=Terms({}, 0) if withdrawn else document_terms(text),
            digest=digest(text),
            revision=revision,
            person=person,
            withdrawn=withdrawn,
        )

    return make
