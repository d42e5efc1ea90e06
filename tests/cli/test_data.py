"""`talekeeper data`: forms drawn from the record schema, and what they write."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click
import pytest

Run = Callable[..., Any]
ADD = ("data", "add", "lorebook/entries")


def test_without_a_name_the_list_shows_the_namespaces(told: Run) -> None:
    found = told("data", "list", "--json").json["namespaces"]

    assert {"namespace": "lorebook/entries", "scope": "session", "searched": True} in found
    assert {"namespace": "lorebook/rules", "scope": "workspace", "searched": False} in found


def test_help_shows_an_option_for_each_property(told: Run) -> None:
    outcome = told(*ADD, "--help")

    assert outcome.code == 0
    for option in (
        "--name TEXT",
        "--kind [person|place]",
        "--weight INTEGER",
        "--share FLOAT",
        "--secret / --no-secret",
    ):
        assert option in outcome.out
    assert "(required)" in outcome.out
    assert "[default: place]" in outcome.out


def test_properties_are_written_with_their_types(told: Run) -> None:
    options = ["--name", "Bridge", "--body", "Nine arches.", "--kind", "place", "--weight", "-3", "--share", "0.5"]
    more = ["--no-secret", "--tags", "stone", "--tags", "old", "--more", '{"built": 1440}']

    record = told(*ADD, "--key", "bridge", *options, *more, "--json").json["record"]

    assert record["value"] == {
        "name": "Bridge",
        "body": "Nine arches.",
        "kind": "place",
        "weight": -3,
        "share": 0.5,
        "secret": False,
        "tags": ["stone", "old"],
        "more": {"built": 1440},
    }
    assert (record["key"], record["on_every_branch"], record["place"]) == ("bridge", True, "0:-1")
    assert told("search", "arches", "--json").json["results"][0]["id"] == "bridge"


@pytest.mark.parametrize("way", ["--value", "--file"])
def test_a_whole_record_can_be_given_as_json(told: Run, tmp_path: Any, way: str) -> None:
    value = {"body": "Nine arches.", "name": "Bridge"}
    (tmp_path / "record.json").write_text(json.dumps(value))

    outcome = told(*ADD, way, json.dumps(value) if way == "--value" else "record.json", "--json")

    assert outcome.json["record"]["value"] == value


def test_an_edit_changes_what_is_named_and_keeps_the_rest(told: Run) -> None:
    told(*ADD, "--key", "bridge", "--body", "Nine arches.", "--name", "Bridge")

    outcome = told("data", "edit", "lorebook/entries", "bridge", "--body", "Ten arches.", "--json")

    assert outcome.json["record"]["value"] == {"body": "Ten arches.", "name": "Bridge"}
    assert outcome.json["record"]["revision"] == 2


def test_withdraw_and_restore_take_a_record_out_and_back(told: Run) -> None:
    told(*ADD, "--key", "bridge", "--body", "Nine arches.")

    told("data", "withdraw", "lorebook/entries", "bridge")
    withdrawn = told("data", "list", "lorebook/entries", "--json").json
    among = told("data", "list", "lorebook/entries", "--withdrawn", "--json").json
    shown = told("data", "show", "lorebook/entries", "bridge")
    told("data", "restore", "lorebook/entries", "bridge")

    assert (withdrawn["live"], withdrawn["records"]) == (0, [])
    assert [record["key"] for record in among["records"]] == ["bridge"]
    assert (shown.code, "restore" in shown.err) == (1, True)
    assert told("data", "show", "lorebook/entries", "bridge", "--json").json["records"][0]["value"]["body"]


def test_what_is_forgotten_is_in_no_version_and_in_no_file(told: Run, home: Any) -> None:
    told(*ADD, "--key", "bridge", "--body", "Zyzzyva arches.")
    told("data", "edit", "lorebook/entries", "bridge", "--body", "Zyzzyva vaults.")

    told("data", "forget", "lorebook/entries", "bridge", "--yes")

    versions = told("data", "show", "lorebook/entries", "bridge", "--history", "--json").json["records"]
    assert [record["value"] for record in versions] == [None, None]
    assert not any(b"zyzzyva" in file.read_bytes().lower() for file in home.rglob("*") if file.is_file())


def test_forgetting_asks(told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def confirm(*_: object, **__: object) -> bool:
        return False

    monkeypatch.setattr(click, "confirm", confirm)
    told(*ADD, "--key", "bridge", "--body", "Nine arches.")

    outcome = told("data", "forget", "lorebook/entries", "bridge")

    assert (outcome.code, outcome.err) == (1, "talekeeper: nothing was forgotten\n")


def test_what_is_not_there_is_not_asked_about(told: Run) -> None:
    outcome = told("data", "forget", "lorebook/entries", "brigde")

    assert outcome.code == 1
    assert outcome.err.startswith("talekeeper: lorebook/entries: there is no record 'brigde'; ")


def test_workspace_records_need_no_session(tk: Run) -> None:
    tk("data", "add", "lorebook/rules", "--key", "one", "--body", "No running.")

    assert tk("data", "list", "lorebook/rules", "--json").json["live"] == 1


def test_a_long_list_says_how_to_go_on(told: Run) -> None:
    for key in ("a", "b", "c"):
        told(*ADD, "--key", key, "--body", f"piece {key}")

    first = told("data", "list", "lorebook/entries", "-n", "2")
    rest = told("data", "list", "lorebook/entries", "--after", "b", "--json").json["records"]

    assert "--after b goes on" in first.err
    assert [record["key"] for record in rest] == ["c"]


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        pytest.param(ADD, 1, "lorebook/entries: the property 'body' is missing", id="required"),
        pytest.param((*ADD, "--body", ""), 1, "lorebook/entries/body", id="too short"),
        pytest.param((*ADD, "--bodi", "x"), 2, "Did you mean '--body'?", id="unknown property"),
        pytest.param((*ADD, "--weight", "heavy"), 2, "'heavy' is not a valid integer", id="wrong type"),
        pytest.param((*ADD, "--value", "{"), 1, "--value: it is not JSON", id="bad JSON"),
        pytest.param((*ADD, "--value", "[]"), 1, "--value: it is not a JSON object", id="no object"),
        pytest.param(("data", "add", "lorebook/entris", "--body", "x"), 1, "entries", id="namespace"),
        pytest.param(("data", "add", "lorbook/entries", "--body", "x"), 1, "there is no plugin 'lorbook'", id="plugin"),
        pytest.param(("data", "add"), 2, "PLUGIN/NAMESPACE is missing", id="nothing named"),
        pytest.param(("data", "edit"), 2, "PLUGIN/NAMESPACE is missing", id="nothing named to edit"),
        pytest.param(("data", "edit", "lorebook/entries"), 2, "KEY is missing", id="no key"),
        pytest.param((*ADD, "--weight", "9" * 30), 1, "lorebook/entries", id="number beyond the store"),
        pytest.param(("data", "edit", "lorebook/entries", "x", "--body", "y"), 1, "there is no record 'x'", id="key"),
        pytest.param(("data", "show", "lorebook/entries", "x"), 1, "there is no record 'x'", id="show"),
        pytest.param(("data", "withdraw", "lorebook/entries", "x"), 1, "there is no record 'x'", id="withdraw"),
    ],
)
def test_a_fault_is_told_with_its_place(told: Run, arguments: tuple[str, ...], code: int, part: str) -> None:
    outcome = told(*arguments)

    assert outcome.code == code
    assert part in outcome.err
    assert "Traceback" not in outcome.err


def test_adding_a_key_that_is_there_points_at_edit(told: Run) -> None:
    told(*ADD, "--key", "bridge", "--body", "Nine arches.")

    outcome = told(*ADD, "--key", "bridge", "--body", "Ten arches.")

    assert outcome.code == 1
    assert "talekeeper data edit lorebook/entries bridge" in outcome.err


def test_what_is_written_changed_or_withdrawn_says_how_it_is_taken_back(told: Run) -> None:
    record = ("lorebook/entries", "the gate")

    added = told("data", "add", "lorebook/entries", "--key", "the gate", "--body", "Iron.", "-s", "harbour")
    edited = told("data", "edit", *record, "--body", "Oak.")
    withdrawn = told("data", "withdraw", *record)

    assert added.out == "the gate is written\n"
    assert added.err == "talekeeper data withdraw lorebook/entries 'the gate' --session harbour takes it back\n"
    assert edited.err == "talekeeper data show --history lorebook/entries 'the gate' has what it was\n"
    assert withdrawn.err == "talekeeper data restore lorebook/entries 'the gate' brings it back\n"
