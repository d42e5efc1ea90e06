from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.memory_search import read_question, search_memory
from talekeeper.services import Services
from talekeeper.story import Address, Coordinate, Derived, Scope, Session

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


def _found(answer: dict[str, Any]) -> list[str]:
    return [hit["id"] for hit in answer["results"]]


def test_messages_and_records_share_one_answer(
    services: Services, plug: Plug, start: Start, tell: Tell, put: Callable[..., None]
) -> None:
    plug("lore")
    start()
    said = tell("you: Where is the silver key?", "Narrator: Mira hid the silver key under the third step.")
    put("lore/entries", "tower", Scope("w", "s"), body="The bell tower has a loose third step.", name="Tower")

    answer = search_memory(services, S, read_question({"query": "silver key third step"})).as_json()

    results = {hit["id"]: hit for hit in answer["results"]}
    assert set(results) == {*said, "tower"}
    message, record = results[said[1]], results["tower"]
    assert (message["source"], message["turn"], message["speaker"]) == ("recall", 1, "Narrator")
    assert message["text"] == "Mira hid the silver key under the third step."
    assert (record["source"], record["plugin"], record["namespace"]) == ("archival:plugin_data", "lore", "entries")
    assert (record["title"], record["text"], record["turn"]) == (
        "Tower",
        "The bell tower has a loose third step.",
        None,
    )
    assert (answer["mode"], answer["searched"], answer["unavailable"]) == ("lexical", 3, {})
    assert "hint" not in answer
    json.dumps(answer)


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        ("all", {"message", "fact", "retold"}),
        ("recall", {"message", "retold"}),
        ("archival", {"fact"}),
    ],
)
def test_scope_chooses_messages_what_retells_them_and_data(
    services: Services, plug: Plug, start: Start, tell: Tell, put: Callable[..., None], scope: str, found: set[str]
) -> None:
    plug("facts")
    plug("recap", data='search = { text = "body", tier = "recall" }')
    start()
    (message,) = tell("you: Mira lost the key")
    put("facts/entries", "fact", Scope("w", "s"), body="The key is silver")
    put("recap/entries", "retold", Scope("w", "s"), body="They looked for a key")

    answer = search_memory(services, S, read_question({"query": "key", "scope": scope})).as_json()

    assert {"message" if name == message else name for name in _found(answer)} == found
    assert {hit["source"] for hit in answer["results"]} == {
        {"message": "recall", "fact": "archival:plugin_data", "retold": "recall:plugin_data"}[name] for name in found
    }


@pytest.mark.parametrize(
    ("sources", "found", "unavailable"),
    [
        (["recall"], {"message"}, {}),
        (["lore/entries"], {"lore"}, {}),
        (["lore"], {"lore"}, {}),
        (["atlas", "recall"], {"message", "atlas"}, {}),
        (["archival:plugin_data lore/entries"], {"lore"}, {}),
        (
            ["lore/entires"],
            set[str](),
            {
                "lore/entires": "there is no such source in this session;"
                ' did you mean "lore/entries"? there are recall, atlas/entries, lore/entries'
            },
        ),
    ],
)
def test_sources_are_asked_by_name(
    services: Services,
    plug: Plug,
    start: Start,
    tell: Tell,
    put: Callable[..., None],
    sources: list[str],
    found: set[str],
    unavailable: dict[str, str],
) -> None:
    for name in ("lore", "atlas"):
        plug(name)
    start()
    (message,) = tell("you: the key")
    for name in ("lore", "atlas"):
        put(f"{name}/entries", name, Scope("w", "s"), body=f"a key of {name}")

    answer = search_memory(services, S, read_question({"query": "key", "sources": sources})).as_json()

    assert {"message" if name == message else name for name in _found(answer)} == found
    assert answer["unavailable"] == unavailable


