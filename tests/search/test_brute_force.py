"""Whatever is done to the index, a search equals brute force over the live passages in scope.

First-stage scores are rank-bm25's arithmetic with the product's idf put in; the second stage is written out naively.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

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
LENT = {
    away: share * 0.6 ** (abs(away) - 1)
    for share, sign in ((0.45, -1), (0.3, 1))
    for away in range(sign, 7 * sign, sign)
}
WORDS = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "willow"]
FORKS = {0: -1, 1: 4, 2: 7}
"""Branch 1 leaves branch 0 after depth 4, branch 2 leaves branch 1 after depth 7."""
DEEPEST = 10
SOURCES = [Source(), Source("lore", "entries"), Source("lore", "facts")]
SESSION, WORKSPACE = 0, 1

Live = tuple[tuple[Passage, ...], tuple[Passage, ...]]
"""The passages of the session's partition and of the workspace's."""

texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5, unique=True).map(" ".join)
turns = st.one_of(st.none(), st.integers(0, DEEPEST))
branches = st.sampled_from([0, 0, 0, 1, 1, 2])


@dataclass(frozen=True)
class Asked:
    """A search to compare."""

    text: str
    branch: int
    depth: int
    kind: Kind
    weights: tuple[float, float]
    turn_from: int | None
    turn_to: int | None
    before_turn: int | None
    neighbours: bool

    @property
    def upto(self) -> dict[int, int]:
        limits = {self.branch: self.depth}
        for branch in range(self.branch):
            limits[branch] = min(FORKS[branch + 1], self.depth)
        return limits

    @property
    def sources(self) -> tuple[Source, ...]:
        if self.kind is Kind.MESSAGE:
            return (Source(),)
        return tuple(
            Source("lore", name, weight) for name, weight in zip(("entries", "facts"), self.weights, strict=True)
        )

    def query(self, parts: Sequence[int]) -> Query:
        scopes = (PartScope(parts[SESSION], self.upto), PartScope(parts[WORKSPACE], {}))
        return Query(
            texts=(self.text,),
            parts=scopes,
            sources=self.sources,
            turn_from=self.turn_from,
            turn_to=self.turn_to,
            before_turn=self.before_turn,
            neighbours=self.neighbours,
        )


asked = st.builds(
    Asked,
    text=queries,
    branch=branches,
    depth=st.integers(-1, DEEPEST),
    kind=st.sampled_from(list(Kind)),
    weights=st.sampled_from([(1.0, 1.0), (1.0, 1.0), (0.5, 2.0)]),
    turn_from=turns,
    turn_to=turns,
    before_turn=turns,
    neighbours=st.booleans(),
)


# What is in scope


def visible(live: Live, asked: Asked) -> list[Passage]:
    on_lineage = [
        one
        for part, passages in enumerate(live)
        for one in passages
        if (one.branch, one.depth) == (0, -1) or (part == SESSION and one.depth <= asked.upto.get(one.branch, -2))
    ]
    wanted = {(source.plugin, source.namespace) for source in asked.sources}
    of_sources = [one for one in on_lineage if one.kind is asked.kind and (one.plugin, one.namespace) in wanted]
    standing = of_sources if asked.kind is Kind.MESSAGE else standing_versions(of_sources)
    return [one for one in standing if not one.withdrawn and in_turns(one, asked)]


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


def in_turns(one: Passage, asked: Asked) -> bool:
    if one.kind is Kind.MESSAGE and asked.before_turn is not None and one.turn >= asked.before_turn:
        return False
    if asked.turn_from is None and asked.turn_to is None:
        return True
    low = 0 if asked.turn_from is None else asked.turn_from
    high = math.inf if asked.turn_to is None else asked.turn_to
    return one.turn >= 0 and low <= one.turn <= high


# How it is ranked


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
        tf = own + min(lent, MOST)
        if tf and not own:
            near.add(term)
        df = sum(term in one.terms.counts for one in passages)
        score += idf(len(passages), df) * tf * (K1 + 1) / (tf + norm) if tf else 0.0
    return score, near


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


def brute_force(live: Live, asked: Asked) -> list[Expected]:
    passages = sorted(visible(live, asked), key=lambda one: one.depth)
    terms = query_terms(asked.text)
    weight_of = {source.namespace: source.weight for source in asked.sources}
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
    if asked.kind is Kind.RECORD or not asked.neighbours:
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


def agree(ranking: Ranking, live: Live, asked: Asked) -> None:
    expected = brute_force(live, asked)
    assert ranking.searched == len(visible(live, asked))
    assert [hit.key for hit in ranking.hits] == [one.key for one in expected]
    for hit, one in zip(ranking.hits, expected, strict=True):
        assert hit.score == pytest.approx(one.score, abs=1e-6)
        assert (frozenset(hit.matched), frozenset(hit.near), hit.turn) == (one.matched, one.near, one.turn)


# What is done to it


class RolledBack(Exception):
    pass


class IndexMachine(RuleBasedStateMachine):
    """Segments are tiny here, so that a few steps flush and merge."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr("talekeeper.search.segments.FLUSH", 4)
        self.patch.setattr("talekeeper.search.segments.FAN", 2)
        self.patch.setattr("talekeeper.search.maintenance.FLUSH", 4)
        self.patch.setattr("talekeeper.search.maintenance.FAN", 2)
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
        self.parts = self.dbs[0].write(
            lambda tx: [self.indexes[0].part_for(tx, "w", "s", ""), self.indexes[0].part_for(tx, "w", "", "")],
            name="parts",
        )

    def teardown(self) -> None:
        try:
            for part, passages in zip(self.parts, self.live, strict=True):
                assert self.dbs[0].read(partial(self.indexes[0].check, part=part, expected=passages)) == []
        finally:
            for db in self.dbs:
                db.close()
            self.folder.cleanup()
            self.patch.undo()

    def write(self, *changes: Callable[[Tx, Index, Live], Live], who: int = 0) -> None:
        def run(tx: Tx) -> Live:
            live = self.live
            for change in changes:
                live = change(tx, self.indexes[who], live)
            return live

        self.live = self.dbs[who].write(run, name="change")

    def message(self, branch: int, depth: int, text: str) -> Callable[[Tx, Index, Live], Live]:
        """Says, or says anew, what stands at a coordinate."""
        self.serial += 1
        at = max(depth, FORKS[branch] + 1)
        key = f"{branch}-{at}"
        passage = Passage(Kind.MESSAGE, "", "", key, branch, at, at // 2, document_terms(text), self.serial)

        def change(tx: Tx, index: Index, live: Live) -> Live:
            index.remove(tx, self.parts[SESSION], kind=Kind.MESSAGE, plugin="", namespace="", key=key)
            index.add(tx, self.parts[SESSION], passage)
            return ((*(one for one in live[SESSION] if one.key != key), passage), live[WORKSPACE])

        return change

    def version(self, part: int, base: Passage) -> Callable[[Tx, Index, Live], Live]:
        self.serial += 1
        passage = replace(base, key=f"{part}{base.key}", revision=self.serial, digest=self.serial)

        def change(tx: Tx, index: Index, live: Live) -> Live:
            index.add(tx, self.parts[part], passage)
            return put(live, part, (*live[part], passage))

        return change

    def removal(self, part: int, victim: Passage, *, whole: bool) -> Callable[[Tx, Index, Live], Live]:
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

    def some_change(self, data: st.DataObject) -> Callable[[Tx, Index, Live], Live]:
        part = data.draw(st.sampled_from([SESSION, WORKSPACE]))
        what = data.draw(st.sampled_from(["message", "message", "version", "version", "removal"]))
        if what == "removal" and self.live[part]:
            victim = data.draw(st.sampled_from(self.live[part]))
            return self.removal(part, victim, whole=data.draw(st.booleans()))
        if what == "version":
            return self.version(part, data.draw(versions if part == SESSION else root_versions))
        return self.message(data.draw(branches), data.draw(st.integers(0, DEEPEST)), data.draw(texts))

    @rule(data=st.data(), who=st.integers(0, 1), asked=st.lists(asked, min_size=1, max_size=4))
    def change(self, data: st.DataObject, who: int, asked: Sequence[Asked]) -> None:
        for each in asked:
            self.write(self.some_change(data), who=who)
            self.search(each, 1 - who)

    @rule(data=st.data(), asked=asked, keep=st.booleans())
    def search_own_writes(self, data: st.DataObject, asked: Asked, *, keep: bool) -> None:
        changes = [self.some_change(data) for _ in range(2)]

        def look(tx: Tx, index: Index, live: Live) -> Live:
            agree(index.search(tx, asked.query(self.parts)), live, asked)
            if not keep:
                raise RolledBack
            return live

        with suppress(RolledBack):
            self.write(changes[0], look) if keep else self.write(changes[0], look, changes[1])

    @rule(asked=asked, who=st.integers(0, 1))
    def search(self, asked: Asked, who: int) -> None:
        ranking = self.dbs[who].read(lambda tx: self.indexes[who].search(tx, asked.query(self.parts)))

        agree(ranking, self.live, asked)

    @rule(data=st.data(), asked=asked, later=asked)
    def read_an_old_snapshot(self, data: st.DataObject, asked: Asked, later: Asked) -> None:
        before = self.live

        def read(tx: Tx) -> None:
            agree(self.indexes[0].search(tx, asked.query(self.parts)), before, asked)
            self.write(self.some_change(data))
            self.indexes[0].maintain(self.dbs[0])
            self.search(later, 0)
            agree(self.indexes[0].search(tx, asked.query(self.parts)), before, asked)

        self.dbs[1].read(read)

    @rule(who=st.integers(0, 1))
    def maintain(self, who: int) -> None:
        self.indexes[who].maintain(self.dbs[who])

    @rule(part=st.integers(0, 1))
    def purge(self, part: int) -> None:
        self.indexes[1].purge(self.dbs[1], self.parts[part])

        assert self.dbs[0].read(lambda tx: self.indexes[0].unpurged(tx, self.parts[part])) == 0

    @rule(who=st.integers(0, 1))
    def reload(self, who: int) -> None:
        self.indexes[who] = Index()

    @rule(part=st.integers(0, 1))
    def rebuild(self, part: int) -> None:
        passages = self.live[part]

        def batches(_: Tx, cursor: int | None) -> tuple[Sequence[Passage], int | None]:
            start = cursor or 0
            return passages[start : start + 3], start + 3 if start + 3 < len(passages) else None

        self.indexes[0].rebuild(self.dbs[0], self.parts[part], batches)


def put(live: Live, part: int, passages: tuple[Passage, ...]) -> Live:
    return (passages, live[WORKSPACE]) if part == SESSION else (live[SESSION], passages)


def make_version(place: tuple[int, int], key: str, namespace: str, text: str, flags: Mapping[str, bool]) -> Passage:
    branch, depth = place
    if flags["person"]:
        branch, depth = 0, -1
    elif depth >= 0:
        depth = max(depth, FORKS[branch] + 1)
    else:
        branch = 0
    return Passage(
        kind=Kind.RECORD,
        plugin="lore",
        namespace=namespace,
        key=key,
        branch=branch,
        depth=depth,
        turn=depth // 2 if depth >= 0 else -1,
        terms=Terms({}, 0) if flags["withdrawn"] else document_terms(text),
        digest=0,
        person=flags["person"],
        withdrawn=flags["withdrawn"],
    )


flags = st.sampled_from(
    [
        {"person": False, "withdrawn": False},
        {"person": False, "withdrawn": False},
        {"person": False, "withdrawn": True},
        {"person": True, "withdrawn": False},
        {"person": True, "withdrawn": True},
    ]
)
keys = st.sampled_from(["a", "b"])
names = st.sampled_from(["entries", "facts"])
versions = st.builds(make_version, st.tuples(branches, st.integers(-1, DEEPEST)), keys, names, texts, flags)
root_versions = st.builds(make_version, st.just((0, -1)), keys, names, texts, flags)

IndexMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40)
TestIndexIsBruteForce = IndexMachine.TestCase
