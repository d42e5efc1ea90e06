"""Question sets on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.errors import ImportFileError, NotFound
from talekeeper.evaluate import find_sets

QUESTION = {"id": "q1", "session": "s", "question": "Who?", "evidence": ["a"], "category": "who", "lang": "en"}


@pytest.fixture
def make_set(tmp_path: Path) -> Callable[..., Path]:
    def make(name: str = "one", unit: str | None = "message", questions: str = json.dumps(QUESTION)) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "corpus.jsonl").write_text('{"id": "a", "session": "s", "text": "x"}\n')
        (folder / "queries.jsonl").write_text(questions)
        if unit is not None:
            (folder / "SOURCE.json").write_text(json.dumps({"unit": unit}))
        return folder

    return make


def test_a_folder_of_sets_gives_them_by_name(make_set: Callable[..., Path], tmp_path: Path) -> None:
    make_set("b", "record")
    make_set("a")
    (tmp_path / "notes.txt").write_text("not a set")

    sets = find_sets([tmp_path])

    assert [(one.name, one.unit, len(one.questions)) for one in sets] == [("a", "message", 1), ("b", "record", 1)]


def test_a_set_named_twice_is_measured_once(make_set: Callable[..., Path], tmp_path: Path) -> None:
    folder = make_set()

    assert len(find_sets([folder, tmp_path])) == 1


def test_a_question_keeps_what_asking_needs(make_set: Callable[..., Path]) -> None:
    (question,) = find_sets([make_set()])[0].questions

    assert (question.id, question.session, question.text) == ("q1", "s", "Who?")
    assert (question.evidence, question.category) == (("a",), "who")


def test_without_a_source_file_the_lines_are_messages(make_set: Callable[..., Path]) -> None:
    assert find_sets([make_set(unit=None)])[0].unit == "message"


def test_a_set_may_have_no_questions(make_set: Callable[..., Path]) -> None:
    folder = make_set()
    (folder / "queries.jsonl").unlink()

    assert find_sets([folder])[0].questions == ()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"evidence": "a"}, "queries.jsonl:1: `evidence` must be a list of texts", id="evidence"),
        pytest.param({"question": None}, "queries.jsonl:1: the question has no `question`", id="question"),
        pytest.param({"session": 5}, "queries.jsonl:1: the question has no `session`", id="session"),
    ],
)
def test_a_bad_question_names_its_line(make_set: Callable[..., Path], change: dict[str, object], sentence: str) -> None:
    folder = make_set(questions=json.dumps({**QUESTION, **change}))

    with pytest.raises(ImportFileError) as fault:
        find_sets([folder])

    assert sentence in str(fault.value)


def test_a_question_id_given_twice_is_refused(make_set: Callable[..., Path]) -> None:
    folder = make_set(questions=f"{json.dumps(QUESTION)}\n{json.dumps(QUESTION)}\n")

    with pytest.raises(ImportFileError, match=r"queries\.jsonl:2: the question 'q1' is there twice"):
        find_sets([folder])


def test_an_unknown_unit_is_refused(make_set: Callable[..., Path]) -> None:
    folder = make_set(unit="page")

    with pytest.raises(ImportFileError, match="`unit` is 'page'; it is message or record"):
        find_sets([folder])


@pytest.mark.parametrize("name", ["", "absent"])
def test_a_folder_without_sets_is_not_found(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFound, match="no question set here"):
        find_sets([tmp_path / name])
