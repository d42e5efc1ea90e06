"""Measuring: sets go in through the real doors, and the lists that come out are scored as they are written."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.evaluate import find_sets, measure, score_one
from talekeeper.exchange import Notes, Source, read_jsonl

LINES = [
    {"id": "a", "session": "s", "speaker": "Mira", "text": "The ferryman lost the brass key.", "turn": 0},
    {"id": "b", "session": "s", "speaker": "Tom", "text": "Roland plays the violin.", "time": "2023-05-08", "turn": 1},
    {"id": "c", "session": "s", "speaker": "Tom", "text": "Roland plays the violin.", "turn": 2},
    {"id": "d", "session": "s", "speaker": "Tom", "text": "It rains on the lighthouse.", "turn": 3},
    {"id": "e", "session": "t", "speaker": "Tom", "text": "Another brass key, elsewhere.", "turn": 0},
]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "session": "s", "question": "Who lost the brass key?", "evidence": ["a"], "category": "who"},
    {"id": "q2", "session": "s", "question": "Who plays the violin?", "evidence": ["b", "c"], "category": "who"},
    {"id": "q3", "session": "s", "question": "lighthouse", "evidence": ["a"], "category": "where"},
    {"id": "q4", "session": "s", "question": "nothing known", "evidence": [], "category": "where"},
]


@pytest.fixture
def make_set(tmp_path: Path) -> Callable[..., Path]:
    def make(name: str, unit: str, questions: list[dict[str, Any]]) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
        (folder / "queries.jsonl").write_text("".join(json.dumps(line) + "\n" for line in questions))
        (folder / "SOURCE.json").write_text(json.dumps({"unit": unit}))
        return folder

    return make


@pytest.mark.parametrize("unit", ["message", "record"])
def test_the_lists_hold_corpus_ids_of_the_questions_session(make_set: Callable[..., Path], unit: str) -> None:
    run = io.StringIO()

    outcome = measure(find_sets([make_set("one", unit, QUESTIONS)]), "category", run, lambda _: None)

    ranked = {line["query"]: line["ranked"] for line in map(json.loads, run.getvalue().splitlines())}
    assert list(ranked) == ["q1", "q2", "q3"]
    assert ranked["q1"][0] == "a"
    assert set(ranked["q2"][:2]) == {"b", "c"}
    assert ranked["q3"][0] == "d"
    assert "e" not in {name for names in ranked.values() for name in names}
    assert outcome.groups["who"].questions == 2
    assert outcome.groups["where"].values["hit@1"] == 0
    expected = [score_one(one["evidence"], ranked[str(one["id"])])["mrr"] for one in QUESTIONS[:3]]
    assert outcome.overall.values["mrr"] == pytest.approx(sum(expected) / 3)


def test_sets_share_no_statistics_and_those_without_questions_are_named(make_set: Callable[..., Path]) -> None:
    folders = [make_set("one", "message", QUESTIONS), make_set("two", "message", []), make_set("three", "record", [])]

    outcome = measure(find_sets(folders), "set", None, lambda _: None)

    assert list(outcome.groups) == ["one"]
    assert outcome.silent == ("two", "three")


@pytest.mark.parametrize("unit", ["message", "record"])
def test_evidence_that_the_corpus_lacks_is_told_once_and_counts_as_not_found(
    make_set: Callable[..., Path], unit: str
) -> None:
    questions = [{**QUESTIONS[0], "evidence": ["a", "x"]}, {**QUESTIONS[1], "evidence": ["y", "x"]}]

    outcome = measure(find_sets([make_set("one", unit, questions)]), "set", None, lambda _: None)

    assert outcome.unknown == {"one": ("x", "y")}
    assert outcome.overall.values["recall@10"] == 0.25


def test_progress_counts_sets_and_questions(make_set: Callable[..., Path]) -> None:
    seen: list[int] = []

    measure(find_sets([make_set("one", "message", QUESTIONS)]), "set", None, seen.append)

    assert seen == [1, 2, 3, 4]


def test_records_of_a_set_are_read_by_the_same_reader_as_messages() -> None:
    text = "".join(json.dumps(line) + "\n" for line in LINES)

    entries = list(read_jsonl(Source(io.BytesIO(text.encode()), "corpus"), Notes()))

    assert [entry.draft.ref for entry in entries] == ["a", "b", "c", "d", "e"]
