"""The bundled stories on disk: a session, a lorebook and questions for each language."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answer is known: ids of messages of the file, or the title of a piece of lore."""

    text: str
    evidence: tuple[str, ...]
    lore: str


@dataclass(frozen=True, slots=True)
class BundledStory:
    """One story; `messages` and `lore` are files."""

    language: str
    title: str
    session: str
    messages: Path
    lore: Path
    questions: tuple[Question, ...]


def bundled_stories() -> list[BundledStory]:
    """All of them, by language."""
    return [_read(folder) for folder in sorted(_DATA.iterdir()) if folder.is_dir()]


def _read(folder: Path) -> BundledStory:
    about: dict[str, Any] = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    return BundledStory(
        language=about["locale"],
        title=about["title"],
        session=about["session"],
        messages=folder / "session.jsonl",
        lore=folder / "lorebook.json",
        questions=tuple(
            Question(one["question"], tuple(one.get("evidence", ())), one.get("lore", "")) for one in about["questions"]
        ),
    )
