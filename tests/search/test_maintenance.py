"""Flush, merge and purge change where words stand, never what is found; forgotten words leave the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.db import Database, Tx
from talekeeper.search import (
    Index,
    Kind,
    PartScope,
    Passage,
    Query,
    Ranking,
    Source,
    maintain_index,
    purge_index,
    unpurged,
    unpurged_parts,
)
from talekeeper.search.storage import maintenance, segments

Make = Callable[..., Passage]
WORDS = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine"]


@pytest.fixture
def add(db: Database, index: Index, part: int, message: Make) -> Callable[[int, int], None]:
    """Adds messages from one depth to another."""

    def put(start: int, end: int) -> None:
        texts = [" ".join(WORDS[(i * k) % len(WORDS)] for k in range(1, 4)) for i in range(start, end)]
        db.write(lambda tx: [index.add(tx, part, message(text, start + i)) for i, text in enumerate(texts)], name="add")

    return put


@pytest.fixture
def remove(db: Database, index: Index, part: int) -> Callable[..., None]:
    def take(*depths: int, forget: bool = False) -> None:
        def change(tx: Tx) -> None:
            for depth in depths:
                index.remove(tx, part, kind=Kind.MESSAGE, plugin="", namespace="", key=f"m{depth}", forget=forget)

        db.write(change, name="remove")

    return take


def ask(db: Database, index: Index, part: int, text: str = "birch fir pine") -> Ranking:
    return db.read(lambda tx: index.search(tx, Query((text,), (PartScope(part, {0: 99_999}),), (Source(),))))


def sizes(db: Database) -> list[tuple[int, int]]:
    """Level and size of every segment."""
    return [(level, n) for level, n in db.read(lambda tx: tx.rows("SELECT level, n FROM segment ORDER BY part, lo"))]


def count(db: Database, table: str) -> int:
    row = db.read(lambda tx: tx.one(f"SELECT count(*) FROM {table}"))
    return int(row[0]) if row else 0


@pytest.mark.parametrize(
    ("passages", "expected", "tail"),
    [
        pytest.param(127, [], 127, id="too-few"),
        pytest.param(128, [(0, 128)], 0, id="just-enough"),
        pytest.param(350, [(0, 128), (0, 128)], 94, id="as-many-as-there-are"),
        pytest.param(1024, [(1, 1024)], 0, id="many-at-once"),
        pytest.param(1200, [(1, 1024), (0, 128)], 48, id="many-and-some"),
    ],
)
def test_the_tail_is_flushed_in_whole_segments(
    db: Database,
    index: Index,
    add: Callable[[int, int], None],
    passages: int,
    expected: list[tuple[int, int]],
    tail: int,
) -> None:
    add(0, passages)

    maintain_index(db)

    assert sizes(db) == expected
    assert count(db, "tail") == tail


def test_eight_segments_of_a_level_become_one(
    db: Database, index: Index, part: int, add: Callable[[int, int], None]
) -> None:
    for start in range(0, 8 * 128, 128):
        add(start, start + 128)
        before = ask(db, index, part)
        maintain_index(db)

        assert ask(db, index, part) == before

    assert sizes(db) == [(1, 1024)]
    assert count(db, "retired") == 0
    assert count(db, "posting") == len(WORDS)


def test_merging_stops_at_the_top_level(
    monkeypatch: pytest.MonkeyPatch, db: Database, index: Index, part: int, add: Callable[[int, int], None]
) -> None:
    for module in ("segments", "maintenance"):
        monkeypatch.setattr(f"talekeeper.search.storage.{module}.FLUSH", 2)
        monkeypatch.setattr(f"talekeeper.search.storage.{module}.FAN", 2)
    for start in range(0, 64, 2):
        add(start, start + 2)
        maintain_index(db)

    assert sizes(db) == [(3, 16)] * 4
    assert ask(db, index, part) == ask(db, Index(), part)


def test_a_segment_that_is_a_quarter_dead_is_rewritten(
    db: Database, index: Index, part: int, add: Callable[[int, int], None], remove: Callable[..., None]
) -> None:
    add(0, 128)
    maintain_index(db)
    remove(*range(31))
    maintain_index(db)
    assert sizes(db) == [(0, 128)]

    remove(31)
    before = ask(db, index, part)
    maintain_index(db)

    assert sizes(db) == [(0, 96)]
    assert count(db, "dead") == 0
    assert ask(db, index, part) == before


def test_a_segment_without_life_goes(
    db: Database, index: Index, part: int, add: Callable[[int, int], None], remove: Callable[..., None]
) -> None:
    add(0, 128)
    maintain_index(db)
    remove(*range(128))

    maintain_index(db)

    assert (sizes(db), count(db, "posting"), count(db, "dead")) == ([], 0, 0)
    assert ask(db, index, part) == Ranking((), 0)


def test_a_passage_removed_from_the_tail_leaves_no_tombstone_behind_the_flush(
    db: Database, index: Index, add: Callable[[int, int], None], remove: Callable[..., None]
) -> None:
    add(0, 128)
    remove(3, 4, 5)

    maintain_index(db)

    assert sizes(db) == [(0, 125)]
    assert count(db, "dead") == 0


def test_an_edit_is_a_removal_and_an_addition(
    db: Database, index: Index, part: int, add: Callable[[int, int], None], remove: Callable[..., None], message: Make
) -> None:
    add(0, 300)
    maintain_index(db)
    remove(7)
    db.write(lambda tx: index.add(tx, part, message("zircon", 7)), name="add")

    assert [hit.key for hit in ask(db, index, part, "zircon").hits][:1] == ["m7"]
    assert all(hit.turn != 7 for hit in ask(db, index, part, "ash").hits if "ash" in hit.matched)


def everything_on_disk(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


@pytest.mark.parametrize("settled", [True, False], ids=["from-a-segment", "from-the-tail"])
def test_a_forgotten_word_leaves_the_file_with_the_next_maintenance(
    db: Database,
    path: Path,
    index: Index,
    part: int,
    add: Callable[[int, int], None],
    remove: Callable[..., None],
    message: Make,
    *,
    settled: bool,
) -> None:
    db.write(lambda tx: index.add(tx, part, message("xylophone ash", 900)), name="add")
    add(0, 127)
    if settled:
        maintain_index(db)
    assert b"xylophon" in everything_on_disk(path)

    remove(900, forget=True)
    maintain_index(db)
    db.checkpoint()

    assert db.read(lambda tx: unpurged(tx, part)) == 0
    assert b"xylophon" not in everything_on_disk(path)


def test_a_purge_that_dies_before_the_words_are_gone_can_be_seen_to_have_left_them(
    monkeypatch: pytest.MonkeyPatch,
    db: Database,
    index: Index,
    part: int,
    add: Callable[[int, int], None],
    remove: Callable[..., None],
) -> None:
    def die(_: Database) -> None:
        raise RuntimeError

    add(0, 300)
    maintain_index(db)
    remove(7)
    assert db.read(unpurged_parts) == []
    remove(9, forget=True)
    with monkeypatch.context() as dying:
        dying.setattr(maintenance, "_sweep", die)
        with pytest.raises(RuntimeError):
            maintain_index(db)

    left = db.read(unpurged_parts)
    maintain_index(db)

    assert left == [("w", "s", "")]
    assert db.read(unpurged_parts) == []


def test_forgetting_takes_the_words_of_earlier_versions_too(
    db: Database,
    path: Path,
    index: Index,
    part: int,
    add: Callable[[int, int], None],
    remove: Callable[..., None],
    message: Make,
) -> None:
    db.write(lambda tx: index.add(tx, part, message("xylophone ash", 900)), name="add")
    add(0, 127)
    maintain_index(db)
    remove(900)
    maintain_index(db)
    assert db.read(lambda tx: unpurged(tx, part)) == 1

    remove(900, forget=True)
    maintain_index(db)
    db.checkpoint()

    assert b"xylophon" not in everything_on_disk(path)


def test_purging_leaves_no_removed_word(
    db: Database, index: Index, part: int, add: Callable[[int, int], None], remove: Callable[..., None]
) -> None:
    add(0, 600)
    maintain_index(db)
    remove(1, 2, 300, 590)
    before = ask(db, index, part)

    purge_index(db, part)

    assert db.read(lambda tx: unpurged(tx, part)) == 0
    assert sizes(db) == [(0, 126), (0, 128), (0, 127), (0, 128)]
    assert ask(db, index, part) == before


def test_a_dropped_partition_leaves_nothing(
    db: Database, index: Index, part: int, add: Callable[[int, int], None], message: Make
) -> None:
    other = db.write(lambda tx: index.part_for(tx, "w", "", ""), name="make")
    db.write(lambda tx: index.add(tx, other, message("ash", 1)), name="add")
    add(0, 300)
    maintain_index(db)

    db.write(lambda tx: index.drop_part(tx, part), name="drop")
    maintain_index(db)

    assert ask(db, index, part) == Ranking((), 0)
    assert len(ask(db, index, other, "ash").hits) == 1
    left = {table: count(db, table) for table in ("part", "doc", "tail", "segment", "posting", "dead", "retired")}
    assert left == {"part": 1, "doc": 1, "tail": 1, "segment": 0, "posting": 0, "dead": 0, "retired": 0}


def test_many_postings_are_deleted_in_stretches(
    monkeypatch: pytest.MonkeyPatch, db: Database, index: Index, part: int, add: Callable[[int, int], None]
) -> None:
    monkeypatch.setattr("talekeeper.search.storage.maintenance._STRETCH", 3)
    add(0, 350)
    maintain_index(db)
    db.write(lambda tx: index.drop_part(tx, part), name="drop")

    maintain_index(db)

    assert (count(db, "posting"), count(db, "retired")) == (0, 0)


def test_whoever_comes_too_late_to_merge_does_nothing(
    monkeypatch: pytest.MonkeyPatch,
    db: Database,
    index: Index,
    part: int,
    add: Callable[[int, int], None],
    remove: Callable[..., None],
) -> None:
    add(0, 128)
    maintain_index(db)
    remove(1)
    before = ask(db, index, part)
    combine = segments.combine

    def combine_slowly(*args: Any) -> segments.Replacement:
        made = combine(*args)
        monkeypatch.setattr(maintenance, "combine", combine)
        remove(2)
        purge_index(db, part)
        return made

    monkeypatch.setattr(maintenance, "combine", combine_slowly)
    purge_index(db, part)

    assert sizes(db) == [(0, 126)]
    assert ask(db, index, part).searched == before.searched - 1
    assert count(db, "dead") == 0


def test_a_removal_while_the_tail_is_flushed_is_kept(
    monkeypatch: pytest.MonkeyPatch,
    db: Database,
    index: Index,
    part: int,
    add: Callable[[int, int], None],
    remove: Callable[..., None],
) -> None:
    add(0, 128)
    next_flush = segments.next_flush

    def flush_slowly(tx: Tx, part: int) -> segments.Flush | None:
        made = next_flush(tx, part)
        monkeypatch.setattr(maintenance, "next_flush", next_flush)
        remove(110)
        return made

    monkeypatch.setattr(maintenance, "next_flush", flush_slowly)
    maintain_index(db)

    assert sizes(db) == [(0, 127)]
    assert ask(db, index, part).searched == 127


def test_a_removal_while_segments_are_combined_is_kept(
    monkeypatch: pytest.MonkeyPatch,
    db: Database,
    index: Index,
    part: int,
    add: Callable[[int, int], None],
    remove: Callable[..., None],
) -> None:
    add(0, 128)
    maintain_index(db)
    remove(*range(100))
    combine = segments.combine

    def combine_slowly(*args: Any) -> segments.Replacement:
        made = combine(*args)
        monkeypatch.setattr(maintenance, "combine", combine)
        remove(110)
        return made

    monkeypatch.setattr(maintenance, "combine", combine_slowly)
    maintain_index(db)

    assert sizes(db) == [(0, 28)]
    assert ask(db, index, part).searched == 27
    assert db.read(lambda tx: unpurged(tx, part)) == 1


def test_maintenance_with_nothing_due_writes_nothing(
    db: Database, index: Index, add: Callable[[int, int], None], remove: Callable[..., None]
) -> None:
    add(0, 300)
    maintain_index(db)
    remove(7, forget=True)
    maintain_index(db)
    statements: list[str] = []

    db.trace(statements.append)
    maintain_index(db)
    db.trace(None)

    assert not [one for one in statements if one.startswith(("BEGIN IMMEDIATE", "INSERT", "UPDATE", "DELETE"))]
