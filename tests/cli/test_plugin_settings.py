"""`talekeeper plugins settings` and `set`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

MANIFEST = """
[plugin]
id = "weather"
version = "1.0.0"
api = 1
summary = "For a test."

[[contributes.settings]]
key = "rain"
type = "boolean"
default = true
label = "Let it rain"
description = "Off, it stays dry."

[[contributes.settings]]
key = "wind"
type = "integer"
default = 3
min = 0
max = 12
label = "Force of the wind"

[[contributes.settings]]
key = "warmth"
type = "number"
default = 0.5
label = "Warmth"

[[contributes.settings]]
key = "sky"
type = "string"
default = "grey"
choices = ["grey", "blue"]
label = "Colour of the sky"
"""


@pytest.fixture
def weather(home: Path) -> Path:
    folder = home / "plugins" / "weather"
    folder.mkdir(parents=True)
    (folder / "plugin.toml").write_text(MANIFEST)
    return folder


def value(tk: Run, key: str, *more: str) -> Any:
    listed = tk("plugins", "settings", "weather", "--json", *more).json["settings"]
    return next(one["value"] for one in listed if one["key"] == key)


def test_settings_are_listed_with_value_and_label(tk: Run, weather: Path) -> None:
    rows = [line.split(maxsplit=2) for line in tk("plugins", "settings", "weather").out.splitlines()]

    assert rows[1:] == [
        ["rain", "on", "Let it rain"],
        ["wind", "3", "Force of the wind"],
        ["warmth", "0.5", "Warmth"],
        ["sky", "grey", "Colour of the sky"],
    ]


@pytest.mark.parametrize(
    ("key", "text", "stored"),
    [
        ("rain", "off", False),
        ("rain", "YES", True),
        ("wind", "12", 12),
        ("warmth", "0.25", 0.25),
        ("sky", "blue", "blue"),
    ],
)
def test_a_value_is_read_by_the_settings_type(tk: Run, weather: Path, key: str, text: str, stored: object) -> None:
    outcome = tk("plugins", "set", "weather", key, text)

    assert outcome.code == 0
    assert value(tk, key) == stored


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("rain", "maybe", "'maybe' is neither on nor off"),
        ("wind", "strong", "'strong' is not a whole number"),
        ("wind", "13", "it lies between 0 and 12"),
        ("warmth", "hot", "'hot' is not a number"),
        ("sky", "red", "it is one of grey, blue"),
        ("snow", "on", "plugin 'weather' has no setting 'snow'; talekeeper plugins settings weather lists them"),
        ("wnid", "3", "plugin 'weather' has no setting 'wnid'; did you mean 'wind'?"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_the_reason(
    tk: Run, weather: Path, key: str, text: str, said: str
) -> None:
    outcome = tk("plugins", "set", "weather", key, text)

    assert outcome.code == 1
    assert said in outcome.err


def test_a_sessions_value_goes_before_the_homes_and_is_taken_back(tk: Run, weather: Path) -> None:
    tk("sessions", "new", "s")
    tk("plugins", "set", "weather", "wind", "5")
    tk("plugins", "set", "weather", "wind", "9", "--session", "s")

    both = value(tk, "wind"), value(tk, "wind", "--session", "s")
    tk("plugins", "set", "weather", "wind", "--default", "--session", "s")

    assert both == (5, 9)
    assert value(tk, "wind", "--session", "s") == 5


@pytest.mark.parametrize("more", [(), ("7", "--default")], ids=["neither", "both"])
def test_a_value_or_its_default_is_given(tk: Run, weather: Path, more: tuple[str, ...]) -> None:
    outcome = tk("plugins", "set", "weather", "wind", *more)

    assert "give a value, or --default alone" in outcome.err
