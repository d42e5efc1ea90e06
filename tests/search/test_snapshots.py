"""Whoever reads sees its own snapshot: not more, not less, whatever is in the caches."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from talekeeper.db import Database, Tx
from talekeeper.search import Index, Kind, PartScope, Passage, Query, Source, maintain_index, purge_index
from talekeeper.search.storage.memtable import Memtable

Make = Callable[..., Passage]


class Undone(Exception):
    """Rolls a write back."""


def found(tx: Tx, index: Index, part: int, text: str = "silver") -> list[str]:
    """All keys, those of folded texts among them."""
    query = Query((text,), (PartScope(part, {0: 1000}),), (Source(), Source("lore", "entries")), neighbours=False)
    hits = index.search(tx, query).hits
    return sorted([*(hit.key for hit in hits), *(key for hit in hits for key, _ in hit.also)])


def name(i: int) -> str:
    """A word of its own for each number below 676."""
    return f"z{chr(97 + i // 26)}{chr(97 + i % 26)}q"


def write(db: Database, change: Callable[[Tx], object]) -> None:
    db.write(change, name="change")


def write_and_undo(db: Database, change: Callable[[Tx], object]) -> None:
    def run(tx: Tx) -> None:
        change(tx)
        raise Undone

    with pytest.raises(Undone):
        db.write(run, name="change and undo")


def drop(index: Index, tx: Tx, part: int, key: str) -> int:
    return index.remove(tx, part, kind=Kind.MESSAGE, plugin="", namespace="", key=key)


def test_a_transaction_finds_its_own_writes(db: Database, index: Index, part: int, message: Make) -> None:
    seen: list[list[str]] = []

    def change(tx: Tx) -> None:
        index.add(tx, part, message("silver", 1))
        seen.append(found(tx, index, part))
        drop(index, tx, part, "m1")
        seen.append(found(tx, index, part))

    write(db, change)

    assert seen == [["m1"], []]


def test_what_was_rolled_back_is_not_found(db: Database, index: Index, part: int, message: Make) -> None:
    write(db, lambda tx: index.add(tx, part, message("silver", 1)))
    write_and_undo(db, lambda tx: index.add(tx, part, message("silver", 2)))

    assert db.read(lambda tx: found(tx, index, part)) == ["m1"]


def test_an_addition_in_the_place_of_a_rolled_back_one_is_found(
    db: Database, index: Index, part: int, message: Make
) -> None:
    write_and_undo(db, lambda tx: (index.add(tx, part, message("silver", 2)), found(tx, index, part)))
    write(db, lambda tx: index.add(tx, part, message("golden", 3)))
    write(db, lambda tx: index.add(tx, part, message("silver", 4)))

    assert db.read(lambda tx: found(tx, index, part)) == ["m4"]


def test_a_removal_in_the_place_of_a_rolled_back_one_counts(
    db: Database, index: Index, part: int, message: Make
) -> None:
    write(db, lambda tx: [index.add(tx, part, message("silver", i)) for i in range(4)])
    write_and_undo(db, lambda tx: (drop(index, tx, part, "m1"), found(tx, index, part)))
    write(db, lambda tx: drop(index, tx, part, "m2"))

    assert db.read(lambda tx: found(tx, index, part)) == ["m0", "m1", "m3"]


def test_an_addition_after_a_rolled_back_removal_leaves_the_removed_in(
    db: Database, index: Index, part: int, message: Make
) -> None:
    write(db, lambda tx: [index.add(tx, part, message("silver", i)) for i in range(3)])
    write_and_undo(db, lambda tx: (drop(index, tx, part, "m0"), found(tx, index, part)))
    write(db, lambda tx: index.add(tx, part, message("silver", 3)))

    assert db.read(lambda tx: found(tx, index, part)) == ["m0", "m1", "m2", "m3"]


def test_a_rolled_back_partition_leaves_nothing_to_the_next_of_its_number(
    db: Database, index: Index, message: Make
) -> None:
    numbers: list[int] = []

    def fill(tx: Tx) -> None:
        numbers.append(index.part_for(tx, "one", "", ""))
        index.add(tx, numbers[-1], message("silver", 1))
        found(tx, index, numbers[-1])

    write_and_undo(db, fill)
    other = db.write(lambda tx: index.part_for(tx, "two", "", ""), name="make")
    write(db, lambda tx: index.add(tx, other, message("golden", 1)))

    assert other == numbers[0]
    assert db.read(lambda tx: found(tx, index, other)) == []
    assert db.read(lambda tx: found(tx, index, other, "golden")) == ["m1"]


def test_an_old_snapshot_stays_as_it_was(db: Database, index: Index, part: int, message: Make) -> None:
    write(db, lambda tx: [index.add(tx, part, message("silver", i)) for i in range(300)])

    def read(tx: Tx) -> tuple[list[str], list[str], list[str]]:
        before = found(tx, index, part)
        write(db, lambda other: drop(index, other, part, "m5"))
        write(db, lambda other: index.add(other, part, message("silver", 900)))
        maintain_index(db)
        purge_index(db, part)
        now = db.read(lambda other: found(other, index, part))
        return before, now, found(tx, index, part)

    before, now, after = db.read(read)

    assert len(before) == 300
    assert after == before
    assert now != before


def test_a_snapshot_taken_before_the_cache_was_filled_is_right(
    db: Database, index: Index, part: int, message: Make
) -> None:
    write(db, lambda tx: index.add(tx, part, message("silver", 1)))

    def read(tx: Tx) -> list[str]:
        tx.one("SELECT 1 FROM part")
        write(db, lambda other: index.add(other, part, message("silver", 2)))
        db.read(lambda other: found(other, index, part))
        return found(tx, index, part)

    assert db.read(read) == ["m1"]


def test_segments_of_equal_shape_and_other_content_are_told_apart(
    db: Database, index: Index, part: int, message: Make
) -> None:
    write(db, lambda tx: [index.add(tx, part, message("silver", i)) for i in range(128)])
    maintain_index(db)
    db.read(lambda tx: found(tx, index, part))
    write(db, lambda tx: [drop(index, tx, part, f"m{i}") for i in range(128)])
    write(db, lambda tx: [index.add(tx, part, message("golden", i)) for i in range(128)])

    maintain_index(db)

    assert db.read(lambda tx: tx.one("SELECT count(*), min(n) FROM segment")) == (1, 128)
    assert db.read(lambda tx: found(tx, index, part)) == []
    assert len(db.read(lambda tx: found(tx, index, part, "golden"))) == 128


def test_two_connections_see_each_others_commits(
    db: Database, connect: Callable[[], Database], index: Index, part: int, message: Make
) -> None:
    other_db, other = connect(), Index()

    for i in range(6):
        who, by = ((db, index), (other_db, other))[i % 2]
        write(who, partial(by.add, part=part, passage=message("silver", i)))
        expected = [f"m{j}" for j in range(i + 1)]
        assert db.read(lambda tx: found(tx, index, part)) == expected
        assert other_db.read(lambda tx: found(tx, other, part)) == expected


WRITER = """
import sys
from pathlib import Path
from talekeeper.clock import SystemClock
from talekeeper.db import Database
from talekeeper.search import Index, Kind, Passage, maintain_index
from talekeeper.text import document_terms

