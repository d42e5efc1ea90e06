"""A database in a folder of its own, on each engine there is: whatever asks for `db` is run on all of `ENGINES`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from talekeeper.clock import FixedClock, SystemClock
from talekeeper.db import Database

ENGINES = ["sqlite"]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2024, 5, 8, 13, 56, tzinfo=UTC))


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talekeeper.sqlite"


@pytest.fixture(scope="session")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store to be copied, because making one waits for the disk."""
    path = tmp_path_factory.mktemp("blank") / "talekeeper.sqlite"
    Database.open(path, clock=SystemClock()).close()
    return path


@pytest.fixture
def open_database(engine: str, blank: Path, path: Path, clock: FixedClock) -> Iterator[Callable[[], Database]]:
    """Opens the same store again and again; all are closed in the end."""
    assert engine == "sqlite"
    shutil.copy(blank, path)
    opened: list[Database] = []

    def open_one() -> Database:
        opened.append(Database.open(path, clock=clock, synchronous="OFF"))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def db(open_database: Callable[[], Database]) -> Database:
    return open_database()
