"""What a search should find, worked out over the live passages in scope without any index.

First-stage scores are rank-bm25's arithmetic with the product's idf put in; the second stage is written out naively.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import pytest
from rank_bm25 import BM25Okapi
from talekeeper.search import Kind, Passage, Query, Ranking, Source
from talekeeper.text import query_terms

K1, B = 0.9, {Kind.MESSAGE: 0.4, Kind.RECORD: 0.75}
BEST, REACH, MOST = 20, 4, 0.8
ASKING, ANSWERING, MONOLOGUE = 0.2, 0.3, 0.5
LENT = {
    away: share * 0.6 ** (abs(away) - 1)
    for share, sign in ((0.45, -1), (0.3, 1))
    for away in range(sign, 7 * sign, sign)
}

Live = tuple[tuple[Passage, ...], tuple[Passage, ...]]
"""The passages of the session's partition and of the workspace's."""


@pytest.fixture
def agree() -> Callable[[Ranking, Live, Query], None]:
    """Fails unless a ranking is what brute force over the live passages gives."""
    return _agree


def visible(live: Live, query: Query) -> list[Passage]:
    on_lineage = [
        one
        for part, passages in enumerate(live)
        for one in passages
        if (one.branch, one.depth) == (0, -1) or (one.depth <= query.parts[part].upto.get(one.branch, -2))
    ]
    wanted = {(source.plugin, source.namespace) for source in query.sources}
    of_sources = [one for one in on_lineage if (one.plugin, one.namespace) in wanted]
    standing = of_sources if Source() in query.sources else standing_versions(of_sources)
    return [one for one in standing if not one.withdrawn and in_turns(one, query)]


def standing_versions(versions: Sequence[Passage]) -> list[Passage]:
    by_key: dict[tuple[str, str], list[Passage]] = {}
    for one in versions:
        by_key.setdefault((one.namespace, one.key), []).append(one)
    winners: list[Passage] = []
    for group in by_key.values():
        newest_by_person = max((one.revision for one in group if one.person), default=-1)
        left = [one for one in group if one.revision >= newest_by_person]
        winners.append(max(left, key=lambda one: (one.depth, one.revision)))
    return winners


def in_turns(one: Passage, query: Query) -> bool:
    if one.kind is Kind.MESSAGE and query.before_turn is not None and one.turn >= query.before_turn:
        return False
    is_bounded = query.turn_from is not None or query.turn_to is not None
    low, high = query.turn_from or 0, math.inf if query.turn_to is None else query.turn_to
    return not is_bounded or (one.turn >= 0 and low <= one.turn <= high)


def idf(total: int, df: int) -> float:
    return math.log(1 + (total - df + 0.5) / (df + 0.5))


def oracle_scores(passages: Sequence[Passage], terms: Sequence[str]) -> list[float]:
    """By rank-bm25, which has no answer for a corpus without words."""
    corpus = [[term for term, tf in one.terms.counts.items() for _ in range(tf)] for one in passages]
    if not any(corpus):
        return [0.0] * len(passages)
    engine = BM25Okapi(corpus, k1=K1, b=B[passages[0].kind])
    df = Counter(term for words in corpus for term in set(words))
    engine.idf = {term: idf(len(corpus), df[term]) for term in df}
    return [float(score) for score in engine.get_scores(terms)]


def neighbour_score(passages: Sequence[Passage], at: int, terms: Sequence[str], part: float) -> tuple[float, set[str]]:
    """Of the message `at` in the order of the lineage; and the terms it has from neighbours only.

    `part` of the usual is lent.
    """
    others = [(passages[at + away], share) for away, share in LENT.items() if 0 <= at + away < len(passages)]
    average = sum(one.terms.length for one in passages) / len(passages) * (1 + part * sum(LENT.values()))
    length = passages[at].terms.length + part * sum(share * one.terms.length for one, share in others)
    b = B[Kind.MESSAGE]
    norm = K1 * (1 - b + b * length / average)
    score, near = 0.0, set[str]()
    for term in terms:
        own = passages[at].terms.counts.get(term, 0)
        lent = sum(share * one.terms.counts.get(term, 0) for one, share in others)
        if asked := answered(passages, at - 1):
            lent += ANSWERING * asked * LENT[-1] * passages[at - 1].terms.counts.get(term, 0)
        tf = own + part * min(lent, MOST)
        if tf and not own:
            near.add(term)
        df = sum(term in one.terms.counts for one in passages)
        score += idf(len(passages), df) * tf * (K1 + 1) / (tf + norm) if tf else 0.0
    return score * (1 - ASKING * answered(passages, at)), near


def turns_taken(passages: Sequence[Passage], entering: Collection[int]) -> float:
    """The share of messages around those that enter which another voice follows."""
    around = [at for at in range(len(passages)) if any(abs(at - one) <= 6 for one in entering)]
    voices = {at: passages[at].features % 64 for at in around}
    changes = [voices[at] != voices[at + 1] for at in around if at + 1 in voices]
    return sum(changes) / len(changes) if changes else 1.0


def answered(passages: Sequence[Passage], at: int) -> float:
    """The share of a message that asks, where the next one is in another voice."""
    if not 0 <= at < len(passages) - 1:
        return 0
    (share, voice), (_, next_voice) = (divmod(one.features, 64) for one in passages[at : at + 2])
    return share / 3 if voice != next_voice else 0


@dataclass(frozen=True)
class Expected:
    namespace: str
    key: str
    turn: int
    depth: int
    score: float
    matched: frozenset[str]
    near: frozenset[str] = frozenset()

    @property
    def standing(self) -> tuple[float, int, int, str, str]:
        return -round(self.score, 9), -self.turn, -self.depth, self.namespace, self.key


def brute_force(live: Live, query: Query) -> list[Expected]:
    passages = sorted(visible(live, query), key=lambda one: one.depth)
    terms = query_terms(query.texts[0])
    weight_of = {source.namespace: source.weight for source in query.sources}
    first = sorted(
        (
            Expected(
                one.namespace,
                one.key,
                one.turn,
                one.depth,
                score * weight_of[one.namespace],
                frozenset(terms) & one.terms.counts.keys(),
            )
            for one, score in zip(passages, oracle_scores(passages, terms), strict=True)
            if not one.terms.counts.keys().isdisjoint(terms)
        ),
        key=lambda one: one.standing,
    )
    if Source() not in query.sources or not query.neighbours:
        return first
    return sorted(second_stage(passages, terms, first), key=lambda one: one.standing)


def second_stage(passages: Sequence[Passage], terms: Sequence[str], first: Sequence[Expected]) -> list[Expected]:
    place = {one.key: i for i, one in enumerate(passages)}
    entering = {place[one.key] + away for one in first[:BEST] for away in range(-REACH, REACH + 1)}
    entering &= set(range(len(passages)))
    part = MONOLOGUE + (1 - MONOLOGUE) * turns_taken(passages, entering)
    rescored: dict[str, Expected] = {one.key: one for one in first}
    for at in entering:
        one = passages[at]
        score, near = neighbour_score(passages, at, terms, part)
        matched = frozenset(terms) & one.terms.counts.keys()
        rescored[one.key] = Expected(one.namespace, one.key, one.turn, one.depth, score, matched, frozenset(near))
    return list(rescored.values())


def _agree(ranking: Ranking, live: Live, query: Query) -> None:
    expected = brute_force(live, query)
    assert ranking.searched == len(visible(live, query))
    assert [(hit.namespace, hit.key) for hit in ranking.hits] == [(one.namespace, one.key) for one in expected]
    for hit, one in zip(ranking.hits, expected, strict=True):
        assert hit.score == pytest.approx(one.score, abs=1e-6)
        assert (frozenset(hit.matched), frozenset(hit.near), hit.turn) == (one.matched, one.near, one.turn)