@pytest.mark.parametrize(
    ("scope", "name", "reason"),
    [
        ("recall", "lore", "it is not recall; search all"),
        ("recall", "lore/entries", "it is not recall; search all"),
        ("archival", "recall", "it is not archival; search all"),
    ],
)
def test_a_named_source_that_the_scope_leaves_out_is_named(
    services: Services, plug: Plug, start: Start, tell: Tell, scope: str, name: str, reason: str
) -> None:
    plug("lore")
    start()
    tell("you: the key")

    answer = search_memory(services, S, read_question({"query": "key", "sources": [name], "scope": scope})).as_json()

    assert answer["unavailable"] == {name: reason}
    assert answer["hint"] == "none of these sources can be searched"


def test_a_plugin_active_in_one_session_alone_is_not_searched_in_another(
    services: Services, plug: Plug, start: Start, put: Callable[..., None]
) -> None:
    plug("lore", data='scope = "workspace"\nsearch = { text = "body" }')
    start("one")
    start("two", plugins=())
    put("lore/entries", "k", Scope("w"), body="the key")

    one = search_memory(services, Address("w", "one"), read_question({"query": "key"})).as_json()
    two = search_memory(services, Address("w", "two"), read_question({"query": "key"})).as_json()
    named = search_memory(
        services, Address("w", "two"), read_question({"query": "key", "sources": ["lore/entries"]})
    ).as_json()

    assert _found(one) == ["k"]
    assert _found(two) == []
    assert two["searched"] == 0
    assert named["unavailable"] == {
        "lore/entries": "there is no such source in this session; there is only recall",
    }


def test_records_of_a_disabled_plugin_are_not_found_and_come_back(
    services: Services, plug: Plug, start: Start, put: Callable[..., None]
) -> None:
    plug("lore")
    start()
    put("lore/entries", "k", Scope("w", "s"), body="the key")

    services.host.disable("lore")
    off = search_memory(services, S, read_question({"query": "key"})).as_json()
    asked = search_memory(services, S, read_question({"query": "key", "sources": ["lore"]})).as_json()
    services.host.enable("lore")
    on = search_memory(services, S, read_question({"query": "key"})).as_json()

    assert (off["results"], off["unavailable"]) == ([], {})
    assert asked["unavailable"] == {"lore/entries": "its plugin is disabled: switched off"}
    assert _found(on) == ["k"]


def test_a_plugin_that_is_gone_or_broken_is_listed_as_unavailable(
    services: Services, plug: Plug, start: Start, tell: Tell, tmp_path: Path
) -> None:
    plug("lore")
    start(plugins=("gone", "lore"))
    tell("you: the key")
    (tmp_path / "plugins" / "lore" / "plugin.toml").write_text("[plugin")
    broken = Services(
        services.story,
        services.index,
        type(services.host)(services.story, services.clock, folder=tmp_path / "plugins", entries=tuple),
        services.clock,
        services.models,
    )

    answer = search_memory(broken, S, read_question({"query": "key"})).as_json()

    assert len(answer["results"]) == 1
    assert answer["unavailable"]["gone"] == "its plugin is not installed"
    assert "its plugin is invalid" in answer["unavailable"]["lore"]


def test_an_unsearched_namespace_and_an_unapproved_record_are_never_found(
    services: Services, plug: Plug, start: Start, put: Callable[..., None]
) -> None:
    plug("candidates", data="")
    plug("cards", data='search = { text = "body", when = "enabled" }')
    start()
    put("candidates/entries", "pending", Scope("w", "s"), body="the key")
    put("cards/entries", "off", Scope("w", "s"), body="the key", enabled=False)

    answer = search_memory(services, S, read_question({"query": "key"})).as_json()
    named = search_memory(services, S, read_question({"query": "key", "sources": ["candidates/entries"]})).as_json()

    assert (answer["results"], answer["searched"]) == ([], 0)
    assert named["unavailable"]["candidates/entries"].startswith("there is no such source in this session; ")


