"""The time of what was found."""

from __future__ import annotations

from collections.abc import Callable

from talekeeper.memory_search import read_question, search_memory
from talekeeper.services import Services
from talekeeper.story import Address, Draft, Scope, Session

Plug = Callable[..., None]
Start = Callable[..., Session]

S = Address("w", "s")


def test_the_time_of_a_message_and_of_a_record_is_shown_where_there_is_one(
    services: Services, plug: Plug, start: Start
) -> None:
    plug("lore", data='search = { text = "body", time = "name" }')
    start()
    notes = {"k": {"body": "the key", "name": "the third winter"}, "l": {"body": "another key"}}
    for key, value in notes.items():
        services.story.records.put(services.host.namespace("lore/entries"), Scope("w", "s"), key, value, person=True)
    dated = Draft("narrator", "the key is found", time="2024-05-08T13:56:00.000Z")
    undated, found = services.story.messages.append(S, [Draft("player", "the key is lost"), dated])

    answer = search_memory(services, S, read_question({"query": "key"})).as_json()

    assert {hit["id"]: hit.get("time") for hit in answer["results"]} == {
        "k": "the third winter",
        "l": None,
        undated.id: None,
        found.id: "2024-05-08T13:56:00.000Z",
    }
