"""Search is no worse than it was: figures on our own sets, held against tests/evaluate/quality.json."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from talekeeper.search import STANDARD, Index

ROOT = Path(__file__).parents[2]
CURE = "if that is wanted: python scripts/make_quality_baseline.py"
POINT = 0.01

Figures = Mapping[str, Mapping[str, float]]


@pytest.fixture(scope="module")
def figures() -> Callable[[], Figures]:
    made: Callable[[], Figures] = runpy.run_path(str(ROOT / "scripts" / "make_quality_baseline.py"))["figures"]
    return made


@pytest.fixture(scope="module")
def baseline() -> Figures:
    kept: Figures = json.loads((ROOT / "tests" / "evaluate" / "quality.json").read_text(encoding="utf-8"))
    return kept


def drops(now: Figures, before: Figures) -> list[str]:
    return [
        f"{name}: {metric} was {value} and is {now[name][metric]}; {CURE}"
        for name, values in before.items()
        for metric, value in values.items()
        if now[name][metric] < value - POINT
    ]


@contextmanager
def without_second_stage() -> Generator[None]:
    alone = replace(STANDARD, before=(0.0,), after=(0.0,), reach=0, asking=0.0, everyday=0.0)
    made = Index.__init__

    def without(self: Index) -> None:
        made(self, params=alone)

    with patch.object(Index, "__init__", without):
        yield


def test_no_figure_is_more_than_a_point_below_the_baseline(figures: Callable[[], Figures], baseline: Figures) -> None:
    now = figures()

    assert drops(now, baseline) == []
    assert {name: values["n"] for name, values in now.items()} == {
        name: values["n"] for name, values in baseline.items()
    }


def test_the_baseline_would_tell_that_the_second_stage_is_gone(
    figures: Callable[[], Figures], baseline: Figures
) -> None:
    with without_second_stage():
        poorer = figures()

    assert any(line.startswith("all: ") for line in drops(poorer, baseline))
