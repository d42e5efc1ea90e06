"""Question sets on disk: a folder with `corpus.jsonl`, `queries.jsonl` and `SOURCE.json`, or a folder of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from talekeeper.errors import ImportFileError, NotFound
from talekeeper.exchange import JsonRow, Source, opened, read_text
from talekeeper.text import NotJson, read_foreign_json

Unit = Literal["message", "record"]
_UNITS: dict[str, Unit] = {"message": "message", "record": "record"}


@dataclass(frozen=True, slots=True)
class Question:
    """`session` is where it is asked; `evidence` are ids of lines of the corpus."""

    id: str
    session: str
    text: str
    evidence: tuple[str, ...]
    category: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """`unit` says what the lines of the corpus are: messages of a conversation, or records by themselves."""

    name: str
    corpus: Path
    unit: Unit
    questions: tuple[Question, ...]


def find_sets(folders: Sequence[Path]) -> list[QuestionSet]:
    """The sets in `folders`, each a set or a folder of sets, by name; `NotFound` when a folder holds none."""
    found: dict[Path, QuestionSet] = {}
    for folder in folders:
        places = [folder, *sorted(folder.iterdir())] if folder.is_dir() else []
        sets = [place for place in places if (place / "corpus.jsonl").is_file()]
        if not sets:
            what = "no question set here"
            cure = "a set is a folder with corpus.jsonl, queries.jsonl and SOURCE.json"
            raise NotFound(what, where=str(folder), cure=cure)
        for place in sets:
            found.setdefault(place.resolve(), read_set(place))
    return list(found.values())


def read_set(folder: Path) -> QuestionSet:
    """Reads the questions and what the set says of itself; the corpus is left to the import."""
    queries = folder / "queries.jsonl"
    questions = tuple(_questions(queries)) if queries.is_file() else ()
    return QuestionSet(folder.resolve().name, folder / "corpus.jsonl", _unit(folder / "SOURCE.json"), questions)


def _unit(path: Path) -> Unit:
    try:
        about: Any = read_foreign_json(read_text(str(path))) if path.exists() else {}
    except NotJson as fault:
        raise ImportFileError(str(path), None, f"the document {fault.with_place}") from fault
    unit = cast("dict[str, Any]", about).get("unit", "message") if isinstance(about, dict) else None
    if unit not in _UNITS:
        raise ImportFileError(str(path), None, f"`unit` is {unit!r}", cure="it is message or record")
    return _UNITS[unit]


def _questions(path: Path) -> Iterator[Question]:
    seen: set[str] = set()
    with opened(str(path)) as stream:
        source = Source(stream, str(path))
        for row in source.rows():
            question = _question(row)
            if question.id in seen:
                row.fail(f"the question {question.id!r} is there twice")
            seen.add(question.id)
            yield question


def _question(row: JsonRow) -> Question:
    values = row.values
    if values.get("evidence") is None:
        row.fail("the question has no `evidence`", "it is a list of ids, which may be empty")
    evidence = row.texts("evidence")
    for key in ("id", "session", "question"):
        if not isinstance(values.get(key), str):
            row.fail(f"the question has no `{key}`")
    return Question(
        values["id"], values["session"], values["question"], tuple(evidence), str(values.get("category", ""))
    )
