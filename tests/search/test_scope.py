"""Who asks sees what is theirs, and nothing else has any influence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from talekeeper.db import Database
from talekeeper.search import Index, PartScope, Passage, Query, Ranking, Source

ENTRIES = (Source("lore", "entries"),)
Make = Callable[..., Passage]
Search = Callable[..., Ranking]


@pytest.fixture
def search(db: Database, index: Index, part: int) -> Search:
    def ask(
        text: str, *, upto: dict[int, int] | None = None, sources: Sequence[Source] = (Source(),), **bounds: Any
    ) -> Ranking:
        scope = PartScope(part, {0: 1000} if upto is None else upto)
        query = Query((text,), (scope,), tuple(sources), neighbours=False, **bounds)
        return db.read(lambda tx: index.search(tx, query))

    return ask


@pytest.fixture
def add(db: Database, index: Index, part: int) -> Callable[..., None]:
    def put(*passages: Passage) -> None:
        db.write(lambda tx: [index.add(tx, part, one) for one in passages], name="add")

    return put


def keys(ranking: Ranking) -> list[str]:
    return [hit.key for hit in ranking.hits]


def test_another_branch_is_not_found(add: Callable[..., None], search: Search, message: Make) -> None:
    add(message("a silver key", 1), message("a silver ring", 5), message("a silver coin", 5, key="other", branch=1))

    assert keys(search("silver", upto={0: 3, 1: 9})) == ["other", "m1"]
    assert keys(search("silver", upto={0: 9})) == ["m5", "m1"]


def test_what_lies_behind_the_head_is_not_found(add: Callable[..., None], search: Search, message: Make) -> None:
    add(message("a silver key", 1), message("a silver ring", 2))

    assert keys(search("silver", upto={0: 1})) == ["m1"]


def test_the_root_lies_on_every_lineage(add: Callable[..., None], search: Search, record: Make) -> None:
    add(record("a silver key", "k"))

    assert keys(search("silver", upto={}, sources=ENTRIES)) == ["k"]
    assert keys(search("silver", upto={3: 7}, sources=ENTRIES)) == ["k"]


def test_lineages_of_branches_nobody_wrote_on_cost_nothing(
    add: Callable[..., None], search: Search, message: Make
) -> None:
    add(message("a silver key", 1))

    assert keys(search("silver", upto={0: 2**40, 2**40: 5})) == ["m1"]


def test_a_namespace_that_is_not_asked_is_not_read(add: Callable[..., None], search: Search, record: Make) -> None:
    add(record("a silver key", "open"), record("a silver lie", "hidden", namespace="secrets"))

    found = search("silver", sources=ENTRIES)

    assert keys(found) == ["open"]
    assert found.searched == 1


def test_a_source_nobody_filled_is_empty(add: Callable[..., None], search: Search, message: Make) -> None:
    add(message("a silver key", 1))

    assert search("silver", sources=(Source("nobody", "nothing"),)) == Ranking((), 0)


@pytest.mark.parametrize(
    ("bounds", "found"),
    [
        pytest.param({}, ["m3", "m2", "m1", "old"], id="none"),
        pytest.param({"turn_from": 2}, ["m3", "m2"], id="from"),
        pytest.param({"turn_to": 2}, ["m2", "m1"], id="to"),
        pytest.param({"turn_from": 2, "turn_to": 2}, ["m2"], id="both"),
        pytest.param({"before_turn": 3}, ["m2", "m1", "old"], id="running-turn"),
    ],
)
def test_turns_are_inclusive_and_an_unknown_one_is_outside(
    add: Callable[..., None], search: Search, message: Make, bounds: dict[str, int], found: list[str]
) -> None:
    add(message("silver ash", 0, key="old", turn=-1), message("silver elm", 1))
    add(message("silver fir", 2), message("silver oak", 3))

    ranking = search("silver", **bounds)

    assert keys(ranking) == found


def test_records_of_the_running_turn_are_found(add: Callable[..., None], search: Search, record: Make) -> None:
    add(record("a silver key", "k", at=(0, 4), turn=4))

    assert keys(search("silver", sources=ENTRIES, before_turn=4)) == ["k"]


@pytest.mark.parametrize(
    ("versions", "found"),
    [
        pytest.param([("old", (0, 1), 1, ""), ("new", (0, 2), 2, "")], "new", id="deepest"),
        pytest.param([("deep", (0, 2), 1, ""), ("later", (0, 1), 2, "")], "deep", id="deepest-though-older"),
        pytest.param([("old", (0, 2), 1, ""), ("new", (0, 2), 2, "")], "new", id="then-highest-revision"),
        pytest.param([("old", (0, 2), 1, ""), ("hand", (0, -1), 2, "p")], "hand", id="a-persons-beats-older"),
        pytest.param([("hand", (0, -1), 1, "p"), ("new", (0, 2), 2, "")], "new", id="until-a-later-one"),
        pytest.param([("old", (0, 1), 1, ""), ("gone", (0, 2), 2, "w")], "", id="withdrawn-hides"),
        pytest.param([("hand", (0, -1), 1, "p"), ("gone", (0, -1), 2, "pw")], "", id="a-person-withdraws"),
        pytest.param([("old", (0, 1), 1, ""), ("beyond", (0, 9), 2, "")], "old", id="beyond-the-head"),
        pytest.param([("old", (0, 1), 1, ""), ("aside", (1, 2), 2, "w")], "old", id="withdrawn-elsewhere"),
    ],
)
def test_one_version_of_a_key_stands_on_a_lineage(
    add: Callable[..., None],
    search: Search,
    record: Make,
    versions: list[tuple[str, tuple[int, int], int, str]],
    found: str,
) -> None:
    for word, at, revision, flags in versions:
        add(record(f"silver {word}", "k", at=at, revision=revision, person="p" in flags, withdrawn="w" in flags))

    ranking = search("silver", upto={0: 5}, sources=ENTRIES)

    assert ranking.searched == (1 if found else 0)
    assert keys(search(found, upto={0: 5}, sources=ENTRIES)) == (["k"] if found else [])


def test_a_beaten_version_does_not_come_back_by_its_turn(
    add: Callable[..., None], search: Search, record: Make
) -> None:
    add(record("silver", "k", at=(0, 1), turn=1), record("silver", "k", at=(0, 5), turn=5, revision=2))

    assert keys(search("silver", sources=ENTRIES, turn_to=3)) == []


def test_words_out_of_scope_do_not_move_a_score(add: Callable[..., None], search: Search, message: Make) -> None:
    add(message("the silver key", 1), message("an iron gate", 2))
    alone = search("silver key", upto={0: 2})

    add(*(message("silver silver key", 10 + i, branch=1, key=f"x{i}") for i in range(30)))

    assert search("silver key", upto={0: 2}) == alone


def test_statistics_are_summed_over_the_partitions_asked(db: Database, index: Index, part: int, record: Make) -> None:
    other = db.write(lambda tx: index.part_for(tx, "w", "", ""), name="make")
    db.write(
        lambda tx: [index.add(tx, part, record("silver key", "a")), index.add(tx, other, record("key", "b"))],
        name="add",
    )
    both = Query(("silver key",), (PartScope(part, {}), PartScope(other, {})), ENTRIES, explain=True)

    ranking = db.read(lambda tx: index.search(tx, both))

    assert {(row.term, row.df) for hit in ranking.hits for row in hit.explanation} == {("silver", 1), ("key", 2)}
    assert [(hit.part, hit.key) for hit in ranking.hits] == [(part, "a"), (other, "b")]


def test_a_partition_that_is_not_there_holds_nothing(db: Database, index: Index) -> None:
    query = Query(("silver",), (PartScope(99, {}),), (Source(),))

    assert db.read(lambda tx: index.search(tx, query)) == Ranking((), 0)
    assert db.read(lambda tx: index.find_part(tx, "nobody", "", "")) is None


def test_a_scope_has_one_partition(db: Database, index: Index) -> None:
    made = db.write(
        lambda tx: [index.part_for(tx, "w", s, p) for s, p in (("", ""), ("s", ""), ("", "p"), ("s", ""))], name="m"
    )

    assert made[1] == made[3]
    assert len(set(made)) == 3
    assert db.read(lambda tx: index.find_part(tx, "w", "", "p")) == made[2]
