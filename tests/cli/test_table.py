"""The table of commands equals the commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest
from talekeeper.cli import app
from talekeeper.cli.app import COMMANDS

Run = Callable[..., Any]


def command(name: str) -> click.Command:
    found = app.cli.get_command(click.Context(app.cli), name)
    assert found is not None
    return found


def every_command() -> Iterator[tuple[str, click.Command]]:
    for name in COMMANDS:
        found = command(name)
        if isinstance(found, click.Group):
            yield from ((f"{name} {sub}", each) for sub, each in found.commands.items())
        else:
            yield name, found


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_in_the_table_is_the_first_sentence_of_the_help(name: str) -> None:
    assert str(command(name).help).splitlines()[0] == COMMANDS[name].summary


@pytest.mark.parametrize(
    ("name", "first"),
    [*((name, "list") for name in ("sessions", "workspaces", "data", "jobs", "plugins")), ("index", "status")],
)
def test_a_group_without_a_command_shows_what_there_is(told: Run, name: str, first: str) -> None:
    bare = told(name, "--json")

    assert (bare.code, bare.json) == (0, told(name, first, "--json").json)


ACTS = (
    *(
        f"sessions {act}"
        for act in ("new", "names", "rename", "delete", "plugins", "edit", "hide", "undo", "redo", "retry")
    ),
    *(f"sessions {act}" for act in ("switch", "fork", "go")),
    *(f"workspaces {act}" for act in ("rename", "delete")),
    *(f"data {act}" for act in ("add", "edit", "withdraw", "restore", "forget")),
    *(f"plugins {act}" for act in ("enable", "disable", "set")),
    "import",
    "jobs run",
)
TAKEN_BACK = re.compile(r"back|again|for good|nothing is lost|stay|undo|restored|takes it away|--reset", re.IGNORECASE)


@pytest.mark.parametrize("path", ACTS)
def test_what_changes_something_says_how_it_is_taken_back_or_that_it_cannot_be(path: str) -> None:
    found = dict(every_command())[path]

    shown = found.get_help(click.Context(found))

    assert TAKEN_BACK.search(shown)


@pytest.mark.parametrize(("path", "found"), [pytest.param(*each, id=each[0]) for each in every_command()])
def test_every_command_has_help_with_an_example_and_json(path: str, found: click.Command) -> None:
    assert found.help
    assert (found.epilog or "").startswith("Example:  ")
    assert path.rsplit(maxsplit=1)[-1] in str(found.epilog)
    assert any("--json" in param.opts for param in found.params)
