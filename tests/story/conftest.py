"""A story in a store of its own, and short ways to tell and search it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Leases, Tx
from talekeeper.ids import Ids
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.search import Index, PartScope, Query, Source
from talekeeper.story import Address, Draft, Message, Scope, Story


class CountingIds:
    """Gives `id0001`, `id0002`, …"""

    def __init__(self) -> None:
        self._numbers = count(1)

    def new(self) -> str:
        return f"id{next(self._numbers):04}"


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.fixture
def ids() -> Ids:
    return CountingIds()


@pytest.fixture
def story(db: Database, index: Index, clock: FixedClock, ids: Ids) -> Story:
    return Story(db, index, clock, ids)


@pytest.fixture
def address(story: Story) -> Address:
    """Of a session that is there and empty."""
    return story.sessions.create("w", session_id="s").address


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
        return story.messages.append(address, drafts)

    return say


@pytest.fixture
def told(story: Story, address: Address) -> Callable[[], list[str]]:
    """The texts of the story as it stands."""
    return lambda: [message.text for message in story.messages.read(address)]


@pytest.fixture
def find(story: Story, index: Index, address: Address) -> Callable[..., list[str]]:
    """Keys of messages, or of a namespace's records, found on the head's lineage, best first."""

    def find(query: str, namespace: Namespace | None = None) -> list[str]:
        source = Source() if namespace is None else Source(namespace.plugin, namespace.name)

        def search(tx: Tx) -> list[str]:
            part = index.find_part(tx, address.workspace, address.session, "")
            if part is None:
                return []
            scope = PartScope(part, story.tree.lineage(address, tx=tx))
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
