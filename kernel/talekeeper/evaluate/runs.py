"""A whole measurement: every set loaded and asked, the ranked lists written down, and the scores by set or category."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from talekeeper.evaluate.asking import rank
from talekeeper.evaluate.corpus import corpus_ids, load
from talekeeper.evaluate.score import Score, grouped, mean, score_one
from talekeeper.evaluate.sets import Question, QuestionSet
from talekeeper.home import Home
from talekeeper.models import NO_MODELS, Models

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