@pytest.mark.parametrize(("channel", "found"), [("local", ["secret"]), ("discord", [])])
def test_owner_visible_records_are_found_by_the_owner_alone(
    services: Services, plug: Plug, start: Start, put: Callable[..., None], channel: str, found: list[str]
) -> None:
    plug("diary", data='search = { text = "body", visibility = "owner" }')
    start(channel=channel)
    put("diary/entries", "secret", Scope("w", "s"), body="the key")

    answer = search_memory(services, S, read_question({"query": "key"})).as_json()
    named = search_memory(services, S, read_question({"query": "key", "sources": ["diary"]})).as_json()
    misspelt = search_memory(services, S, read_question({"query": "key", "sources": ["diary/entires"]})).as_json()

    assert _found(answer) == _found(named) == found
    assert answer["searched"] == len(found)
    assert ("diary/entries" in misspelt["unavailable"]["diary/entires"]) == bool(found)
    assert named["unavailable"] == {}


def test_results_never_cross_sessions_workspaces_or_presets(
    services: Services, plug: Plug, start: Start, tell: Tell, put: Callable[..., None]
) -> None:
    plug("own")
    plug("shared", data='scope = "workspace"\nsearch = { text = "body" }')
    plug("style", data='scope = "preset"\nsearch = { text = "body" }')
    start(preset="noir")
    start("other", preset="fairy")
    start("s", workspace="v", preset="noir")
    start("bare")
    mine = tell("you: my key")
    tell("you: their key", session="other")
    tell("you: far key", workspace="v")
    put("own/entries", "own", Scope("w", "s"), body="key")
    put("own/entries", "others", Scope("w", "other"), body="key of others")
    put("shared/entries", "shared", Scope("w"), body="key of all")
    put("shared/entries", "far", Scope("v"), body="far key")
    put("style/entries", "noir", Scope("w", preset="noir"), body="dark key")
    put("style/entries", "fairy", Scope("w", preset="fairy"), body="bright key")

    answer = search_memory(services, S, read_question({"query": "key", "limit": 20})).as_json()
    bare = search_memory(services, Address("w", "bare"), read_question({"query": "key", "limit": 20})).as_json()

    assert set(_found(answer)) == {*mine, "own", "shared", "noir"}
    assert answer["searched"] == 4
    assert _found(bare) == ["shared"]


def test_results_follow_the_lineage(services: Services, start: Start, tell: Tell) -> None:
    start()
    tell("you: I open the gate", "Narrator: A wolf waits there.")
    tell("you: I close the gate", "Narrator: A raven laughs.")

    services.story.tree.undo(S)
    undone = search_memory(services, S, read_question({"query": "raven"})).as_json()
    services.story.tree.redo(S)
    redone = search_memory(services, S, read_question({"query": "raven"})).as_json()

    assert undone["results"] == []
    assert undone["searched"] == 2
    assert redone["results"][0]["turn"] == 2


def test_messages_of_the_running_turn_are_never_results(services: Services, start: Start, tell: Tell) -> None:
    start()
    first, *_ = tell("you: the key", "Narrator: which key?", "you: the silver key")

    answer = search_memory(services, S, read_question({"query": "key"}), running_turn=2).as_json()

    assert set(_found(answer)) >= {first}
    assert all(hit["turn"] == 1 for hit in answer["results"])


def test_what_the_prompt_shows_already_is_marked(services: Services, start: Start, tell: Tell) -> None:
    start()
    first, second = tell("you: the key", "Narrator: which key?")

    answer = search_memory(services, S, read_question({"query": "key"}), shown=[second]).as_json()

    assert {hit["id"]: hit.get("in_prompt", False) for hit in answer["results"]} == {first: False, second: True}


