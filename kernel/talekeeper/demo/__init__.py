"""The bundled stories: read from disk, told into a fresh home, and asked their questions through memory-search."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from talekeeper.api import Answer
from talekeeper.errors import NotFound
from talekeeper.exchange import Options, Source, import_file
from talekeeper.home import Home
from talekeeper.memory_search import read_question, search_memory
from talekeeper.plugin_context import import_lore
from talekeeper.story import Address

__all__ = ["AskedQuestion", "BundledStory", "LoadedStory", "Question", "ask_all", "bundled_stories", "load_story"]

_DATA = Path(__file__).parent / "data"
_LIMIT = 3


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


@dataclass(frozen=True, slots=True)
class LoadedStory:
    """What came into the home; `pieces` of lore, None when no plugin there reads any."""

    address: Address
    messages: int
    pieces: int | None


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question and its answer; `place` is where the known one stands among the results, from 1, None if nowhere."""

    question: Question
    answer: Answer
    place: int | None


def bundled_stories() -> list[BundledStory]:
    """All of them, by language."""
    return [_read(folder) for folder in sorted(_DATA.iterdir()) if folder.is_dir()]


def _read(folder: Path) -> BundledStory:
    about: dict[str, Any] = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    questions = [
        Question(one["question"], tuple(one.get("evidence", ())), one.get("lore", "")) for one in about["questions"]
    ]
    return BundledStory(
        language=about["locale"],
        title=about["title"],
        session=about["session"],
        messages=folder / "session.jsonl",
        lore=folder / "lorebook.json",
        questions=tuple(questions),
    )


def load_story(home: Home, story: BundledStory, workspace: str) -> LoadedStory:
    """Imports the story and its lore; raises what an import raises."""
    address = Address(workspace, story.session)
    plugins = home.plugins_of_new_sessions(workspace)
    options = Options(workspace, title=story.title, locale=story.language, plugins=plugins)
    with story.messages.open("rb") as stream:
        report = import_file(home.story, Source(stream, story.messages.name), "jsonl", options, lambda _: None)
    if report.error is not None:
        raise report.error
    try:
        lore = import_lore(home.services, address, story.lore)
        pieces = len(lore.added) + len(lore.unchanged)
    except NotFound:
        pieces = None
    return LoadedStory(address, report.imported + report.already_there, pieces)


def ask_all(home: Home, story: BundledStory, loaded: LoadedStory) -> list[AskedQuestion]:
    """Asks every question that what was loaded can answer."""
    able = [one for one in story.questions if loaded.pieces is not None or not one.lore]
    return [_ask(home, loaded.address, one) for one in able]


def _ask(home: Home, address: Address, asked: Question) -> AskedQuestion:
    answer = search_memory(home.services, address, read_question({"query": asked.text, "limit": _LIMIT}), explain=True)
    messages = home.story.messages.by_id(address, [hit.id for hit in answer.results if not hit.plugin])
    refs = {name: message.ref for name, message in messages.items()}
    known = [hit.title == asked.lore if hit.plugin else refs.get(hit.id) in asked.evidence for hit in answer.results]
    return AskedQuestion(asked, answer, known.index(True) + 1 if True in known else None)
