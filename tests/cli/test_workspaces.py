"""`talekeeper workspaces`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete
from talekeeper.cli.app import cli

Run = Callable[..., Any]


@pytest.fixture
def two(told: Run, chat: Path) -> Run:
    """The conversation in `default` and in `drafts`."""
    assert told("import", chat, "--workspace", "drafts").code == 0
    return told


def names(tk: Run) -> list[str]:
    return [workspace["id"] for workspace in tk("workspaces", "list", "--json").json["workspaces"]]


def test_the_list_counts_sessions_and_messages(two: Run) -> None:
    outcome = two("workspaces", "list")

    assert [line.split() for line in outcome.out.splitlines()[1:]] == [
        ["default", "default", "1", "5"],
        ["drafts", "drafts", "1", "5"],
    ]


def test_an_empty_home_says_how_a_workspace_is_made(tk: Run) -> None:
    assert "talekeeper import FILE makes one" in tk("workspaces", "list").err


def test_a_new_title_leaves_the_name(two: Run) -> None:
    outcome = two("workspaces", "rename", "drafts", "Evening drafts")

    assert outcome.out == "drafts is now called 'Evening drafts'\n"
    assert two("workspaces", "list", "--json").json["workspaces"][1]["title"] == "Evening drafts"


@pytest.mark.parametrize(
    ("sure", "typed", "left"),
    [(True, "drafts", ["default"]), (True, "draft", ["default", "drafts"]), (False, "drafts", ["default", "drafts"])],
    ids=["both", "mistyped", "no"],
)
def test_deleting_asks_twice(
    two: Run, monkeypatch: pytest.MonkeyPatch, sure: bool, typed: str, left: list[str]
) -> None:
    def confirm(*_: object, **__: object) -> bool:
        return sure

    def prompt(*_: object, **__: object) -> str:
        return typed

    monkeypatch.setattr(click, "confirm", confirm)
    monkeypatch.setattr(click, "prompt", prompt)

    outcome = two("workspaces", "delete", "drafts")

    assert outcome.code == len(left) - 1
    assert names(two) == left


def test_a_deleted_workspace_takes_its_sessions_and_leaves_the_others(two: Run) -> None:
    outcome = two("workspaces", "delete", "drafts", "--yes", "--json")

    assert outcome.json == {"deleted": "drafts"}
    assert two("sessions", "list", "--workspace", "drafts", "--json").json["sessions"] == []
    assert two("search", "brass", "--json").json["results"]
    assert two("doctor").code == 0


@pytest.mark.parametrize("act", [("rename", "draughts", "Drafts"), ("delete", "draughts", "--yes")])
def test_a_workspace_that_is_not_there_is_one_sentence(told: Run, act: tuple[str, ...]) -> None:
    outcome = told("workspaces", *act)

    assert outcome.code == 1
    assert outcome.err == ("talekeeper: there is no workspace 'draughts'; talekeeper workspaces list shows them\n")


def test_the_shell_completes_it() -> None:
    complete = ShellComplete(cli, {}, "talekeeper", "_TALEKEEPER_COMPLETE")

    found = [item.value for item in complete.get_completions(["workspaces"], "")]

    assert found == ["delete", "list", "rename"]
