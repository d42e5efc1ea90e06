"""`talekeeper run`: a plugin's commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.cli.commands.run import readable

Run = Callable[..., Any]


def test_without_a_command_the_commands_are_listed(told: Run) -> None:
    assert {"lorebook/count", "lorebook/fail"} <= set(told("run", "--json").json["commands"])
    assert "lorebook/count  Count the entries." in told("run").out


def test_a_command_takes_arguments_drawn_from_its_schema(told: Run) -> None:
    told("data", "add", "lorebook/entries", "--body", "Nine arches.")

    shown = told("run", "lorebook/count", "--help")
    outcome = told("run", "lorebook/count", "--times", "3")

    assert "--times INTEGER" in shown.out
    assert (outcome.code, outcome.out) == (0, "entries: 3\n")


def test_programs_get_what_a_command_gives_as_json(told: Run) -> None:
    assert told("run", "lorebook/count", "--json").json == {"entries": 0}


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ("One.\nTwo.", ["One.", "Two."]),
        ({"notes": 1, "new": True}, ["notes: 1", "new: yes"]),
        (
            {"refused": {}, "texts": [], "about": "", "at": None},
            ["refused: none", "texts: none", "about: (empty)", "at: none"],
        ),
        ({"text": "One.\nTwo."}, ["text:", "  One.", "  Two."]),
        ([{"label": "scene", "tags": ["dusk", "rain"]}], ["- label: scene", "  tags:", "    - dusk", "    - rain"]),
        ({"within": {"one": 1}}, ["within:", "  one: 1"]),
        (False, ["no"]),
    ],
)
def test_what_a_command_gives_is_lines_for_people(value: object, lines: list[str]) -> None:
    assert list(readable(value)) == lines


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        pytest.param(("lorebook/fail",), 1, "talekeeper: it is not to be", id="what the plugin says"),
        pytest.param(("lorebook/count", "--times", "0"), 1, "times", id="an argument against the schema"),
        pytest.param(("lorebook/cont",), 1, "there is no command 'lorebook/cont'", id="unknown"),
    ],
)
def test_a_fault_is_one_sentence(told: Run, arguments: tuple[str, ...], code: int, part: str) -> None:
    outcome = told("run", *arguments)

    assert outcome.code == code
    assert part in outcome.err
    assert outcome.err.count("\n") == 1
