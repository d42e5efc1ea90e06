"""What goes to a terminal cannot command it."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.cli import output
from talekeeper.text import terminal_line


@dataclass
class Span:
    """Any dataclass."""

    start: int
    end: int


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("小明", 4), ("e\u0301", 1), ("", 0)])
def test_columns_are_counted_as_a_terminal_does(text: str, columns: int) -> None:
    assert output.width(text) == columns


def test_table_columns_stand_under_one_another(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(["name", "n"], [["小明", 5], ["Mira", 10]], right={1})

    assert capsys.readouterr().out.splitlines() == ["name   n", "小明   5", "Mira  10"]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_500, "1.5 kB"),
        (12_000_000, "12.0 MB"),
        (10**12, "1,000.0 GB"),
    ],
)
def test_sizes_are_told_in_the_largest_unit_of_which_there_is_one(number: int, shown: str) -> None:
    assert output.sized(number) == shown


class Terminal(io.StringIO):
    """What is printed, to something that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@given(st.lists(st.tuples(st.text(), st.text(), st.integers(0, 10**9)), max_size=4))
def test_a_table_on_a_narrow_terminal_is_folded_and_loses_nothing(rows: list[tuple[str, str, int]]) -> None:
    cells = [(one, two, f"{count:,}") for one, two, count in rows]

    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(Terminal()) as terminal:
        patch.setenv("COLUMNS", "40")
        output.table(("name", "why", "count"), cells, right={2})
    shown = click.unstyle(terminal.getvalue())

    assert all(output.width(line) <= 40 for line in shown.split("\n"))
    assert sorted(c for c in shown if not c.isspace()) == sorted(
        c
        for cell in ("namewhycount", *(part for row in cells for part in row))
        for c in terminal_line(cell)
        if c != " "
    )


def test_marked_stretches_are_bold_and_the_rest_is_plain() -> None:
    marked = output.mark("the old bridge\x1b", [(4, 7)])

    assert marked != "the old bridge"
    assert click.unstyle(marked) == "the old bridge"


def test_json_holds_dataclasses_paths_and_text_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    output.emit({"bar": Span(1, 2), "path": Path("a/b"), "text": "小明", "set": frozenset({1})})

    assert json.loads(capsys.readouterr().out) == {
        "bar": {"start": 1, "end": 2},
        "path": "a/b",
        "text": "小明",
        "set": [1],
    }


def test_progress_draws_nothing_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress("importing", 10) as reach:
        reach(10)

    assert capsys.readouterr() == ("", "")


def _keep_styles(*_: object) -> bool:
    return False


@pytest.mark.parametrize(
    ("style", "shown"),
    [({}, "text"), ({"bold": True}, "\x1b[1mtext"), ({"dim": True}, "\x1b[2mtext")],
    ids=["plain", "bold", "dim"],
)
def test_a_style_says_only_what_is_wanted(
    style: dict[str, Any], shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("click.utils.should_strip_ansi", _keep_styles)

    output.say("text", **style)

    assert capsys.readouterr().out.removesuffix("\n").removesuffix("\x1b[0m") == shown
