"""Question sets loaded into a throw-away home and asked as memory-search asks: ranked lists and their scores.

With E the evidence of a question and R its ranked list (later repeats of an id dropped): recall@k = |E ∩ R[:k]| / |E|,
hit@k = 1 if any of E is in R[:k], and the reciprocal rank is 1 / rank of the first of E in R, 0 without one.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

from talekeeper.db import Tx
from talekeeper.embedding import EmbeddedQuestion
from talekeeper.errors import NoModel, NotFound
from talekeeper.evaluate.question_sets import Question, QuestionSet
from talekeeper.exchange import Notes, Options, Source, import_file, opened, read_jsonl
from talekeeper.home import Home
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.memory_search import part_scopes, query_meaning
from talekeeper.models import NO_MODELS, Models
from talekeeper.search import Query
from talekeeper.search import Source as SearchSource
from talekeeper.story import Address, Draft, Scope

CUTS = (1, 5, 10)
METRICS = (*(f"{name}@{k}" for name in ("recall", "hit") for k in CUTS), "mrr")


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
    for k in CUTS:
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
    groups: dict[str, list[Mapping[str, float]]] = {}
    for name, values in rows:
        groups.setdefault(name, []).append(values)
    return {name: mean(groups[name]) for name in sorted(groups)}


Grouping = Literal["set", "category", "session"]


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
    with tempfile.TemporaryDirectory(prefix="talekeeper-eval-") as folder, _throw_away(folder, models) as home:
        for question_set in sets:
            load(home, question_set)
            home.semantics.embed()
            for question in asked(question_set):
                ranked = rank(home, question_set, question)
                rows.append((_group(question_set, question, by), score_one(question.evidence, ranked)))
                if run is not None:
                    run.write(json.dumps({"query": question.id, "ranked": ranked}, ensure_ascii=False) + "\n")
                done += 1
                progress(done)
            done += 1
            progress(done)
    silent = tuple(question_set.name for question_set in sets if not asked(question_set))
    unknown = {question_set.name: ids for question_set in sets if (ids := _unknown_evidence(question_set))}
    return Outcome(grouped(rows), mean([values for _, values in rows]), silent, unknown)


def _throw_away(folder: str, models: Models | None) -> Home:
    home = Home.open(Path(folder), tracing=False)
    home.use_models(models or NO_MODELS)
    return home


def asked(question_set: QuestionSet) -> list[Question]:
    """The questions that have evidence."""
    return [question for question in question_set.questions if question.evidence]


def _unknown_evidence(question_set: QuestionSet) -> tuple[str, ...]:
    """In the order of the questions, each once."""
    wanted = dict.fromkeys(name for question in question_set.questions for name in question.evidence)
    there = corpus_ids(question_set) if wanted else set[str]()
    return tuple(name for name in wanted if name not in there)


def _group(question_set: QuestionSet, question: Question, by: Grouping) -> str:
    return {"set": question_set.name, "category": question.category, "session": question.session}[by]


RECORDS = Namespace(
    plugin="_eval",
    name="records",
    search=SearchTable(text=("text",), speaker="speaker", time="time"),
)
"""A namespace of the kernel's own, where a set's lines are records."""

_BATCH = 100


def load(home: Home, question_set: QuestionSet) -> None:
    """Fills the workspace named after the set; raises `ImportFileError` naming the line that cannot be read."""
    if question_set.unit == "message":
        _load_messages(home, question_set)
    else:
        _load_records(home, question_set)
    home.story.index.maintain()


def corpus_ids(question_set: QuestionSet) -> set[str]:
    """The ids of the lines that can be found; those that hold blank text cannot."""
    return {draft.ref for _, draft in _entries(question_set.corpus) if draft.ref}


def _load_messages(home: Home, question_set: QuestionSet) -> None:
    with opened(str(question_set.corpus)) as stream:
        source = Source(stream, str(question_set.corpus))
        report = import_file(home.story, source, "jsonl", Options(workspace_of(question_set)), lambda _: None)
    if report.error is not None:
        raise report.error


def _load_records(home: Home, question_set: QuestionSet) -> None:
    batch: list[tuple[str, Draft]] = []
    for entry in _entries(question_set.corpus):
        batch.append(entry)
        if len(batch) >= _BATCH:
            _write(home, question_set, batch)
            batch = []
    _write(home, question_set, batch)


def _entries(path: Path) -> Iterator[tuple[str, Draft]]:
    """(session, line) in file order."""
    with opened(str(path)) as stream:
        for entry in read_jsonl(Source(stream, str(path)), Notes()):
            yield entry.session or path.parent.name, entry.draft


def _write(home: Home, question_set: QuestionSet, batch: Sequence[tuple[str, Draft]]) -> None:
    story, workspace = home.story, workspace_of(question_set)
    there = {session.id for session in story.sessions.all(workspace)}
    for name in dict.fromkeys(session for session, _ in batch):
        if name not in there:
            story.sessions.create(workspace, session_id=name)

    def put(tx: Any) -> None:
        for name, draft in batch:
            value = {"text": draft.text, "speaker": draft.speaker, "time": draft.time or ""}
            story.records.put(RECORDS, Scope(workspace, session=name), draft.ref or "", value, person=True, tx=tx)

    story.write(put, name="load a set's records")


def workspace_of(question_set: QuestionSet) -> str:
    """Sets share a home, each in a workspace of its own."""
    letters = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in question_set.name.lower())
    return f"set-{letters}"[:63]


def refs_of(home: Home, address: Address, ids: Sequence[str]) -> dict[str, str]:
    """The corpus ids of messages found."""
    found = home.story.messages.by_id(address, ids)
    return {name: message.ref or name for name, message in found.items()}


DEPTH = 100
"""How many passages are asked for."""


def rank(home: Home, question_set: QuestionSet, question: Question) -> list[str]:
    """Corpus ids, best first; passages of identical text come right after the one that stands for them.

    The question's text alone is asked, of its own session. Raises `NotFound` when the corpus has no such session.
    """
    address = Address(workspace_of(question_set), question.session)
    source = SearchSource() if question_set.unit == "message" else SearchSource(RECORDS.plugin, RECORDS.name)
    meant = home.semantics.embed_question([question.text])
    if meant is not None and meant.fault:
        raise NoModel(meant.fault)
    keys = home.story.read(lambda tx: list(_keys(home, tx, address, question.text, source, meant)))
    if question_set.unit == "record":
        return keys
    refs = refs_of(home, address, keys)
    return [refs[key] for key in keys]


def _keys(
    home: Home, tx: Tx, address: Address, text: str, source: SearchSource, meant: EmbeddedQuestion | None
) -> Iterator[str]:
    home.story.sessions.get(address, tx=tx)
    parts = part_scopes(home.services, tx, address, [Scope(address.workspace, session=address.session)])
    if not parts:
        raise NotFound("the session has nothing to search", where=address.session)
    found = query_meaning(home.services, tx, meant)
    query = Query(texts=(text,), parts=parts, sources=(source,), depth=DEPTH, meaning=found)
    for hit in home.index.search(tx, query).hits:
        yield hit.key
        for key, _ in hit.also:
            yield key
