"""The plugins under `examples/`, used as the documentation tells people to use them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from talekeeper.errors import UserError
from talekeeper.manifest import check_target
from talekeeper.memory_search import read_question, search_memory
from talekeeper.plugin_context import importers_for, run_command, run_importer
from talekeeper.plugins import Host, Overrides, State
from talekeeper.services import Services
from talekeeper.story import Address, Scope

EXAMPLES = Path(__file__).parents[2] / "examples"
S = Address("w", "s")


@pytest.fixture
def shown(services: Services) -> Iterator[Services]:
    """A home that finds the examples, both enabled, and a session with them."""
    host = Host(services.story, services.clock, overrides=Overrides(folders=(EXAMPLES,)), entries=tuple)
    for name in ("lorebook", "rumours"):
        host.enable(name)
    services.story.sessions.create("w", session_id="s", plugins=host.enabled("w"))
    yield replace(services, host=host)
    host.disable("rumours")


@pytest.mark.parametrize("package", sorted(path.parent for path in EXAMPLES.glob("*/*/plugin.toml")))
def test_an_examples_manifest_has_nothing_to_be_said_against_it(package: Path) -> None:
    assert check_target(str(package / "plugin.toml")).diagnostics == []


def test_both_are_found_by_their_folder(shown: Services) -> None:
    states = {plugin.id: plugin.state for plugin in shown.host.roster().working}

    assert states == {"lorebook": State.ACTIVE, "rumours": State.ENABLED}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("keeper of the lamp", "hesper-lowe"),
        ("What does the green light burn?", "lamp-house"),
        ("the boy with the compass", "tam-reddick"),
        ("gloves", "silas-grue"),
        ("a promise sealed with salt", "salt-oath"),
    ],
)
def test_lore_is_found_without_a_line_of_code(shown: Services, query: str, first: str) -> None:
    results = search_memory(shown, S, read_question({"query": query})).as_json()["results"]

    assert results[0]["id"] == first
    assert (results[0]["source"], results[0]["plugin"]) == ("archival:plugin_data", "lorebook")


def test_the_lore_belongs_to_the_workspace(shown: Services) -> None:
    search_memory(shown, S, read_question({"query": "lamp"})).as_json()

    assert shown.story.records.count(shown.host.namespace("lorebook/entries"), Scope("w")) == 14


def _hear(shown: Services, text: str, says: str) -> Any:
    return run_command(shown, S, "rumours/hear", {"text": text, "says": says})


def test_a_rumour_is_noted_once_and_found_by_memory_search(shown: Services) -> None:
    noted = [_hear(shown, "The ferryman is dead.", "the baker") for _ in range(2)]

    (hit,) = search_memory(shown, S, read_question({"query": "ferryman", "sources": ["rumours"]})).as_json()["results"]
    assert noted == [{"noted": True}, {"noted": False}]
    assert (hit["text"], hit["speaker"]) == ("The ferryman is dead.", "the baker")


def test_a_settled_rumour_is_told_only_on_wish(shown: Services) -> None:
    _hear(shown, "The ferryman is dead.", "the baker")
    _hear(shown, "The ferryman owes the guild.", "Oda")
    first, second = run_command(shown, S, "rumours/about", {"subject": "ferryman"})

    run_command(shown, S, "rumours/settle", {"key": first["key"], "truth": "false"})
    told = run_command(shown, S, "rumours/about", {"subject": "ferryman"})
    shown.host.configure("rumours", "tell_false", value=True)
    all_told = run_command(shown, S, "rumours/about", {"subject": "ferryman"})

    assert [one["key"] for one in told] == [second["key"]]
    assert {one["key"]: one["truth"] for one in all_told} == {first["key"]: "false", second["key"]: "unknown"}


def test_settling_what_is_not_there_is_told_in_the_plugins_words(shown: Services) -> None:
    with pytest.raises(UserError, match="no rumour 'k'; rumours/about shows the keys"):
        run_command(shown, S, "rumours/settle", {"key": "k", "truth": "true"})


def test_a_file_of_rumours_is_imported_and_what_is_left_out_is_told(shown: Services, tmp_path: Path) -> None:
    file = tmp_path / "town.rumours"
    file.write_text(
        "\ufeff# heard on market day\nthe baker: The ferryman is dead.\nno colon\n\nOda: A light: green.\n", "utf-8"
    )

    assert importers_for(shown, S, file.name) == ["rumours/lines"]
    first = run_importer(shown, S, "rumours/lines", file)
    again = run_importer(shown, S, "rumours/lines", file)

    assert (len(first.added), first.left_out) == (2, [("line 3", "it is not of the form `who: what they say`")])
    assert len(again.unchanged) == 2
    assert (
        search_memory(shown, S, read_question({"query": "light"})).as_json()["results"][0]["text"] == "A light: green."
    )
