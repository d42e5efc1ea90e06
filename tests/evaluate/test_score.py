"""Recall, hit and reciprocal rank, against numbers worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.evaluate import METRICS, grouped, mean, score_one

LETTERS = [*"abcdefghijkl"]


@pytest.mark.parametrize(
    ("evidence", "ranked", "expected"),
    [
        pytest.param(["a"], ["a", "b"], (1, 1, 1, 1, 1, 1, 1), id="first"),
        pytest.param(["b"], ["a", "b"], (0, 1, 1, 0, 1, 1, 1 / 2), id="second"),
        pytest.param(["a", "k"], LETTERS, (0.5, 0.5, 0.5, 1, 1, 1, 1), id="one of two within ten"),
        pytest.param(["f", "g", "z"], LETTERS, (0, 0, 2 / 3, 0, 0, 1, 1 / 6), id="two of three at six and seven"),
        pytest.param(["l"], LETTERS, (0, 0, 0, 0, 0, 0, 1 / 12), id="beyond every cut"),
        pytest.param(["z"], LETTERS, (0, 0, 0, 0, 0, 0, 0), id="never"),
        pytest.param(["b"], ["a", "a", "a", "b"], (0, 1, 1, 0, 1, 1, 1 / 2), id="repeats are dropped"),
        pytest.param(["a", "a"], ["a"], (1, 1, 1, 1, 1, 1, 1), id="evidence named twice is one"),
        pytest.param(["a"], [], (0, 0, 0, 0, 0, 0, 0), id="nothing found"),
    ],
)
def test_the_metrics_of_one_question(evidence: list[str], ranked: list[str], expected: tuple[float, ...]) -> None:
    values = score_one(evidence, ranked)

    assert [values[name] for name in METRICS] == pytest.approx(expected)


def test_every_question_weighs_the_same() -> None:
    rows = [score_one(["a"], ["a"]), score_one(["b", "z"], ["a", "b"]), score_one(["z"], ["a"])]

    score = mean(rows)

    assert score.questions == 3
    assert score.values["recall@1"] == pytest.approx(1 / 3)
    assert score.values["recall@5"] == pytest.approx(1 / 2)
    assert score.values["hit@5"] == pytest.approx(2 / 3)
    assert score.values["mrr"] == pytest.approx(1 / 2)


def test_no_question_scores_zero() -> None:
    assert mean([]).values["mrr"] == 0


def test_groups_come_in_the_order_of_their_names() -> None:
    rows = [("b", score_one(["a"], ["a"])), ("a", score_one(["a"], [])), ("b", score_one(["a"], []))]

    groups = grouped(rows)

    assert [(name, score.questions, score.values["hit@1"]) for name, score in groups.items()] == [
        ("a", 1, 0.0),
        ("b", 2, 0.5),
    ]


@given(st.sets(st.sampled_from(LETTERS), min_size=1), st.lists(st.sampled_from(LETTERS)))
def test_recall_grows_with_depth_and_is_never_above_hit(evidence: set[str], ranked: list[str]) -> None:
    values = score_one(evidence, ranked)

    assert values["recall@1"] <= values["recall@5"] <= values["recall@10"] <= values["hit@10"] <= 1
    assert (values["mrr"] > 0) == bool(evidence & set(ranked))
