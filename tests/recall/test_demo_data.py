"""The bundled stories: what the demo is promised by the files it reads."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import talekeeper.demo

DATA = Path(talekeeper.demo.__file__).parent / "data"

pytestmark = pytest.mark.parametrize("language", ["en", "zh"])


def messages(language: str) -> list[dict[str, Any]]:
    text = (DATA / language / "session.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def document(language: str, name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((DATA / language / name).read_text(encoding="utf-8"))
    return value


def test_a_story_is_one_session_of_unlike_messages_in_order_of_time(language: str) -> None:
    story = messages(language)

    times = [datetime.fromisoformat(message["time"]) for message in story]

    assert len(story) >= 60
    assert {message["session"] for message in story} == {document(language, "questions.json")["session"]}
    assert len({message["id"] for message in story}) == len({message["text"] for message in story}) == len(story)
    assert times == sorted(times)


def test_one_speaker_is_the_player(language: str) -> None:
    story = messages(language)

    players = {message["speaker"] for message in story if message.get("role") == "player"}
    narrators = {message["speaker"] for message in story if "role" not in message}

    assert len(players) == len(narrators) == 1
    assert players.isdisjoint(narrators)


def test_the_lorebook_has_the_fields_of_world_info(language: str) -> None:
    entries = document(language, "lorebook.json")["entries"]

    assert sorted(entries, key=int) == [str(entry["uid"]) for entry in entries.values()]
    for entry in entries.values():
        assert entry["key"]
        assert entry["comment"]
        assert entry["content"]
        assert entry["disable"] is False
        assert isinstance(entry["keysecondary"], list)
        assert isinstance(entry["constant"], bool)
        assert isinstance(entry["order"], int)


def test_every_question_names_what_answers_it(language: str) -> None:
    ids = {message["id"] for message in messages(language)}
    titles = {entry["comment"] for entry in document(language, "lorebook.json")["entries"].values()}

    questions = document(language, "questions.json")["questions"]

    assert len({question["id"] for question in questions}) == len(questions) == 5
    assert all(question["question"] for question in questions)
    assert all(set(question["evidence"]) <= ids for question in questions if "evidence" in question)
    assert [question["lore"] in titles for question in questions if "evidence" not in question] == [True]
