"""The order of results that score the same."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from talekeeper.memory_search import read_question, search_memory
from talekeeper.services import Services
from talekeeper.story import Address, Scope, Session

Plug = Callable[..., None]
Start = Callable[..., Session]
Tell = Callable[..., list[str]]

S = Address("w", "s")


@pytest.fixture
def put(services: Services) -> Callable[..., None]:
    """Writes a record as a person would."""

    def write(path: str, key: str, scope: Scope, **value: Any) -> None:
        services.story.records.put(services.host.namespace(path), scope, key, value, person=True)

    return write


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=lambda order: "".join(map(str, order)))
def test_equals_have_one_order_whatever_the_order_they_were_written_in(
    services: Services, plug: Plug, start: Start, put: Callable[..., None], order: tuple[int, ...]
) -> None:
    plug("lore")
    plug("acts")
    start()
    things = ["lamp", "oar", "rope"]

    for place in order:
        for path in ("lore/entries", "acts/entries") if place % 2 else ("acts/entries", "lore/entries"):
            put(path, things[place], Scope("w", "s"), body=f"The silver {things[place]}")
    before = search_memory(services, S, read_question({"query": "silver", "limit": 20})).as_json()
    services.story.index.rebuild(S)
    after = search_memory(services, S, read_question({"query": "silver", "limit": 20})).as_json()

    assert len({hit["score"] for hit in before["results"]}) == 1
    for answer in (before, after):
        found = [(hit["plugin"], hit["id"]) for hit in answer["results"]]
        assert found == [(plugin, thing) for plugin in ("acts", "lore") for thing in things]
