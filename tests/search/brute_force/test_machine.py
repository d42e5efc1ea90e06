"""Whatever is done to the index, a search equals brute force over the live passages in scope."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Tx
from talekeeper.search import (
    Index,
    Kind,
    PartScope,
    Passage,
    Query,
    Ranking,
    Source,
    check_index,
    maintain_index,
    purge_index,
    rebuild_index,
    unpurged,
)
from talekeeper.text import Terms, document_terms

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


Change = Callable[[Tx, Index, Live], Live]
"""Changes the index and tells what is live after it."""
Agree = Callable[[Ranking, Live, Query], None]
"""Fails unless a ranking is what brute force gives."""

# One seed instead of many small draws: hypothesis would make those small, and most searches empty.
chances = st.randoms(use_true_random=True)
who = st.integers(0, 1)


class RolledBack(Exception):
    """Undoes a write."""


def put(live: Live, part: int, passages: tuple[Passage, ...]) -> Live:
    return (passages, live[WORKSPACE]) if part == SESSION else (live[SESSION], passages)


class IndexMachine(RuleBasedStateMachine):
    """Segments are tiny here, so that a few steps flush and merge."""

    def __init__(self, agree: Agree) -> None:
        super().__init__()
        self.agree = agree
        self.patch = pytest.MonkeyPatch()
        for module in ("segments", "maintenance"):
            self.patch.setattr(f"talekeeper.search.storage.{module}.FLUSH", 4)
            self.patch.setattr(f"talekeeper.search.storage.{module}.FAN", 2)
        self.patch.setattr("talekeeper.search.storage.maintenance._WORTH_A_LOOK", 1)
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "store.sqlite"
        clock = FixedClock(datetime(2024, 1, 1, tzinfo=UTC))
        self.dbs = [Database.open(path, clock=clock, synchronous="OFF") for _ in range(2)]
        self.indexes = [Index(), Index(part_budget=1, posting_budget=1)]
        self.live: Live = ((), ())
        self.serial = 0

    @initialize(light=st.sampled_from([0, 3, 1024]))
    def make_parts(self, light: int) -> None:
        """`light` is up to how many postings a term is added up together with others."""
        self.patch.setattr("talekeeper.search.query.postings._LIGHT", light)
        index = self.indexes[0]
        self.parts = self.dbs[0].write(lambda tx: [index.part_for(tx, "w", s, "") for s in ("s", "")], name="parts")

    def teardown(self) -> None:
        try:
            for part, passages in zip(self.parts, self.live, strict=True):
                assert self.dbs[0].read(partial(check_index, part=part, expected=passages)) == []
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
        terms, features = document_terms(text), self.serial % 4 * 64 + self.serial % 7 * 9
        passage = Passage(Kind.MESSAGE, "", "", key, branch, at, at // 2, terms, self.serial, features=features)

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
            self.agree(index.search(tx, asked), live, asked)
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

        self.agree(ranking, self.live, asked)

    @rule(chance=chances)
    def read_an_old_snapshot(self, chance: Random) -> None:
        before = self.live

        asked = some_search(chance, self.parts)

        def read(tx: Tx) -> None:
            for _ in range(3):
                self.agree(self.indexes[0].search(tx, asked), before, asked)
                self.write(self.some_change(chance))
                self.search(chance, 0)
            maintain_index(self.dbs[0])
            self.agree(self.indexes[0].search(tx, asked), before, asked)

        self.dbs[1].read(read)

    @rule(who=who)
    def maintain(self, who: int) -> None:
        maintain_index(self.dbs[who])

    @rule(part=st.integers(0, 1))
    def purge(self, part: int) -> None:
        purge_index(self.dbs[1], self.parts[part])

        assert self.dbs[0].read(lambda tx: unpurged(tx, self.parts[part])) == 0

    @rule(who=who)
    def reload(self, who: int) -> None:
        self.indexes[who] = Index()

    @rule(part=st.integers(0, 1))
    def rebuild(self, part: int) -> None:
        passages = self.live[part]

        def batches(_: Tx, cursor: int | None) -> tuple[Sequence[Passage], int | None]:
            start = cursor or 0
            return passages[start : start + 3], start + 3 if start + 3 < len(passages) else None

        rebuild_index(self.dbs[0], self.parts[part], batches)


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


def test_a_search_is_brute_force_whatever_was_done_to_the_index(agree: Agree, request: pytest.FixtureRequest) -> None:
    class Machine(IndexMachine):
        def __init__(self) -> None:
            super().__init__(agree)

    examples = 100 if request.config.getoption("--slow") else 15
    run_state_machine_as_test(Machine, settings=settings(max_examples=examples, stateful_step_count=40))
