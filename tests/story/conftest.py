"""A story in a store of its own, on each engine there is, and short ways to tell and search it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from talekeeper.clock import FixedClock, SystemClock
from talekeeper.db import Database, Leases, Tx
from talekeeper.manifest.declared import Namespace, SearchTable
from talekeeper.search import Index, PartScope, Query, Source
from talekeeper.story import Address, Draft, Message, Scope, Story

ENGINES = ["sqlite"]


class CountingIds:
    """Gives `id0001`, `id0002`, …"""

    def __init__(self) -> None:
        self._numbers = count(1)

    def new(self) -> str:
        return f"id{next(self._numbers):04}"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2024, 5, 8, 13, 56, tzinfo=UTC))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talekeeper.sqlite"


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


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


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.fixture
def story(db: Database, index: Index, clock: FixedClock) -> Story:
    return Story(db, index, clock, CountingIds())


@pytest.fixture
def address(story: Story) -> Address:
    """Of a session that is there and empty."""
    return story.create_session("w", session_id="s").address


@pytest.fixture
def scope(address: Address) -> Scope:
    return Scope(address.workspace, session=address.session)


@pytest.fixture
def say(story: Story, address: Address) -> Callable[..., list[Message]]:
    """Appends texts: the player's begin with `>`, the others are the narrator's."""

    def say(*texts: str) -> list[Message]:
        drafts = [
            Draft("player", text[1:].strip()) if text.startswith(">") else Draft("narrator", text) for text in texts
        ]
        return story.append(address, drafts)

    return say


@pytest.fixture
def told(story: Story, address: Address) -> Callable[[], list[str]]:
    """The texts of the story as it stands."""
    return lambda: [message.text for message in story.messages(address)]


@pytest.fixture
def find(story: Story, index: Index, address: Address) -> Callable[..., list[str]]:
    """Keys of messages, or of a namespace's records, found on the head's lineage, best first."""

    def find(query: str, namespace: Namespace | None = None) -> list[str]:
        source = Source() if namespace is None else Source(namespace.plugin, namespace.name)

        def search(tx: Tx) -> list[str]:
            part = index.find_part(tx, address.workspace, address.session, "")
            if part is None:
                return []
            scope = PartScope(part, story.lineage(address, tx=tx))
            return [hit.key for hit in index.search(tx, Query((query,), (scope,), (source,), neighbours=False)).hits]

        return story.read(search)

    return find


@pytest.fixture
def leases(db: Database, path: Path) -> Leases:
    return Leases(path.parent / "leases", db)


@pytest.fixture
def facts() -> Namespace:
    return Namespace(
        "memory",
        "facts",
        schema={
            "type": "object",
            "properties": {"text": {"type": "string", "minLength": 1}, "turn": {"type": "integer"}},
            "required": ["text"],
        },
        search=SearchTable(("text",)),
    )


@pytest.fixture
def lore() -> Namespace:
    return Namespace(
        "lorebook",
        "entries",
        scope="workspace",
        search=SearchTable(("body",), title="name", tags="tags", speaker="by", time="day", when="enabled"),
    )
