"""A plugin's life as people meet it: one command line after the other, each opening the home anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.cli import app

Run = Callable[..., Any]

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "body": {"type": "string"}},
    "required": ["body"],
}
FAILING = """
from talekeeper.api import hookimpl

@hookimpl
def talekeeper_register(registry):
    registry.command("go", lambda ctx, arguments: {}["lamp"])
"""


@pytest.fixture
def write(home: Path) -> Callable[..., Path]:
    """Writes the plugin `coast` into the home's folder of plugins, in place of what it was."""

    def write(search: str = '{ text = "body" }', code: str = "", **seed: str) -> Path:
        root = home / "plugins" / "coast"
        root.mkdir(parents=True, exist_ok=True)
        head = '[plugin]\nid = "coast"\nversion = "1.0.0"\napi = 1\nsummary = "The salt coast."\n'
        head += 'module = "code"\n[[contributes.commands]]\nid = "go"\n' if code else ""
        data = f'[contributes.data.entries]\nschema = "entry.json"\nseed = "seed.jsonl"\nsearch = {search}\n'
        (root / "plugin.toml").write_text(head + data)
        (root / "entry.json").write_text(json.dumps(SCHEMA))
        (root / "code.py").write_text(code)
        seed = seed or {"lamp": "The lamp burns green."}
        lines = [json.dumps({"id": key, "name": key.title(), "body": body}) + "\n" for key, body in seed.items()]
        (root / "seed.jsonl").write_text("".join(lines))
        return root

    return write


@pytest.fixture
def talekeeper(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line with nothing but the home given, and gives what it prints as JSON."""
    monkeypatch.setenv("TALEKEEPER_HOME", str(home))
    monkeypatch.delenv("TALEKEEPER_PLUGINS", raising=False)

    def run(*arguments: str) -> Any:
        capsys.readouterr()
        assert app.run(["--json", *arguments]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def _found(talekeeper: Run, *query: str) -> list[str]:
    return [hit["id"] for hit in talekeeper("search", *query)["results"]]


def _states(talekeeper: Run, *more: str) -> dict[str, str]:
    return {one["id"]: one["state"] for one in talekeeper(*(more or ("plugins",)))["plugins"]}


def test_found_enabled_used_disabled_and_used_again(talekeeper: Run, write: Callable[..., Path]) -> None:
    write()

    before = talekeeper("plugins", "explain", "coast")
    enabled = talekeeper("plugins", "enable", "coast")
    talekeeper("sessions", "new", "evening")
    found = _found(talekeeper, "lamp")
    talekeeper("plugins", "disable", "coast")
    while_off = _found(talekeeper, "lamp")
    talekeeper("plugins", "enable", "coast")

    assert (before["state"], before["reason"]) == (
        "disabled",
        "not enabled; talekeeper plugins enable coast does it",
    )
    assert enabled["state"] == "active"
    assert (found, while_off, _found(talekeeper, "lamp")) == (["lamp"], [], ["lamp"])


def test_a_session_leaves_a_plugin_out_and_takes_it_back(talekeeper: Run, write: Callable[..., Path]) -> None:
    write()
    talekeeper("plugins", "enable", "coast")
    talekeeper("sessions", "new", "evening")
    talekeeper("sessions", "new", "morning")

    out = talekeeper("sessions", "plugins", "evening", "-coast", "-memory")["plugins"]
    elsewhere = _found(talekeeper, "lamp", "-s", "morning")
    here = _found(talekeeper, "lamp", "-s", "evening")
    back = _states(talekeeper, "sessions", "plugins", "evening", "+coast")

    assert {one["id"]: one["reason"] for one in out} == {"coast": "switched off", "memory": "switched off"}
    assert (elsewhere, here) == (["lamp"], [])
    assert back == {"coast": "active", "memory": "disabled"}
    assert _found(talekeeper, "lamp", "-s", "evening") == ["lamp"]


def test_one_runs_options_and_environment_change_nothing(
    talekeeper: Run, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(code="raise AssertionError('imported')")
    talekeeper("plugins", "enable", "coast")

    without = _states(talekeeper, "--no-plugins=coast", "plugins", "list")
    without_any = _states(talekeeper, "--no-plugins", "plugins", "list")
    monkeypatch.setenv("TALEKEEPER_PLUGINS", "memory")
    only = _states(talekeeper)
    monkeypatch.delenv("TALEKEEPER_PLUGINS")

    assert without == {"coast": "disabled", "memory": "enabled"}
    assert set(without_any.values()) == {"disabled"}
    assert only == {"coast": "disabled", "memory": "enabled"}
    assert _states(talekeeper)["coast"] == "enabled"


def test_a_changed_search_table_is_told_as_indexing_and_then_serves(
    talekeeper: Run, write: Callable[..., Path]
) -> None:
    write()
    talekeeper("plugins", "enable", "coast")
    talekeeper("sessions", "new", "evening")
    write('{ text = ["body", "name"] }')

    while_due = talekeeper("search", "lamp")
    then = talekeeper("search", "lamp")

    assert while_due["indexing"] == ["coast/entries"]
    assert "indexing" not in then
    assert talekeeper("doctor")["sound"]


def test_an_upgraded_seed_takes_over_what_nobody_edited(talekeeper: Run, write: Callable[..., Path]) -> None:
    write(lamp="The lamp burns green.", mill="The mill stands still.", boat="A boat.")
    talekeeper("plugins", "enable", "coast")
    talekeeper("sessions", "new", "evening")
    talekeeper("data", "edit", "coast/entries", "mill", "--body", "The mill has burnt down.")

    write(lamp="The lamp burns red.", mill="The mill turns again.", gull="A gull.")

    records = talekeeper("data", "list", "coast/entries")["records"]
    assert {record["key"]: record["value"]["body"] for record in records} == {
        "lamp": "The lamp burns red.",
        "mill": "The mill has burnt down.",
        "gull": "A gull.",
    }


@pytest.mark.parametrize("strict", [False, True], ids=["for-people", "for-authors"])
def test_a_fault_is_a_sentence_for_people_and_itself_for_authors(
    talekeeper: Run,
    write: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    strict: bool,
) -> None:
    write(code=FAILING)
    talekeeper("plugins", "enable", "coast")
    talekeeper("sessions", "new", "evening")
    monkeypatch.setenv("TALEKEEPER_STRICT", "1" if strict else "0")

    if strict:
        with pytest.raises(KeyError, match="lamp"):
            app.run(["run", "coast/go"])
    else:
        assert app.run(["run", "coast/go"]) == 1
        assert "coast: command go raised KeyError" in capsys.readouterr().err
