"""Scores the memories of the bank for an action in a scene, with vectors where there are some and without. Pure.

With an embedding model: 0.6 cos(action) + 0.4 cos(scene), plus 0.15 times the part of the action's rarity weight that
the memory covers. Without one that part is taken for both texts, 0.6 and 0.4. A memory that comes to nothing has no
score: it shares no term, or only such as all memories share. The numbers are settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from talekeeper.api import Json, ScoredRecord

from talekeeper_memory.weights import Weights, weigh

_ENOUGH = 12  # likenesses it takes to know what is usual


@dataclass(frozen=True, slots=True)
class Mix:
    """How much each part weighs."""

    action: float
    scene: float
    lexical: float


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory's score and its parts; `semantic` is None where nothing is known of meaning."""

    key: str
    semantic: float | None
    lexical: float
    final: float


@dataclass(frozen=True, slots=True)
class Question:
    """One of the two texts as it was answered: its terms and every record that has a score for it."""

    terms: tuple[str, ...]
    answered: Mapping[str, ScoredRecord]

    def weights(self, total: int) -> Weights:
        """How rare its terms are among `total` records."""
        return weigh(self.terms, [one for one in self.answered.values() if one.matched], total)


def mix_of(settings: Mapping[str, Json]) -> Mix:
    """The parts as they are set."""
    return Mix(settings["weight_action"], settings["weight_scene"], settings["weight_lexical"])


def ranked(action: Question, scene: Question, total: int, mix: Mix) -> list[Scored]:
    """Every memory with a score, best first, then by key."""
    by_meaning = any(one.semantic is not None for part in (action, scene) for one in part.answered.values())
    acting, around = action.weights(total), scene.weights(total)
    found: list[Scored] = []
    for key in {**action.answered, **scene.answered}:
        own, near = action.answered.get(key), scene.answered.get(key)
        of_action, of_scene = _covered(acting, own), _covered(around, near)
        if by_meaning:
            semantic = mix.action * _meaning(own) + mix.scene * _meaning(near)
            found.append(Scored(key, semantic, of_action, semantic + mix.lexical * of_action))
        else:
            lexical = mix.action * of_action + mix.scene * of_scene
            found.append(Scored(key, None, lexical, lexical))
    return sorted((one for one in found if one.final > 0), key=lambda one: (-one.final, one.key))


def floor_of(cosines: Sequence[float]) -> float:
    """From which likeness on two memories may say the same, by the model's own measure.

    Models differ in what a cosine means, so it is three deviations above what this model gives the memories of this
    story on the whole; 1 where there are too few to tell.
    """
    if len(cosines) < _ENOUGH:
        return 1.0
    mean = fmean(cosines)
    deviation = pstdev(cosines)
    return min(1.0, mean + 3 * deviation)


def _covered(weights: Weights, one: ScoredRecord | None) -> float:
    return weights.coverage(one.matched) if one else 0.0


def _meaning(one: ScoredRecord | None) -> float:
    return one.semantic or 0.0 if one else 0.0