path, part, name, count = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
db, index = Database.open(path, clock=SystemClock(), synchronous="OFF"), Index()
for i in range(count):
    passage = Passage(Kind.MESSAGE, "", "", f"{name}{i}", 0, i, i, document_terms(f"silver {name}"), hash((name, i)))
    db.write(lambda tx: index.add(tx, part, passage), name="add")
    maintain_index(db)
db.close()
"""


def test_two_processes_lose_nothing(db: Database, path: Path, index: Index, part: int) -> None:
    command = [sys.executable, "-c", WRITER, str(path), str(part)]
    writers = [subprocess.Popen([*command, name, "200"]) for name in ("ann", "bob")]

    codes = [writer.wait(timeout=300) for writer in writers]

    assert codes == [0, 0]
    query = Query(("silver",), (PartScope(part, {0: 1000}),), (Source(),), depth=1000)
    assert len(db.read(lambda tx: index.search(tx, query)).hits) == 400


def test_threads_share_an_index(db: Database, index: Index, part: int, message: Make) -> None:
    write(db, lambda tx: [index.add(tx, part, message(f"silver {name(i)}", i)) for i in range(100)])
    wrong: list[object] = []
    done = threading.Event()

    def search(number: int) -> None:
        while not done.is_set():
            keys = db.read(lambda tx: found(tx, index, part, name(number)))
            if keys != [f"m{number}"]:
                wrong.append(keys)

    readers = [threading.Thread(target=search, args=(number,)) for number in (3, 50, 97)]
    for reader in readers:
        reader.start()
    for i in range(100, 600):
        write(db, partial(index.add, part=part, passage=message(f"silver {name(i)}", i)))
        if i % 100 == 0:
            maintain_index(db)
    done.set()
    for reader in readers:
        reader.join()

    assert wrong == []


def test_a_tiny_budget_changes_no_answer(db: Database, part: int, index: Index, message: Make) -> None:
    poor = Index(part_budget=1, posting_budget=1)
    trees = ["ash", "elm", "fir", "oak"]
    write(db, lambda tx: [index.add(tx, part, message(f"silver {trees[i % 4]}", i)) for i in range(600)])
    maintain_index(db)

    for text in ("silver ash", "elm", "fir oak"):
        assert db.read(partial(found, index=poor, part=part, text=text)) == db.read(
            partial(found, index=index, part=part, text=text)
        )


def test_what_a_tail_takes_in_memory_does_not_hang_on_which_passage_is_the_longest() -> None:
    long, short = f'{{"{"x" * 10_000}":1}}', '{"elm":1}'

    sizes = {Memtable(0, texts).nbytes for texts in ([long, short, short], [short, short, long])}
    grown = Memtable(0, [short]).extend(1, [long, short]).nbytes

    assert sizes == {grown}
    assert grown > len(long)
