"""Words and meaning in one list: a passage's BM25 score, raised by how far it stands out in meaning.

    score = words + weight · (1 - coverage)^0.5 · max(height, 0)

`words` is the BM25 score and `height` the passage's standing by meaning (`meaning`). `coverage` is what the best
passage reaches of the score that all the query's idf would give, at most 1: where words have found all that was asked
for, meaning has little to add, and where the query uses words that nobody has said it decides. Both summands are of the
size of a log-likelihood, so a query of many matching words outweighs what an encoder makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from talekeeper.search.arrays import Doubles, Positions
from talekeeper.search.meaning import Standing
from talekeeper.search.passage import Closeness
from talekeeper.search.postings import frequencies
from talekeeper.search.shortlist import Field, KeyOf, Place, Rows, Shortlist, join, order, score_rows
from talekeeper.search.tuning import Tuning


def blend(
    found: Shortlist, fields: Sequence[Field], standings: Sequence[Standing], width: int, tuning: Tuning, key_of: KeyOf
) -> Shortlist:
    """The list in its new order, with passages that entered by meaning alone; `found` is in order by words."""
    share = _share(found, fields, tuning)
    entrants = [
        _entrants(number, field, found, standings[number], width, tuning) for number, field in enumerate(fields)
    ]
    every = join(found.terms, found.statistics, [found, *entrants])
    cosine, height = _standing(every, fields, standings)
    adds = share * np.maximum(height, 0) * _weights(every, fields)
    raised = order(replace(every, score=every.score + adds), fields, width, key_of)
    return replace(raised, closeness=_closeness(every, len(found), cosine, height, adds))


def _share(found: Shortlist, fields: Sequence[Field], tuning: Tuning) -> float:
    """What one standard deviation of meaning is worth in this query."""
    attainable = sum(found.statistics.idf[term] for term in found.terms if term not in found.statistics.everyday)
    best = float((found.score / _weights(found, fields)).max(initial=0.0))
    coverage = min(best / attainable, 1.0) if attainable else 0.0
    return tuning.meaning * (1 - coverage) ** tuning.meaning_power


def _entrants(number: int, field: Field, found: Shortlist, standing: Standing, width: int, tuning: Tuning) -> Shortlist:
    """The passages that stand out most and are not in the list, scored by their words."""
    high = np.flatnonzero(standing.height >= tuning.meaning_gate)
    high = high[np.argsort(-standing.height[high], kind="stable")[:width]]
    position = np.setdiff1d(standing.position[high], found.position[found.field == number])
    own = frequencies(field.postings, found.terms, position)
    average = found.statistics.average
    length = field.state.columns.length[position]
    rows = Rows(position, length, average, own, np.zeros_like(own), np.ones(len(position)))
    return score_rows(number, field, rows, found.terms, found.statistics)


def _standing(every: Shortlist, fields: Sequence[Field], standings: Sequence[Standing]) -> tuple[Doubles, Doubles]:
    cosine, height = np.full(len(every), np.nan), np.zeros(len(every))
    for number in range(len(fields)):
        mine = every.field == number
        cosine[mine], height[mine] = standings[number].of(every.position[mine])
    return cosine, height


def _weights(every: Shortlist, fields: Sequence[Field]) -> Doubles:
    """The declared weight of each passage's source."""
    weights = np.ones(len(every))
    for number, field in enumerate(fields):
        if field.scope.weights is not None:
            mine = every.field == number
            weights[mine] = field.scope.weights[every.position[mine]]
    return weights


def _closeness(
    every: Shortlist, by_words: int, cosine: Doubles, height: Doubles, adds: Doubles
) -> dict[Place, Closeness]:
    ranks: Positions = np.empty(len(every), np.intp)
    ranks[np.argsort(-height, kind="stable")] = np.arange(1, len(every) + 1)
    return {
        place: Closeness(float(cosine[row]), float(adds[row]), int(ranks[row]), row + 1 if row < by_words else None)
        for row, place in enumerate(every.places)
        if not np.isnan(cosine[row])
    }
