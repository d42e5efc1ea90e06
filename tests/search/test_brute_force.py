"""Whatever is done to the index, a search equals brute force over the live passages in scope.

First-stage scores are rank-bm25's arithmetic with the product's idf put in; the second stage is written out naively.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from rank_bm25 import BM25Okapi
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Tx
from talekeeper.search import Index, Kind, PartScope, Passage, Query, Ranking, Source
from talekeeper.text import Terms, document_terms, query_terms

K1, B = 0.9, {Kind.MESSAGE: 0.4, Kind.RECORD: 0.75}
BEST, REACH, MOST = 20, 3, 0.8
ASKING, ANSWERING = 0.2, 0.3
LENT = {
    away: share * 0.6 ** (abs(away) - 1)
    for share, sign in ((0.45, -1), (0.3, 1))
    for away in range(sign, 7 * sign, sign)
}
WORDS = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "willow"]
FORKS = {0: -1, 1: 4, 2: 7}
"""Branch 1 leaves branch 0 after depth 4, branch 2 leaves branch 1 after depth 7."""
DEEPEST = 10
SESSION, WORKSPACE = 0, 1

Live = tuple[tuple[Passage, ...], tuple[Passage, ...]]
"""The passages of the session's partition and of the workspace's."""


def some_text(chance: Random, most: int) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(0, most)))


def some_search(chance: Random, parts: Sequence[int]) -> Query:
    """Most often of all that is on a branch, seldom of nothing."""
    bounds = [chance.choice([None, None, None, chance.randint(0, DEEPEST // 2)]) for _ in range(3)]
    branch, depth = chance.choice([0, 0, 1, 2]), chance.choice([DEEPEST, DEEPEST, chance.randint(-1, DEEPEST)])
    upto = {branch: depth} | {below: min(FORKS[below + 1], depth) for below in range(branch)}
    records = tuple(Source("lore", name, chance.choice([1.0, 2.0])) for name in ("entries", "facts"))
    return Query(
        texts=(some_text(chance, 5),),
        parts=(PartScope(parts[SESSION], upto), PartScope(parts[WORKSPACE], {})),
        sources=chance.choice([(Source(),), records]),
        turn_from=bounds[0],
        turn_to=bounds[1],
        before_turn=bounds[2],
        neighbours=chance.random() < 0.5,
    )


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


def neighbour_score(passages: Sequence[Passage], at: int, terms: Sequence[str]) -> tuple[float, set[str]]:
    """Of the message `at` in the order of the lineage; and the terms it has from neighbours only."""
    others = [(passages[at + away], share) for away, share in LENT.items() if 0 <= at + away < len(passages)]
    average = sum(one.terms.length for one in passages) / len(passages) * (1 + sum(LENT.values()))
    length = passages[at].terms.length + sum(share * one.terms.length for one, share in others)
    b = B[Kind.MESSAGE]
    norm = K1 * (1 - b + b * length / average)
    score, near = 0.0, set[str]()
    for term in terms:
        own = passages[at].terms.counts.get(term, 0)
        lent = sum(share * one.terms.counts.get(term, 0) for one, share in others)
        if asked := answered(passages, at - 1):
            lent += ANSWERING * asked * LENT[-1] * passages[at - 1].terms.counts.get(term, 0)
        tf = own + min(lent, MOST)
        if tf and not own:
            near.add(term)
        df = sum(term in one.terms.counts for one in passages)
        score += idf(len(passages), df) * tf * (K1 + 1) / (tf + norm) if tf else 0.0
    return score * (1 - ASKING * answered(passages, at)), near


def answered(passages: Sequence[Passage], at: int) -> float:
    """The share of a message that asks, where the next one is in another voice."""
    if not 0 <= at < len(passages) - 1:
        return 0
    (share, voice), (_, next_voice) = (divmod(one.manner, 64) for one in passages[at : at + 2])
    return share / 3 if voice != next_voice else 0


@dataclass(frozen=True)
class Expected:
    key: str
    turn: int
    depth: int
    score: float
    matched: frozenset[str]
    near: frozenset[str] = frozenset()

    @property
    def standing(self) -> tuple[float, int, int, str]:
        return -round(self.score, 9), -self.turn, -self.depth, self.key


def brute_force(live: Live, query: Query) -> list[Expected]:
    passages = sorted(visible(live, query), key=lambda one: one.depth)
    terms = query_terms(query.texts[0])
    weight_of = {source.namespace: source.weight for source in query.sources}
    first = sorted(
        (
            Expected(
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
    rescored: dict[str, Expected] = {one.key: one for one in first}
    for at in entering & set(range(len(passages))):
        one = passages[at]
        score, near = neighbour_score(passages, at, terms)
        matched = frozenset(terms) & one.terms.counts.keys()
        rescored[one.key] = Expected(one.key, one.turn, one.depth, score, matched, frozenset(near))
    return list(rescored.values())


def agree(ranking: Ranking, live: Live, query: Query) -> None:
    expected = brute_force(live, query)
    assert ranking.searched == len(visible(live, query))
    assert [hit.key for hit in ranking.hits] == [one.key for one in expected]
    for hit, one in zip(ranking.hits, expected, strict=True):
        assert hit.score == pytest.approx(one.score, abs=1e-6)
        assert (frozenset(hit.matched), frozenset(hit.near), hit.turn) == (one.matched, one.near, one.turn)


Change = Callable[[Tx, Index, Live], Live]
"""Changes the index and tells what is live after it."""

# One seed instead of many small draws: hypothesis would make those small, and most searches empty.
chances = st.randoms(use_true_random=True)
who = st.integers(0, 1)


class RolledBack(Exception):
    """Undoes a write."""


def put(live: Live, part: int, passages: tuple[Passage, ...]) -> Live:
    return (passages, live[WORKSPACE]) if part == SESSION else (live[SESSION], passages)


class IndexMachine(RuleBasedStateMachine):
    """Segments are tiny here, so that a few steps flush and merge."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        for module in ("segments", "maintenance"):
            self.patch.setattr(f"talekeeper.search.{module}.FLUSH", 4)
            self.patch.setattr(f"talekeeper.search.{module}.FAN", 2)
        self.patch.setattr("talekeeper.search.maintenance._WORTH_A_LOOK", 1)
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "store.sqlite"
        clock = FixedClock(datetime(2024, 1, 1, tzinfo=UTC))
        self.dbs = [Database.open(path, clock=clock, synchronous="OFF") for _ in range(2)]
        self.indexes = [Index(), Index(part_budget=1, posting_budget=1)]
        self.live: Live = ((), ())
        self.serial = 0

    @initialize()
    def make_parts(self) -> None:
        index = self.indexes[0]
        self.parts = self.dbs[0].write(lambda tx: [index.part_for(tx, "w", s, "") for s in ("s", "")], name="parts")

    def teardown(self) -> None:
        try:
            for part, passages in zip(self.parts, self.live, strict=True):
                assert self.dbs[0].read(partial(self.indexes[0].check, part=part, expected=passages)) == []
        finally:
            for db in self.dbs:
                db.close()
            self.folder.cleanup()
            self.patch.undo()

    def write(self, *changes: Change, who: int = 0) -> None:
        def run(tx: Tx) -> Live:
            live = self.live
            for change in changes:
                live = change(tx, self.indexes[who], live)
            return live

        self.live = self.dbs[who].write(run, name="change")

    def message(self, branch: int, depth: int, text: str) -> Change:
        """Says, or says anew, what stands at a coordinate."""
        self.serial += 1
        at = max(depth, FORKS[branch] + 1)
        key = f"{branch}-{at}"
        terms, manner = document_terms(text), self.serial % 4 * 64 + self.serial % 7 * 9
        passage = Passage(Kind.MESSAGE, "", "", key, branch, at, at // 2, terms, self.serial, manner=manner)

        def change(tx: Tx, index: Index, live: Live) -> Live:
            index.remove(tx, self.parts[SESSION], kind=Kind.MESSAGE, plugin="", namespace="", key=key)
            index.add(tx, self.parts[SESSION], passage)
            return put(live, SESSION, (*(one for one in live[SESSION] if one.key != key), passage))

        return change

    def version(self, part: int, base: Passage) -> Change:
        self.serial += 1
        passage = replace(base, key=f"{part}{base.key}", revision=self.serial, digest=self.serial)

        def change(tx: Tx, index: Index, live: Live) -> Live:
            index.add(tx, self.parts[part], passage)
            return put(live, part, (*live[part], passage))

        return change

    def removal(self, part: int, victim: Passage, *, whole: bool) -> Change:
        def goes(one: Passage) -> bool:
            same = (one.kind, one.namespace, one.key) == (victim.kind, victim.namespace, victim.key)
            return same and (whole or one.revision == victim.revision)

        def change(tx: Tx, index: Index, live: Live) -> Live:
            gone = index.remove(
                tx,
                self.parts[part],
                kind=victim.kind,
                plugin=victim.plugin,
                namespace=victim.namespace,
                key=victim.key,
                revision=None if whole else victim.revision,
            )
            kept = tuple(one for one in live[part] if not goes(one))
            assert gone == len(live[part]) - len(kept)
            return put(live, part, kept)

        return change

    def some_change(self, chance: Random) -> Change:
        part = chance.choice([SESSION, SESSION, WORKSPACE])
        what = chance.choice(["message", "message", "version", "version", "version", "removal"])
        if what == "removal" and self.live[part]:
            return self.removal(part, chance.choice(self.live[part]), whole=chance.random() < 0.3)
        if what == "version":
            return self.version(part, some_version(chance, at_root=part == WORKSPACE))
        return self.message(chance.choice([0, 0, 1, 2]), chance.randint(0, DEEPEST), some_text(chance, 9))

    @rule(chance=chances, who=who)
    def change(self, chance: Random, who: int) -> None:
        for _ in range(chance.randint(2, 9)):
            self.write(self.some_change(chance), who=who)
            self.search(chance, 1 - who)

    @rule(chance=chances, keep=st.booleans())
    def search_own_writes(self, chance: Random, *, keep: bool) -> None:
        asked = some_search(chance, self.parts)

        def look(tx: Tx, index: Index, live: Live) -> Live:
            agree(index.search(tx, asked), live, asked)
            return live

        def undo(tx: Tx, index: Index, live: Live) -> Live:
            raise RolledBack

        with suppress(RolledBack):
            self.write(self.some_change(chance), look, *(() if keep else (undo,)))
        self.write(self.some_change(chance))
        self.search(chance, 0)

    @rule(chance=chances, who=who)
    def search(self, chance: Random, who: int) -> None:
        asked = some_search(chance, self.parts)

        ranking = self.dbs[who].read(lambda tx: self.indexes[who].search(tx, asked))

        agree(ranking, self.live, asked)

    @rule(chance=chances)
    def read_an_old_snapshot(self, chance: Random) -> None:
        before = self.live

        asked = some_search(chance, self.parts)

        def read(tx: Tx) -> None:
            for _ in range(3):
                agree(self.indexes[0].search(tx, asked), before, asked)
                self.write(self.some_change(chance))
                self.search(chance, 0)
            self.indexes[0].maintain(self.dbs[0])
            agree(self.indexes[0].search(tx, asked), before, asked)

        self.dbs[1].read(read)

    @rule(who=who)
    def maintain(self, who: int) -> None:
        self.indexes[who].maintain(self.dbs[who])

    @rule(part=st.integers(0, 1))
    def purge(self, part: int) -> None:
        self.indexes[1].purge(self.dbs[1], self.parts[part])

        assert self.dbs[0].read(lambda tx: self.indexes[0].unpurged(tx, self.parts[part])) == 0

    @rule(who=who)
    def reload(self, who: int) -> None:
        self.indexes[who] = Index()

    @rule(part=st.integers(0, 1))
    def rebuild(self, part: int) -> None:
        passages = self.live[part]

        def batches(_: Tx, cursor: int | None) -> tuple[Sequence[Passage], int | None]:
            start = cursor or 0
            return passages[start : start + 3], start + 3 if start + 3 < len(passages) else None

        self.indexes[0].rebuild(self.dbs[0], self.parts[part], batches)


def some_version(chance: Random, *, at_root: bool) -> Passage:
    person, withdrawn = chance.random() < 0.3, chance.random() < 0.2
    branch = chance.choice([0, 0, 1, 2])
    depth = max(chance.randint(0, DEEPEST), FORKS[branch] + 1)
    if at_root or person or chance.random() < 0.2:
        branch, depth = 0, -1
    return Passage(
        kind=Kind.RECORD,
        plugin="lore",
        namespace=chance.choice(["entries", "facts"]),
        key=chance.choice(["a", "b", "c"]),
        branch=branch,
        depth=depth,
        turn=depth // 2 if depth >= 0 else -1,
        terms=Terms({}, 0) if withdrawn else document_terms(some_text(chance, 9)),
        digest=0,
        person=person,
        withdrawn=withdrawn,
    )


IndexMachine.TestCase.settings = settings(max_examples=50, stateful_step_count=40)
TestIndexIsBruteForce = IndexMachine.TestCase
