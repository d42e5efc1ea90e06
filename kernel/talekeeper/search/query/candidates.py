"""The best passages of one kind for one wording: picked roughly, scored exactly, put in order.

Messages then go through the second stage (`neighbours`). A partition's part in a query is a `Field`; a passage is
known by its field's number and its position there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from talekeeper.search.passage import Closeness, Kind
from talekeeper.search.query.bm25 import Statistics, norm, weigh
from talekeeper.search.query.params import RankingParams
from talekeeper.search.query.postings import Postings, frequencies
from talekeeper.search.query.scope import Scope
from talekeeper.search.query.top_k import approximate_scores, top_k
from talekeeper.search.storage.columns import Column, Doubles, Ints, Positions
from talekeeper.search.storage.partition import PartState

_DIGITS = 10
_ARRAYS = ("field", "position", "score", "norm", "factor", "own", "near")
"""What `Candidates` has of each row."""

Place = tuple[int, int]
"""(field, position): a passage while a query runs."""
OrderKey = tuple[str, str, str]
"""Plugin, namespace, key."""
KeysOf = Callable[[Sequence[Place]], Mapping[Place, OrderKey]]


class Field(NamedTuple):
    """One partition of a query: its passages of one kind in scope, with the postings of all terms asked."""

    number: int
    state: PartState
    scope: Scope
    kind: Kind
    postings: Postings


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows are passages, best first once ordered; columns of `own` and `near` are `terms`.

    `own` is a term's frequency in the passage, `near` what its neighbours add to it, `norm` the part of the BM25
    divisor that comes of length, `factor` what the sum over the terms is multiplied by. `closeness` says what meaning
    added to scores, where it was asked.
    """

    terms: tuple[str, ...]
    statistics: Statistics
    field: Positions
    position: Positions
    score: Doubles
    norm: Doubles
    factor: Doubles
    own: Doubles
    near: Doubles
    closeness: Mapping[Place, Closeness] = dataclass_field(default_factory=dict[Place, Closeness])

    def __len__(self) -> int:
        return len(self.position)

    @property
    def places(self) -> list[Place]:
        """The passages, in order."""
        return list(zip(self.field.tolist(), self.position.tolist(), strict=True))

    def widened(self, everyday: Sequence[str], weight: float) -> Candidates:
        """The same rows with columns for everyday words behind the others, empty still."""
        more = np.zeros((len(self), len(everyday)))
        return replace(
            self,
            terms=(*self.terms, *everyday),
            statistics=self.statistics.with_everyday(everyday, weight),
            own=np.hstack([self.own, more]),
            near=np.hstack([self.near, more]),
        )

    def rows(self, chosen: Positions) -> Candidates:
        """The chosen rows, in that order."""
        arrays = (getattr(self, name).take(chosen, axis=0) for name in _ARRAYS)
        return Candidates(self.terms, self.statistics, *arrays)


class Rows(NamedTuple):
    """Passages of one field to be scored; `average` is that of lengths like `length`, the rest as in `Candidates`."""

    position: Positions
    length: Column | Doubles
    average: float
    own: Doubles
    near: Doubles
    factor: Doubles


def take_statistics(fields: Sequence[Field], kind: Kind, terms: Sequence[str], params: RankingParams) -> Statistics:
    """Statistics of a kind over all partitions asked."""
    df = dict.fromkeys(terms, 0)
    for field in fields:
        held = field.postings.df()
        for term in terms:
            df[term] += held[term]
    return Statistics.of(
        sum(field.scope.counts[kind] for field in fields),
        sum(field.scope.lengths[kind] for field in fields),
        df,
        params.k1,
        params.b if kind is Kind.MESSAGE else params.b_records,
    )


def find_candidates(fields: Sequence[Field], terms: tuple[str, ...], statistics: Statistics, k: int) -> Candidates:
    """At least the `k` best passages of all fields, unordered; scores include the weight of the source."""
    return join([_of_field(field, terms, statistics, k) for field in fields])


