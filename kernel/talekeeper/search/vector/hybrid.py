"""Words and meaning in one list: a passage's BM25 score, raised by how far it stands out where words leave room.

    score = words - lacks + worth · ((1 - 0.8 · covered) · min(max(z_score, 0), 3))^1.5

`words` is the BM25 score and `z_score` the passage's standing by meaning, in standard deviations (`scores`). `covered`
is the part of the query's idf that `words` comes to, at most 1, and less where neighbours lent them: the more a passage
has of what was asked for, the less it gains, and one that has none of it gains what its meaning is worth. That is 0.85
for a message and 1.5 for a record, which has no neighbours' words to be found by. `lacks` is how far a message by
itself is below the mean, at most `words`: found by words that mean something else there, or by its neighbours' alone,
it is not what was asked for.

The weight of a source multiplies all summands. These are of the size of a log-likelihood, so many matching words
outweigh whatever an encoder makes of them, and words that nobody has said leave it the choice.
docs/reference/search-quality.md has what it gives on fourteen sets. Encoders that say more about a text than the one
measured there gain more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from talekeeper.search.passage import Closeness, Kind
from talekeeper.search.query.bm25 import norm, weigh
from talekeeper.search.query.candidates import Candidates, Field, KeysOf, Place, column, join, order, score_alone
from talekeeper.search.query.params import RankingParams
from talekeeper.search.storage.columns import Doubles, Positions
from talekeeper.search.vector.scores import MeaningScores


def blend(
    found: Candidates,
    fields: Sequence[Field],
    meaning_scores: Sequence[MeaningScores],
    width: int,
    params: RankingParams,
    keys_of: KeysOf,
) -> Candidates:
    """The list in its new order, with passages that entered by meaning alone; `found` is in order by words."""
    entrants = [_entrants(field, found, meaning_scores[field.number], width, params) for field in fields]
    every = join([found, *entrants])
    cosine, z_score, lacks = _z_scores(every, meaning_scores)
    weights = _weights(every, fields)
    room = 1 - params.meaning_covered * _covered(every, fields, weights, params)
    worth = params.meaning_records if fields[0].kind is Kind.RECORD else params.meaning_messages
    gains = worth * (room * np.clip(z_score, 0, params.meaning_most)) ** params.meaning_power
    loses = np.minimum(params.meaning_lacks * lacks * weights, every.score)
    adds = gains * weights - loses
    raised = order(replace(every, score=every.score + adds), fields, width, keys_of)
    return replace(raised, closeness=_closeness(every, len(found), cosine, z_score, adds))


def _covered(every: Candidates, fields: Sequence[Field], weights: Doubles, params: RankingParams) -> Doubles:
    """The part of the query that a passage has, by its score and by its own words alone; from 0 to 1."""
    statistics = every.statistics
    # All the idf of the query: a little above what a passage of average length gets that has each term once.
    attainable = sum(statistics.idf[term] for term in every.terms if term not in statistics.everyday) or 1.0
    idfs = np.array([statistics.idf[term] for term in every.terms])
    norms = norm(column(every, fields, "length"), statistics.average, statistics)
    own: Doubles = weigh(every.own, idfs, norms, statistics.k1).sum(axis=1)  # without neighbours, and without a weight
    by_score = np.minimum(every.score / weights / attainable, 1.0)
    by_own = np.minimum(own / attainable, 1.0)
    covered: Doubles = (1 - params.meaning_own) * by_score + params.meaning_own * by_own
    return covered


def _entrants(
    field: Field, found: Candidates, standing: MeaningScores, width: int, params: RankingParams
) -> Candidates:
    """The passages that stand out most and are not in the list, scored by their words."""
    high = np.flatnonzero(standing.z_score >= params.meaning_gate)
    if len(high) > width:  # with all equals of the last, so that no number in the index decides
        high = high[standing.z_score[high] >= np.partition(standing.z_score[high], -width)[-width]]
    position = np.setdiff1d(standing.position[high], found.position[found.field == field.number])
    return score_alone(field, position, found.terms, found.statistics)


def _z_scores(every: Candidates, meaning_scores: Sequence[MeaningScores]) -> tuple[Doubles, Doubles, Doubles]:
    """Cosine, z-score, and what is lacking, of each row; NaN and twice 0 without a vector."""
    cosine, z_score, lacks = np.full(len(every), np.nan), np.zeros(len(every)), np.zeros(len(every))
    for number, standing in enumerate(meaning_scores):
        mine = every.field == number
        cosine[mine], z_score[mine], lacks[mine] = standing.of(every.position[mine])
    return cosine, z_score, lacks


def _weights(every: Candidates, fields: Sequence[Field]) -> Doubles:
    """The declared weight of each row's source."""
    weights = np.ones(len(every))
    for field in fields:
        if field.scope.weights is not None:
            mine = every.field == field.number
            weights[mine] = field.scope.weights[every.position[mine]]
    return weights


def _closeness(
    every: Candidates, by_words: int, cosine: Doubles, z_score: Doubles, adds: Doubles
) -> dict[Place, Closeness]:
    ranks: Positions = np.empty(len(every), np.intp)
    ranks[np.argsort(-z_score, kind="stable")] = np.arange(1, len(every) + 1)
    return {
        place: Closeness(float(cosine[row]), float(adds[row]), int(ranks[row]), row + 1 if row < by_words else None)
        for row, place in enumerate(every.places)
        if not np.isnan(cosine[row])
    }
