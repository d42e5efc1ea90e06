"""Recall, hit and reciprocal rank of ranked lists against known evidence.

With E the evidence of a question and R its ranked list (later repeats of an id dropped): recall@k = |E ∩ R[:k]| / |E|,
hit@k = 1 if any of E is in R[:k], and the reciprocal rank is 1 / rank of the first of E in R, 0 without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
