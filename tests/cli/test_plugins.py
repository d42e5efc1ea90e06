"""`talekeeper plugins`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def state(tk: Run, plugin: str = "lorebook") -> str:
    (found,) = [one["state"] for one in tk("plugins", "list", "--json").json["plugins"] if one["id"] == plugin]
    return str(found)


def test_the_list_gives_state_and_reason(tk: Run) -> None:
    rows = [line.split() for line in tk("plugins", "list").out.splitlines()]

    assert ["lorebook", "1.2.0", "enabled"] in rows


def test_explain_says_what_each_namespace_feeds(tk: Run) -> None:
    outcome = tk("plugins", "explain", "lorebook")

    assert "lorebook/entries: feeds memory-search with body, name" in outcome.out
    assert "lorebook/rules: feeds nothing" in outcome.out


def test_disable_and_enable_turn_it_off_and_on(tk: Run) -> None:
    disabled = tk("plugins", "disable", "lorebook")
    off = state(tk)
    tk("plugins", "enable", "lorebook")

    assert disabled.out == "lorebook is disabled: switched off\n"
    assert off == "disabled"
    assert state(tk) == "enabled"


def test_enabling_says_which_sessions_do_not_have_it(told: Run) -> None:
    for command in ("disable lorebook", "enable lorebook --workspace north"):
        told("plugins", *command.split())
    told("sessions", "new", "gate", "--workspace", "north")
    told("sessions", "plugins", "gate", "-lorebook", "--workspace", "north")
    told("sessions", "plugins", "harbour", "-lorebook")

    one = told("plugins", "enable", "lorebook", "--workspace", "north")
    both = told("plugins", "enable", "lorebook")
    counted = told("plugins", "enable", "lorebook", "--json").json["sessions_without"]

    assert one.out == "lorebook is enabled\n"
    assert one.err.startswith("1 session from before does not have it")
    assert one.err.endswith("talekeeper sessions plugins gate +lorebook --workspace north\n")
    assert both.err.endswith("talekeeper sessions plugins harbour +lorebook\n")
    assert counted == 2


def test_enabling_says_nothing_of_sessions_that_have_it(told: Run) -> None:
    outcome = told("plugins", "enable", "lorebook")

    assert (outcome.out, outcome.err) == ("lorebook is enabled\n", "")


def test_no_plugins_keeps_all_off_for_one_run(tk: Run) -> None:
    off = tk("--no-plugins", "plugins", "list", "--json").json["plugins"]

    assert {one["state"] for one in off} == {"disabled"}
    assert state(tk) == "enabled"


def test_a_broken_plugin_stands_beside_good_ones_with_its_reason(tk: Run, home: Path) -> None:
    broken = home / "plugins" / "broken"
    broken.mkdir(parents=True)
    (broken / "plugin.toml").write_text('[plugin]\nid = "broken"\nversoin = "1"\n')

    found = {one["id"]: one for one in tk("plugins", "list", "--json").json["plugins"]}
    doctor = tk("doctor", "--json")

    assert found["broken"]["state"] == "invalid"
    assert "plugin.toml" in found["broken"]["reason"]
    assert found["lorebook"]["state"] == "enabled"
    assert doctor.code == 1
    assert doctor.json["faults"]["plugins"][0].startswith("broken is invalid")


def test_an_unknown_plugin_is_one_sentence(tk: Run) -> None:
    outcome = tk("plugins", "explain", "lorbook")

    assert outcome.code == 1
    assert outcome.err.startswith("talekeeper: there is no plugin 'lorbook'; did you mean 'lorebook'?")


def test_without_a_command_the_plugins_are_listed(tk: Run) -> None:
    assert tk("plugins").out == tk("plugins", "list").out
    assert tk("plugins", "--json").json == tk("plugins", "list", "--json").json
