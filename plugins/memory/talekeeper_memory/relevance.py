"""Which records a message calls up. Pure: it is given the shared terms and likenesses that `ctx.search.score` reports.

A *fact* is called up by a name, or by what it has in common with the message (`judge`). *Memories* are ranked for an
action in a scene (`ranked`). Both weigh a term by its rarity, ln((N + 1) / (df + 1)) over the N records on the lineage,
as the kernel ranks texts: a term that no record holds weighs most, one that all hold nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from talekeeper.api import Json, ScoredRecord

from talekeeper_memory.stopwords import Stopwords

_EXACT = 1e-9  # sums of logarithms miss a threshold that is met exactly
_ENOUGH_TERMS = 2  # shared terms by which a fact qualifies whatever their rarity
_ENOUGH_COSINES = 12  # to know what is usual
# Fewer records are too few to tell a rare term from a common one. They are weighed as fifty, so that a term weighs
# something even if the only record has it.
_FEWEST = 50
_UNSCORED = ScoredRecord("", 0.0, (), 0.0)


class Weights:
    """The terms of one question and how many of `total` records hold each."""

    def __init__(self, terms: Sequence[str], held: Mapping[str, int], total: int) -> None:
        self.terms = tuple(terms)
        self.held = held
        self.total = total
        among = max(total, _FEWEST) + 1
        self._weights = {term: max(0.0, math.log(among / (held.get(term, 0) + 1))) for term in terms}
        self._whole = sum(self._weights.values())

    def coverage(self, matched: Collection[str]) -> float:
        """The weight of the matched terms as a part of that of all, 0..1; where nothing weighs, their number's part."""
        of_question = [term for term in self.terms if term in matched]
        if self._whole:
            return sum(self._weights[term] for term in of_question) / self._whole
        return len(of_question) / len(self.terms) if self.terms else 0.0

    def weight(self, term: str) -> float:
        """The weight of one of the terms; never negative."""
        return self._weights[term]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a fact qualifies, `name` or `content`, or in `reason` why not; `coverage` of the message, 0..1."""

    by: str
    coverage: float
    reason: str = ""


def judge(
    one: ScoredRecord, weights: Weights, names: Collection[str], stopwords: Stopwords, settings: Mapping[str, Json]
) -> Verdict:
    """Whether the message calls up this fact.

    `recall_share` and `recall_coverage`, 0..1, are the least it may have. One shared term is enough when at most the
    part `recall_rare_share` of at least `recall_rare_facts` facts holds it.
    """
    coverage = weights.coverage(one.matched)
    if any(term in names and term not in stopwords for term in one.matched):
        return Verdict("name", coverage)
    return Verdict("content", coverage, _content_fault(one, coverage, weights, stopwords, settings))


def _content_fault(
    one: ScoredRecord, coverage: float, weights: Weights, stopwords: Stopwords, settings: Mapping[str, Json]
) -> str:
    if not stopwords.others(one.matched):
        return f"shares only everyday words: {', '.join(one.matched)}"
    for what, value in (("share", one.share), ("coverage", coverage)):
        least = settings[f"recall_{what}"]
        if value < least - _EXACT:
            return f"{what} {value:.2f} is below {least:g}"
    if stopwords.count(one.matched) >= _ENOUGH_TERMS:
        return ""
    most, enough = settings["recall_rare_share"], settings["recall_rare_facts"]
    holding = min(weights.held.get(term, 0) for term in one.matched)
    if weights.total < enough:
        return f"one shared term, and {weights.total} facts are too few ({enough}) to call it rare"
    if holding > most * weights.total:
        return f"one shared term, and {holding} of {weights.total} facts hold it: more than {most:.0%}"
    return ""


@dataclass(frozen=True, slots=True)
class Question:
    """One of the two texts as search answered it: its terms, and every record that has a score for it."""

    terms: tuple[str, ...]
    answered: Mapping[str, ScoredRecord]

    def weights(self, total: int) -> Weights:
        """How rare its terms are among `total` records."""
        sharing = [one.matched for one in self.answered.values() if one.matched]
        held = Counter(term for matched in sharing for term in matched)
        return Weights(self.terms, held, max(total, len(sharing)))


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory's score and its parts; `semantic` is None without an embedding model."""

    key: str
    semantic: float | None
    lexical: float
    final: float


def ranked(action: Question, scene: Question, total: int, settings: Mapping[str, Json]) -> list[Scored]:
    """Every memory with a score, best first, then by key.

    With an embedding model: 0.6 cos(action) + 0.4 cos(scene), plus 0.15 times the part of the action's rarity weight
    that the memory covers. Without one that part is taken for both texts, 0.6 and 0.4. The numbers are settings. A
    memory that comes to nothing has no score: it shares no term, or only such as all memories share.
    """
    by_meaning = any(one.semantic is not None for part in (action, scene) for one in part.answered.values())
    weight_action, weight_scene = settings["weight_action"], settings["weight_scene"]
    acting, around = action.weights(total), scene.weights(total)
    found: list[Scored] = []
    for key in {**action.answered, **scene.answered}:
        own, near = action.answered.get(key, _UNSCORED), scene.answered.get(key, _UNSCORED)
        of_action, of_scene = acting.coverage(own.matched), around.coverage(near.matched)
        if by_meaning:
            semantic = weight_action * (own.semantic or 0.0) + weight_scene * (near.semantic or 0.0)
            found.append(Scored(key, semantic, of_action, semantic + settings["weight_lexical"] * of_action))
        else:
            lexical = weight_action * of_action + weight_scene * of_scene
            found.append(Scored(key, None, lexical, lexical))
    return sorted((one for one in found if one.final > 0), key=lambda one: (-one.final, one.key))


def floor_of(cosines: Sequence[float]) -> float:
    """The cosine from which two memories may say the same, by the model's own measure.

    Models differ in what a cosine means, so it is three deviations above what this model gives the memories of this
    story on the whole; 1 where there are too few to tell.
    """
    if len(cosines) < _ENOUGH_COSINES:
        return 1.0
    return min(1.0, fmean(cosines) + 3 * pstdev(cosines))
