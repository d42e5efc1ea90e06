"""Files in memory, what the readers make of them, and a story to import them into."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Leases
from talekeeper.exchange import Entry, Notes, Options, Report, Source, detect_format, import_file
from talekeeper.exchange.formats import READERS
from talekeeper.ids import SortableIds
from talekeeper.search import Index
from talekeeper.story import Story

MakeSource = Callable[[str | bytes], Source]


@dataclass
class Reading:
    """All entries of a file and what was left out."""

    entries: list[Entry]
    notes: Notes


ReadAll = Callable[..., Reading]


def _source(content: str | bytes, name: str = "chat.txt") -> Source:
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    return Source(io.BytesIO(raw), name)


@pytest.fixture
def source() -> MakeSource:
    return _source


@pytest.fixture
def read() -> ReadAll:
    def read_all(name: str, content: str | bytes, player: str | None = None) -> Reading:
        notes = Notes()
        return Reading(list(READERS[name](_source(content), notes, player)), notes)

    return read_all


@pytest.fixture
def lines_of() -> Callable[..., str]:
    def join(*rows: dict[str, Any]) -> str:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

    return join


@pytest.fixture
def make_story(tmp_path: Path) -> Iterator[Callable[..., Story]]:
    """Opens a store by name; the same name is the same store."""
    opened: dict[str, tuple[Database, Story]] = {}
    clock = FixedClock(datetime(2024, 3, 5, tzinfo=UTC))

    def make(name: str = "one") -> Story:
        if name not in opened:
            db = Database.open(tmp_path / f"{name}.sqlite", clock=clock, synchronous="OFF")
            opened[name] = db, Story(db, Index(), clock, SortableIds(clock))
        return opened[name][1]

    yield make
    for db, _ in opened.values():
        db.close()


@pytest.fixture
def leases(tmp_path: Path) -> Iterator[Leases]:
    """Of a home of their own, whichever story is restored into."""
    db = Database.open(tmp_path / "leases.sqlite", clock=FixedClock(datetime(2024, 3, 5, tzinfo=UTC)))
    yield Leases(tmp_path / "leases", db)
    db.close()


@pytest.fixture
def story(make_story: Callable[..., Story]) -> Story:
    return make_story()


@pytest.fixture
def run_import(story: Story) -> Callable[..., Report]:
    def run(content: str | bytes, name: str = "chat.txt", **options: Any) -> Report:
        file = _source(content, name)
        return import_file(story, file, detect_format(file), Options(**options), lambda _: None)

    return run
