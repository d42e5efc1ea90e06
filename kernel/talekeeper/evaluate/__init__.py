"""Recall measured on sets of questions: sets on disk → a throw-away home → ranked lists → scores."""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.evaluate.question_sets import Question, QuestionSet, find_sets
    from talekeeper.evaluate.runs import DEPTH, METRICS, Grouping, Score, asked, load, mean, measure, rank, score_one
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "DEPTH",
    "METRICS",
    "Grouping",
    "Question",
    "QuestionSet",
    "Score",
    "asked",
    "find_sets",
    "load",
    "mean",
    "measure",
    "rank",
    "score_one",
]
