"""Recall measured on question sets: sets on disk → a throw-away home, asked as memory-search asks → lists and scores.

A set is a folder with `corpus.jsonl`, `queries.jsonl` and `SOURCE.json`. With E the evidence of a question and R its
ranked list (later repeats of an id dropped): recall@k = |E ∩ R[:k]| / |E|, hit@k = 1 if any of E is in R[:k], and the
reciprocal rank is 1 / rank of the first of E in R, 0 without one.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, TextIO

from talekeeper.db import Tx
from talekeeper.embedding import EmbeddedQuestion
from talekeeper.errors import ImportFileError, NoModel, NotFound
from talekeeper.exchange import JsonRow, Notes, Options, Source, import_file, opened, read_jsonl, read_text
from talekeeper.home import Home
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.memory_search import part_scopes, query_meaning
from talekeeper.models import NO_MODELS, Models
from talekeeper.search import Query
from talekeeper.search import Source as SearchSource
from talekeeper.story import Address, Draft, Scope
from talekeeper.text import NotJson, is_table, read_foreign_json

Unit = Literal["message", "record"]
_UNITS: dict[object, Unit] = {"message": "message", "record": "record"}
Grouping = Literal["set", "category", "session"]

_CUTS = (1, 5, 10)
METRICS = (*(f"{name}@{k}" for name in ("recall", "hit") for k in _CUTS), "mrr")
DEPTH = 100
"""How many passages are asked for."""

# A namespace of the kernel's own, where a set's lines are records.
_RECORDS = Namespace(
    plugin="_eval",
    name="records",
    search=SearchTable(text=("text",), speaker="speaker", time="time"),
)
_BATCH = 100


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

    @property
    def workspace(self) -> str:
        """Sets share a home, each in a workspace of its own."""
        letters = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in self.name.lower())
        return f"set-{letters}"[:63]


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
            found.setdefault(place.resolve(), _read_set(place))
    return list(found.values())


def _read_set(folder: Path) -> QuestionSet:
    """Reads the questions and what the set says of itself; the corpus is left to the import."""
    queries = folder / "queries.jsonl"
    questions = tuple(_questions(queries)) if queries.is_file() else ()
    return QuestionSet(folder.resolve().name, folder / "corpus.jsonl", _unit(folder / "SOURCE.json"), questions)


def _unit(path: Path) -> Unit:
    try:
        about: object = read_foreign_json(read_text(str(path))) if path.exists() else {}
    except NotJson as fault:
        raise ImportFileError(str(path), None, f"the document {fault.with_place}") from fault
    unit = about.get("unit", "message") if is_table(about) else None
    if unit not in _UNITS:
        raise ImportFileError(str(path), None, f"`unit` is {unit!r}", cure="it is message or record")
    return _UNITS[unit]


def _questions(path: Path) -> Iterator[Question]:
    seen: set[str] = set()
    with opened(str(path)) as stream:
        for row in Source(stream, str(path)).rows():
            question = _question(row)
            if question.id in seen:
                row.fail(f"the question {question.id!r} is there twice")
            seen.add(question.id)
            yield question


def _question(row: JsonRow) -> Question:
    values = row.values
    if values.get("evidence") is None:
        row.fail("the question has no `evidence`", "it is a list of ids, which may be empty")
    evidence = tuple(row.texts("evidence"))
    for key in ("id", "session", "question"):
        if not isinstance(values.get(key), str):
            row.fail(f"the question has no `{key}`")
    return Question(values["id"], values["session"], values["question"], evidence, str(values.get("category", "")))


@dataclass(frozen=True, slots=True)
class Score:
    """Means over `questions` questions; `values` has one number from 0 to 1 for each of `METRICS`."""

    questions: int
    values: Mapping[str, float]


def score_one(evidence: Iterable[str], ranked: Sequence[str]) -> dict[str, float]:
    """The metrics of one question. `evidence` must not be empty."""
    wanted = set(evidence)
    order = list(dict.fromkeys(ranked))
    values: dict[str, float] = {}
    for k in _CUTS:
        found = len(wanted.intersection(order[:k]))
        values[f"recall@{k}"] = found / len(wanted)
        values[f"hit@{k}"] = 1.0 if found else 0.0
    values["mrr"] = next((1 / rank for rank, name in enumerate(order, 1) if name in wanted), 0.0)
    return values


def mean(rows: Sequence[Mapping[str, float]]) -> Score:
    """Every question weighs the same; no questions give zeros."""
    count = len(rows)
    return Score(count, {name: sum(row[name] for row in rows) / max(count, 1) for name in METRICS})


def grouped(rows: Sequence[tuple[str, Mapping[str, float]]]) -> dict[str, Score]:
    """Mean by group, in the order of the groups' names."""
    groups = groupby(sorted(rows, key=itemgetter(0)), key=itemgetter(0))
    return {name: mean([values for _, values in group]) for name, group in groups}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Scores by group and over all questions.

    `silent` are sets without a question to ask; `unknown` has, for each set where there is any, the evidence that its
    corpus does not hold. It counts as not found.
    """

    groups: dict[str, Score]
    overall: Score
    silent: tuple[str, ...]
    unknown: Mapping[str, tuple[str, ...]]


def measure(
    sets: Sequence[QuestionSet],
    by: Grouping,
    run: TextIO | None,
    progress: Callable[[int], None],
    models: Models | None = None,
) -> Outcome:
    """Loads every set into one throw-away home and asks its questions, one line of `run` for each.

    Questions without evidence are left out. `progress` is told how many sets and questions are done, one count for all.
    What embeds among the `models` has meaning asked too; raises `ModelError` or `PluginError` when it fails.
    """
    rows: list[tuple[str, dict[str, float]]] = []
    done = 0
    with (
        tempfile.TemporaryDirectory(prefix="talekeeper-eval-") as folder,
        Home.open(Path(folder), tracing=False) as home,
    ):
        home.use_models(models or NO_MODELS)
        for question_set in sets:
            load(home, question_set)
            home.semantics.embed()
            for question in asked(question_set):
                ranked = rank(home, question_set, question)
                group = {"set": question_set.name, "category": question.category, "session": question.session}[by]
                rows.append((group, score_one(question.evidence, ranked)))
                if run is not None:
                    run.write(json.dumps({"query": question.id, "ranked": ranked}, ensure_ascii=False) + "\n")
                done += 1
                progress(done)
            done += 1
            progress(done)
    silent = tuple(question_set.name for question_set in sets if not asked(question_set))
    unknown = {question_set.name: ids for question_set in sets if (ids := _unknown_evidence(question_set))}
    return Outcome(grouped(rows), mean([values for _, values in rows]), silent, unknown)


def asked(question_set: QuestionSet) -> list[Question]:
    """The questions that have evidence."""
    return [question for question in question_set.questions if question.evidence]


def _unknown_evidence(question_set: QuestionSet) -> tuple[str, ...]:
    """In the order of the questions, each once. Lines that hold blank text cannot be found."""
    wanted = dict.fromkeys(name for question in question_set.questions for name in question.evidence)
    there = {draft.ref for _, draft in _entries(question_set.corpus)} if wanted else set[str | None]()
    return tuple(name for name in wanted if name not in there)


def load(home: Home, question_set: QuestionSet) -> None:
    """Fills the workspace named after the set; raises `ImportFileError` naming the line that cannot be read."""
    if question_set.unit == "message":
        with opened(str(question_set.corpus)) as stream:
            source = Source(stream, str(question_set.corpus))
            report = import_file(home.story, source, "jsonl", Options(question_set.workspace), lambda _: None)
        if report.error is not None:
            raise report.error
    else:
        entries = _entries(question_set.corpus)
        while batch := list(islice(entries, _BATCH)):
            _write(home, question_set.workspace, batch)
    home.story.index.maintain()


def _entries(path: Path) -> Iterator[tuple[str, Draft]]:
    """(session, line) in file order."""
    with opened(str(path)) as stream:
        for entry in read_jsonl(Source(stream, str(path)), Notes()):
            yield entry.session or path.parent.name, entry.draft


def _write(home: Home, workspace: str, batch: Sequence[tuple[str, Draft]]) -> None:
    story = home.story
    there = {session.id for session in story.sessions.all(workspace)}
    for name in dict.fromkeys(session for session, _ in batch):
        if name not in there:
            story.sessions.create(workspace, session_id=name)

    def put(tx: Tx) -> None:
        for name, draft in batch:
            value: dict[str, Any] = {"text": draft.text, "speaker": draft.speaker, "time": draft.time or ""}
            story.records.put(_RECORDS, Scope(workspace, session=name), draft.ref or "", value, person=True, tx=tx)

    story.write(put, name="load a set's records")


def rank(home: Home, question_set: QuestionSet, question: Question) -> list[str]:
    """Corpus ids, best first; passages of identical text come right after the one that stands for them.

    The question's text alone is asked, of its own session. Raises `NotFound` when the corpus has no such session.
    """
    address = Address(question_set.workspace, question.session)
    source = SearchSource() if question_set.unit == "message" else SearchSource(_RECORDS.plugin, _RECORDS.name)
    meant = home.semantics.embed_question([question.text])
    if meant is not None and meant.fault:
        raise NoModel(meant.fault)
    keys = home.story.read(lambda tx: list(_keys(home, tx, address, question.text, source, meant)))
    if question_set.unit == "record":
        return keys
    messages = home.story.messages.by_id(address, keys)
    return [messages[key].ref or key for key in keys]


def _keys(
    home: Home, tx: Tx, address: Address, text: str, source: SearchSource, meant: EmbeddedQuestion | None
) -> Iterator[str]:
    home.story.sessions.get(address, tx=tx)
    parts = part_scopes(home.services, tx, address, [Scope(address.workspace, session=address.session)])
    if not parts:
        raise NotFound("the session has nothing to search", where=address.session)
    found = query_meaning(tx, meant)
    query = Query(texts=(text,), parts=parts, sources=(source,), depth=DEPTH, meaning=found)
    for hit in home.index.search(tx, query).hits:
        yield hit.key
        for key, _ in hit.also:
            yield key