def test_turn_bounds_are_inclusive_and_leave_out_what_has_no_turn(
    services: Services, plug: Plug, start: Start, tell: Tell, put: Callable[..., None]
) -> None:
    plug("lore")
    start()
    put("lore/entries", "k", Scope("w", "s"), body="the key")
    for number in range(4):
        tell(f"you: the key {number}", f"Narrator: which key, number {number}?")

    answer = search_memory(
        services, S, read_question({"query": "key", "turn_from": 2, "turn_to": 3, "limit": 20})
    ).as_json()

    assert {hit["turn"] for hit in answer["results"]} == {2, 3}


def test_wordings_are_fused(services: Services, start: Start, tell: Tell) -> None:
    start()
    ids = tell("you: the lighthouse burns", "Narrator: a beacon on the rock")

    answer = search_memory(services, S, read_question({"query": "lighthouse", "wordings": ["beacon"]})).as_json()

    assert set(_found(answer)) == set(ids)


def test_identical_texts_are_one_result_that_names_the_others(services: Services, start: Start, tell: Tell) -> None:
    start()
    ids = tell("you: Roland plays.", "Narrator: Roland plays.")

    answer = search_memory(services, S, read_question({"query": "Roland"})).as_json()

    (hit,) = answer["results"]
    (other,) = set(ids) - {hit["id"]}
    assert hit["also"] == [{"id": other, "turn": 1}]


def test_explain_shows_how_each_term_made_its_part_of_the_score(
    services: Services, plug: Plug, start: Start, tell: Tell, put: Callable[..., None]
) -> None:
    plug("lore", data='search = { text = "body", weight = 2 }')
    start()
    tell("you: the silver key")
    put("lore/entries", "k", Scope("w", "s"), body="a key of brass")

    answer = search_memory(services, S, read_question({"query": "silver key"}), explain=True).as_json()

    for hit in answer["results"]:
        assert sum(term["contribution"] for term in hit["why"]) == pytest.approx(hit["score"])
        assert {term["term"] for term in hit["why"]} >= set(hit["matched"])


def test_a_long_passage_is_shown_as_an_excerpt(services: Services, start: Start, tell: Tell) -> None:
    start()
    tell("Narrator: " + "The road went on. " * 60 + "Then Mira found the key. " + "The road went on. " * 60)

    answer = search_memory(services, S, read_question({"query": "Mira key"})).as_json()

    text = answer["results"][0]["text"]
    assert "Mira found the key." in text
    assert len(text) <= 500
    assert text.startswith("…")
    assert text.endswith("…")


def test_authority_and_a_covered_range_are_shown(services: Services, plug: Plug, start: Start, tell: Tell) -> None:
    plug("bank", data='search = { text = "body", tier = "recall" }')
    start()
    for _ in range(3):
        tell("you: go", "Narrator: they walk")
    services.story.records.put(
        services.host.namespace("bank/entries"),
        Scope("w", "s"),
        "m1",
        {"body": "Perhaps a key was lost.", "authority": "inferred"},
        at=Coordinate(0, 3),
        derived=Derived(0, 3),
    )

    (hit,) = search_memory(services, S, read_question({"query": "key"})).as_json()["results"]

    assert (hit["authority"], hit["turn_from"], hit["turn"]) == ("inferred", 1, 2)


def test_a_changed_search_table_is_told_as_indexing_until_it_is_done(
    services: Services, plug: Plug, start: Start, put: Callable[..., None]
) -> None:
    plug("lore", data='search = { text = "body" }')
    start()
    search_memory(services, S, read_question({"query": "key"})).as_json()
    put("lore/entries", "k", Scope("w", "s"), body="a door", name="The key")

    plug("lore", data='search = { text = "body", title = "name" }')
    before = search_memory(services, S, read_question({"query": "key"})).as_json()
    services.story.index.maintain()
    after = search_memory(services, S, read_question({"query": "key"})).as_json()

    assert before["indexing"] == ["lore/entries"]
    assert "indexing" not in after
    assert _found(after) == ["k"]
