"""Which facts a player's message calls up: by a name, or by what the two have in common.

Pure: it is given the shared terms of every fact that has any, as `ctx.search.score` tells them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from talekeeper.api import Json, ScoredRecord

from talekeeper_memory.stopwords import Everyday
from talekeeper_memory.weights import Weights

_EXACT = 1e-9  # sums of logarithms miss a threshold that is met exactly
_ENOUGH = 2  # shared terms by which a fact qualifies whatever their rarity


@dataclass(frozen=True, slots=True)
class Gate:
    """The thresholds, `share`, `coverage` and `rare` 0..1.

    One shared term is enough when at most the part `rare` of at least `rare_of` facts holds it.
    """

    share: float
    coverage: float
    rare: float
    rare_of: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a fact qualifies, `name` or `content`, or in `reason` why not; `coverage` of the message, 0..1."""

    by: str
    coverage: float
    reason: str = ""


def gate_of(settings: Mapping[str, Json]) -> Gate:
    """The gate as it is set."""
    return Gate(
        share=settings["recall_share"],
        coverage=settings["recall_coverage"],
        rare=settings["recall_rare_share"],
        rare_of=settings["recall_rare_facts"],
    )


def judge(one: ScoredRecord, weights: Weights, names: Collection[str], everyday: Everyday, gate: Gate) -> Verdict:
    """Whether the message calls up this fact."""
    coverage = weights.coverage(one.matched)
    if any(term in names and term not in everyday for term in one.matched):
        return Verdict("name", coverage)
    return Verdict("content", coverage, _content_fault(one, coverage, weights, everyday, gate))


def _content_fault(one: ScoredRecord, coverage: float, weights: Weights, everyday: Everyday, gate: Gate) -> str:
    common = everyday.groups(one.matched)
    if not common:
        return f"shares only everyday words: {', '.join(one.matched)}"
    if one.share < gate.share - _EXACT:
        return f"share {one.share:.2f} is below {gate.share:g}"
    if coverage < gate.coverage - _EXACT:
        return f"coverage {coverage:.2f} is below {gate.coverage:g}"
    if everyday.count(one.matched) < _ENOUGH:
        return _rarity_fault(one.matched, weights, gate)
    return ""


def _rarity_fault(matched: tuple[str, ...], weights: Weights, gate: Gate) -> str:
    """A single word in common has to be a rare one."""
    holding = min(weights.held.get(term, 0) for term in matched)
    if weights.total < gate.rare_of:
        return f"one shared term, and {weights.total} facts are too few ({gate.rare_of}) to call it rare"
    if holding > gate.rare * weights.total:
        return f"one shared term, and {holding} of {weights.total} facts hold it: more than {gate.rare:.0%}"
    return ""
