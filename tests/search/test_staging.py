"""Large segments are written a stretch at a time: no long transaction, and nothing left over when one dies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from talekeeper.db import Database, Tx
from talekeeper.search import Index, PartScope, Passage, Query, Source, check_index, maintain_index
from talekeeper.search.storage import maintenance
from talekeeper.search.storage import segments as staging

PASSAGES = 128


class Died(Exception):
    """Stands for the death of a process in the middle of its work."""


@pytest.fixture
def fill(db: Database, index: Index, part: int, message: Callable[..., Passage]) -> list[Passage]:
    """A tail that is due to be flushed, with more different words than are written at once."""
    every = 2 * staging.STAGED_AT_ONCE // PASSAGES + 1
    texts = [" ".join(f"w{number}x{place}y" for place in range(every)) for number in range(PASSAGES)]
    passages = [message(text, depth) for depth, text in enumerate(texts)]
    db.write(lambda tx: [index.add(tx, part, passage) for passage in passages], name="add")
    return passages


@pytest.fixture
def die_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Has the writing of stretches fail after so many."""

    def arrange(stretches: int) -> None:
        left = [stretches]

        def put(tx: Tx, part: int, segment: int, terms: Sequence[str], blobs: Sequence[bytes]) -> bool:
            if not left[0]:
                monkeypatch.setattr(maintenance, "put", staging.put)
                raise Died
            left[0] -= 1
            return staging.put(tx, part, segment, terms, blobs)

        monkeypatch.setattr(maintenance, "put", put)

    return arrange


def count(db: Database, table: str) -> int:
    row = db.read(lambda tx: tx.one(f"SELECT count(*) FROM {table}"))
    assert row is not None
    return int(row[0])


def keys(db: Database, index: Index, part: int, text: str) -> list[str]:
    query = Query((text,), (PartScope(part, {0: 10_000}),), (Source(),), neighbours=False)
    return [hit.key for hit in db.read(lambda tx: index.search(tx, query)).hits]


def owners(db: Database) -> set[int]:
    """Segments that have postings."""
    return {row[0] for row in db.read(lambda tx: tx.rows("SELECT DISTINCT segment FROM posting"))}


def test_no_transaction_writes_more_postings_than_a_stretch(
    monkeypatch: pytest.MonkeyPatch, db: Database, index: Index, part: int, fill: list[Passage]
) -> None:
    sizes: list[int] = []
    write = db.write

    def counted(fn: Callable[[Tx], Any], *, name: str) -> Any:
        before = count(db, "posting")
        done = write(fn, name=name)
        sizes.append(count(db, "posting") - before)
        return done

    monkeypatch.setattr(db, "write", counted)
    maintain_index(db)

    assert max(sizes) == staging.STAGED_AT_ONCE
    assert sum(sizes) == sum(len(passage.terms.counts) for passage in fill)
    assert db.read(lambda tx: check_index(tx, part, fill)) == []


def test_a_half_written_segment_is_not_searched_and_is_swept_away(
    db: Database, index: Index, part: int, fill: list[Passage], die_after: Callable[[int], None]
) -> None:
    die_after(1)
    with pytest.raises(Died):
        maintain_index(db)
    left = owners(db)
    found = keys(db, index, part, "w7x3y")

    maintain_index(db)

    assert found == ["m7"]
    assert not left & owners(db)
    assert len(owners(db)) == 1
    assert count(db, "retired") == 0
    assert db.read(lambda tx: check_index(tx, part, fill)) == []


def test_who_is_overtaken_leaves_the_partition_to_the_other(
    monkeypatch: pytest.MonkeyPatch, db: Database, index: Index, part: int, fill: list[Passage]
) -> None:
    begin = staging.begin

    def begin_and_be_overtaken(tx: Tx, part: int) -> int:
        segment = begin(tx, part)
        monkeypatch.setattr(maintenance, "begin", begin)
        begin(tx, part)
        return segment

    monkeypatch.setattr(maintenance, "begin", begin_and_be_overtaken)
    maintain_index(db)
    assert count(db, "segment") == 0

    maintain_index(db)

    assert count(db, "segment") == 1
    assert db.read(lambda tx: check_index(tx, part, fill)) == []


def test_a_dropped_partition_takes_the_segment_in_the_making_with_it(
    db: Database, index: Index, part: int, fill: list[Passage], die_after: Callable[[int], None]
) -> None:
    die_after(1)
    with pytest.raises(Died):
        maintain_index(db)

    db.write(lambda tx: index.drop_part(tx, part), name="drop")
    maintain_index(db)

    assert count(db, "posting") == 0


def test_a_forgotten_word_does_not_stay_in_a_half_written_segment(
    db: Database, index: Index, part: int, fill: list[Passage], die_after: Callable[[int], None]
) -> None:
    die_after(1)
    with pytest.raises(Died):
        maintain_index(db)
    gone = fill[0]

    def forget(tx: Tx) -> None:
        index.remove(tx, part, kind=gone.kind, plugin="", namespace="", key=gone.key, forget=True)

    db.write(forget, name="forget")
    maintain_index(db)

    words: Iterable[str] = gone.terms.counts
    marks = ", ".join("?" * len(gone.terms.counts))
    sql = f"SELECT term FROM posting WHERE term IN ({marks})"
    assert db.read(lambda tx: tx.rows(sql, list(words))) == []
