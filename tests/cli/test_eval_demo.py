"""`talekeeper eval` and `talekeeper demo`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.testing import ScriptedServer

Run = Callable[..., Any]


@pytest.fixture
def question_set(tmp_path: Path, chat: Path) -> Path:
    folder = tmp_path / "sets" / "harbour"
    folder.mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(chat.read_text())
    question = {"id": "q1", "session": "harbour", "question": "Where was the brass key lost?", "evidence": ["m2"]}
    (folder / "queries.jsonl").write_text(json.dumps({**question, "category": "where"}))
    return folder


@pytest.mark.parametrize("which", ["sets", "sets/harbour"])
def test_eval_prints_a_table_and_writes_the_lists(tk: Run, question_set: Path, tmp_path: Path, which: str) -> None:
    outcome = tk("eval", which, "--run", "run.jsonl", "--by", "category")

    header, row, overall = outcome.out.splitlines()
    assert outcome.code == 0
    assert header.split() == ["category", "n", "recall@1", "recall@5", "recall@10", "hit@1", "hit@5", "hit@10", "mrr"]
    assert row.split() == ["where", "1", *["1.000"] * 7]
    assert overall.split()[0] == "ALL"
    (line,) = (tmp_path / "run.jsonl").read_text().splitlines()
    assert json.loads(line)["ranked"][0] == "m2"


def test_eval_warns_of_evidence_that_is_not_in_the_corpus(tk: Run, question_set: Path) -> None:
    question = {"id": "q2", "session": "harbour", "question": "Who left?", "evidence": ["m2", "m98", "m99"]}
    (question_set / "queries.jsonl").write_text(json.dumps(question))

    shown, listed = tk("eval", "sets"), tk("eval", "sets", "--json")

    assert "harbour: evidence 'm98' and 1 more is not in the corpus" in shown.err
    assert listed.json["evidence_not_in_corpus"] == {"harbour": ["m98", "m99"]}


def test_eval_by_meaning_asks_the_homes_endpoint_as_the_home_would(tk: Run, question_set: Path, home: Path) -> None:
    home.mkdir(exist_ok=True)
    with ScriptedServer() as server:
        slot = f'base_url = "{server.base_url}"\nmodel = "hash"\nquery_prefix = "query: "\npassage_prefix = "text: "'
        (home / "talekeeper.toml").write_text(f"[models.embedding]\n{slot}\n", encoding="utf-8")

        outcome = tk("eval", "sets", "--semantic", "--json")

        *passages, question = [text for request in server.requests for text in request.body["input"]]
    assert outcome.code == 0
    assert question == "query: Where was the brass key lost?"
    assert passages
    assert all(text.startswith("text: ") for text in passages)


def test_eval_of_a_set_without_questions_shows_no_score(tk: Run, question_set: Path) -> None:
    (question_set / "queries.jsonl").write_text("")

    outcome = tk("eval", "sets")

    assert (outcome.code, outcome.out) == (0, "")
    assert "harbour: no questions, loaded only" in outcome.err


def test_eval_touches_no_home(tk: Run, question_set: Path) -> None:
    tk("eval", "sets", "--json")

    assert tk("status", "--json").json["workspaces"] == {}


def test_eval_of_a_folder_without_sets_is_one_sentence(tk: Run, tmp_path: Path) -> None:
    outcome = tk("eval", tmp_path)

    assert outcome.code == 1
    assert "no question set here; a set is a folder with corpus.jsonl" in outcome.err


def test_the_demo_answers_its_questions_and_explains_one_of_each_story(tk: Run) -> None:
    outcome = tk("demo")

    assert outcome.code == 0
    assert outcome.out.count("━━ ") == 2
    assert outcome.out.count("why: ") == 2
    assert "The Low House" in outcome.out
    assert "月背邮局" in outcome.out
    assert tk("status", "--json").json["workspaces"] == {}


def test_the_demo_is_right_in_the_first_place(tk: Run) -> None:
    stories = tk("demo", "--json").json["stories"]

    places = [asked["right_at"] for story in stories for asked in story["questions"]]
    assert len(places) >= 8
    assert places == [1] * len(places)


def test_the_demo_keeps_what_it_told_where_it_is_asked_to(tk: Run) -> None:
    outcome = tk("demo", "--lang", "en", "--home", "kept")

    assert "talekeeper search --home kept --session low-house --explain" in outcome.out
    assert tk("--home", "kept", "search", "brass key", "--json").json["session"] == "low-house"


def test_the_story_the_demo_shows_first_is_the_one_used_last(tk: Run) -> None:
    stories = tk("demo", "--home", "kept", "--json").json["stories"]

    answer = tk("--home", "kept", "search", "brass key", "--json").json

    assert stories[0]["session"] == answer["session"] == "low-house"