def join(lists: Sequence[Candidates]) -> Candidates:
    """All rows of lists with the same terms, one list behind the other; at least one list."""
    first = lists[0]
    if len(lists) == 1:
        return first
    arrays: list[Any] = [np.concatenate([getattr(one, name) for one in lists]) for name in _ARRAYS]
    return Candidates(first.terms, first.statistics, *arrays)


def _of_field(field: Field, terms: tuple[str, ...], statistics: Statistics, k: int) -> Candidates:
    scores, ratio = approximate_scores(field.postings, terms, statistics, field.state.columns.length)
    weights = field.scope.weights
    if weights is not None:
        scores = scores * weights.astype(np.float32)
    return score_alone(field, top_k(scores, k, ratio), terms, statistics)


def score_alone(field: Field, position: Positions, terms: tuple[str, ...], statistics: Statistics) -> Candidates:
    """Passages of one field, at ascending positions, scored by their own words."""
    own = frequencies(field.postings, terms, position)
    length = field.state.columns.length[position]
    rows = Rows(position, length, statistics.average, own, np.zeros_like(own), np.ones(len(position)))
    return score_rows(field, rows, terms, statistics)


def score_rows(field: Field, rows: Rows, terms: tuple[str, ...], statistics: Statistics) -> Candidates:
    """Rows of one field scored in double precision; the same parts in another order sum up equal."""
    idfs = np.array([statistics.idf[term] for term in terms])
    norms = norm(rows.length, rows.average, statistics)
    weights = field.scope.weights
    factor = rows.factor if weights is None else rows.factor * weights[rows.position]
    total: Doubles = weigh(rows.own + rows.near, idfs, norms, statistics.k1).sum(axis=1)
    score: Doubles = (total * factor).round(_DIGITS)
    which = np.full(len(score), field.number, np.intp)
    return Candidates(terms, statistics, which, rows.position, score, norms, factor, rows.own, rows.near)


def order(found: Candidates, fields: Sequence[Field], k: int, keys_of: KeysOf) -> Candidates:
    """The `k` best rows in order: higher score, later turn, deeper in the story, then plugin, namespace, key."""
    ranking = (-found.score).argsort(kind="stable")
    scores: list[float] = found.score.take(ranking).tolist()
    end = _with_equals(scores, k)
    if len(set(scores[:end])) == end:
        return found.rows(ranking[:k])
    best = found.rows(ranking[:end])
    return best.rows(_break_ties(best, fields, k, keys_of)[:k])


def _with_equals(ranked: Sequence[object], k: int) -> int:
    """How many are the first `k` with all equals of the last of them."""
    end = min(k, len(ranked))
    while 0 < end < len(ranked) and ranked[end] == ranked[end - 1]:
        end += 1
    return end


def _break_ties(found: Candidates, fields: Sequence[Field], k: int, keys_of: KeysOf) -> Positions:
    """At least the `k` best rows of a list in order of scores."""
    turn, depth = column(found, fields, "turn"), column(found, fields, "depth")
    ranking = np.lexsort((-depth, -turn, -found.score))
    best = found.rows(ranking)
    ranks = list(zip(best.score.tolist(), turn[ranking].tolist(), depth[ranking].tolist(), strict=True))
    places = best.places
    runs = [list(run) for _, run in groupby(range(_with_equals(ranks, k)), key=ranks.__getitem__)]
    # Keys are read from the database: only those that decide something.
    keys = keys_of([places[row] for run in runs if len(run) > 1 for row in run])
    result: list[int] = []
    for run in runs:
        result.extend(sorted(run, key=lambda row: (keys[places[row]], places[row])) if len(run) > 1 else run)
    return ranking[np.array(result, np.intp)]


def column(found: Candidates, fields: Sequence[Field], name: str) -> Ints:
    """What `Columns` has of this name for each row."""
    values = np.zeros(len(found), np.int64)
    for field in fields:
        mine = found.field == field.number
        values[mine] = getattr(field.state.columns, name)[found.position[mine]]
    return values
