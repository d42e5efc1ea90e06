"""How commands are told which session they are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.parametrize(
    "command",
    [
        "sessions show",
        "sessions takes",
        "sessions branches",
        "sessions names",
        "sessions undo",
        "sessions fork",
        "sessions go 0:1",
        "sessions switch 1",
        "sessions rename Eels",
        "sessions hide m1",
        "sessions edit m1 --text Rain.",
        "sessions plugins -lorebook",
        "jobs list",
        "jobs run",
        "jobs retry",
        "usage",
        "export",
    ],
)
def test_a_session_can_be_named_by_an_option_wherever_it_is_a_word(told: Run, command: str) -> None:
    told("sessions", "new", "later")

    there = told(*command.split(), "--session", "harbour")
    absent = told(*command.split(), "-s", "nowhere")

    assert there.code == 0
    assert "there is no session 'nowhere'" in absent.err


def test_a_place_alone_is_gone_to_in_the_session_used_last(told: Run) -> None:
    told("sessions", "fork", "--name", "tower")
    told("sessions", "go", "0:1")

    gone = told("sessions", "go", "tower")
    missing = told("sessions", "go")

    assert gone.out.startswith("harbour is at ")
    assert "Missing argument 'PLACE'" in missing.err
    assert "[SESSION] PLACE" in told("sessions", "go", "tower", "--help").out


def test_fork_with_the_name_of_a_branch_says_how_it_is_given(told: Run) -> None:
    outcome = told("sessions", "fork", "tower")

    assert outcome.code == 1
    assert "there is no session 'tower'; to call the new branch so:" in outcome.err
    assert outcome.err.endswith("talekeeper sessions fork --name tower\n")
