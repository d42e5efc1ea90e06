"""`talekeeper export` and the way back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_an_export_imported_into_another_home_is_the_same_story(told: Run) -> None:
    told("data", "add", "lorebook/entries", "--key", "bridge", "--body", "Nine arches.")
    told("sessions", "undo", "harbour")

    exported = told("export", "-o", "out.jsonl")
    imported = told("--home", "other", "import", "out.jsonl")

    assert exported.out.startswith("out.jsonl: 1 session, ")
    assert imported.out == "out.jsonl: 5 messages imported into 'harbour' (new)\n"
    redone = told("--home", "other", "sessions", "redo", "harbour")
    assert redone.out == "harbour is at 0:4, after turn 2\n"
    assert told("--home", "other", "search", "arches", "--json").json["results"][0]["id"] == "bridge"
    assert told("--home", "other", "doctor").code == 0


@pytest.mark.parametrize(
    ("form", "first"),
    [("jsonl", '{"talekeeper": "archive"'), ("sillytavern", '{"user_name": '), ("markdown", "# harbour\n")],
)
def test_every_format_can_be_printed(told: Run, form: str, first: str) -> None:
    outcome = told("export", "harbour", "--format", form)

    assert outcome.code == 0
    assert outcome.out.startswith(first)


def test_a_file_that_is_there_is_not_written_over(told: Run, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text("mine")

    outcome = told("export", "-o", "out.jsonl")

    assert (outcome.code, (tmp_path / "out.jsonl").read_text()) == (1, "mine")
    assert outcome.err == "talekeeper: out.jsonl: there is already a file of this name; choose another name\n"


def test_a_folder_that_is_not_there_is_one_sentence_and_nothing_is_left(told: Run) -> None:
    outcome = told("export", "-o", "no/out.jsonl")

    assert outcome.code == 1
    assert outcome.err.startswith("talekeeper: no/out.jsonl: the export cannot be written")


def test_a_format_for_one_session_wants_one(told: Run, chat: Path) -> None:
    told("import", chat, "--session", "second")

    outcome = told("export", "--format", "markdown")

    assert outcome.code == 1
    assert outcome.err == "talekeeper: SESSION: markdown holds one session, not 2; name the one to export\n"


def test_a_workspace_that_is_not_there_is_not_exported(told: Run, tmp_path: Path) -> None:
    outcome = told("export", "--workspace", "defualt", "--output", tmp_path / "out.jsonl")

    assert outcome.code == 1
    assert outcome.err == "talekeeper: there is no workspace 'defualt'; did you mean 'default'?\n"
    assert not (tmp_path / "out.jsonl").exists()


def test_with_json_an_export_wants_a_file(told: Run) -> None:
    refused = told("export", "--json")

    assert refused.code == 1
    assert refused.json["error"]["where"] == "--output"
