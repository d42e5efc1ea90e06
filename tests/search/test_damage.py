"""Bytes of the index that changed on the disk: one clear sentence or a harmless difference, and a rebuild mends it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from talekeeper.clock import SystemClock
from talekeeper.db import Database, Tx
from talekeeper.errors import StoreError
from talekeeper.search import (
    Index,
    PartScope,
    Passage,
    Query,
    Ranking,
    Source,
    check_index,
    maintain_index,
    purge_index,
    rebuild_index,
    renew_index,
    stale_parts,
)
from talekeeper.search.storage.codec import IndexDamaged

Make = Callable[..., Passage]

# Tables and columns that are damaged.
CELLS = [
    ("posting", "data"),
    ("segment", "columns"),
    ("segment", "n"),
    ("segment", "lo"),
    ("segment", "hi"),
    ("tail", "terms"),
    ("tail", "branch"),
    ("tail", "depth"),
    ("tail", "length"),
    ("tail", "flags"),
    ("tail", "doc"),
    ("doc", "source"),
    ("doc", "slot"),
    ("doc", "revision"),
    ("doc", "doc"),
    ("dead", "doc"),
    ("part_source", "kind"),
    ("part_source", "id"),
    ("part", "docs"),
    ("part", "settled"),
    ("part", "removals"),
]
BAD_BLOBS = [b"", b"\x01", b"\x07\x00\x00\x00", b"\x01\xff\xff\xff", b"\x02\x00\xff\xff", b"\x03\x00\x05\x00" * 9]
BAD_TEXTS = ["", "{", "[]", "7", '{"silver": "x"}', '{"silver": 1.5}', '{"silver": -1}', '{"silver": 999}', "null"]
BAD_INTEGERS = [-1, 0, 1, 70_000, 2**31, 2**40, 2**62]


@pytest.fixture
def passages(message: Make, record: Make) -> list[Passage]:
    said = [message(f"silver {word} {'oak ' * (i % 7)}", i) for i, word in enumerate(["ash", "elm", "fir"] * 100)]
    return [*said, *(record(f"silver lore {i}", f"k{i}") for i in range(20)), record("gold", "k1", revision=2)]


@pytest.fixture
def filled(db: Database, index: Index, part: int, passages: list[Passage], path: Path) -> Path:
    db.write(lambda tx: [index.add(tx, part, one) for one in passages], name="fill")
    maintain_index(db)
    db.write(lambda tx: index.remove(tx, part, kind=passages[0].kind, plugin="", namespace="", key="m9"), name="remove")
    db.close()
    return path


def batches(passages: Sequence[Passage]) -> Callable[[Tx, int | None], tuple[Sequence[Passage], int | None]]:
    def batch(_: Tx, cursor: int | None) -> tuple[Sequence[Passage], int | None]:
        start = cursor or 0
        return passages[start : start + 100], start + 100 if start + 100 < len(passages) else None

    return batch


def worse(value: object, chance: random.Random) -> object:
    """Another value of the same type, as STRICT tables demand."""
    if isinstance(value, bytes):
        if chance.random() < 0.3:
            return chance.choice(BAD_BLOBS)
        changed = bytearray(value)
        for _ in range(chance.randrange(1, 4)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        return bytes(changed[: chance.choice([len(changed), chance.randrange(len(changed)) + 1])])
    return chance.choice(BAD_TEXTS) if isinstance(value, str) else chance.choice(BAD_INTEGERS)


def spoil(path: Path, table: str, column: str, chance: random.Random) -> None:
    with closing(sqlite3.connect(path)) as connection:
        key = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5]]
        rows = connection.execute(f"SELECT {', '.join(key)}, {column} FROM {table}").fetchall()
        for *place, value in chance.sample(rows, min(len(rows), 3)):
            same = " AND ".join(f"{name} = ?" for name in key)
            sql = f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {same}"
            connection.execute(sql, (worse(value, chance), *place))
        connection.commit()


def _ask(db: Database, query: Query) -> Ranking:
    return db.read(lambda tx: Index().search(tx, query))


def uses(db: Database, part: int, passages: Sequence[Passage]) -> Iterator[Callable[[], object]]:
    """What is done with an index that exists, each with an index object that remembers nothing."""
    sources = (Source(), Source("lore", "entries"))
    for text in ("silver", "oak elm", "lore gold"):
        yield partial(_ask, db, Query((text,), (PartScope(part, {0: 9999}),), sources, explain=True))
    yield lambda: db.read(lambda tx: check_index(tx, part, passages))
    yield lambda: maintain_index(db, part=part)
    yield lambda: purge_index(db, part)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("table", "column"), CELLS, ids=[f"{table}.{column}" for table, column in CELLS])
def test_damage_is_one_sentence_and_a_renewal_mends_it(
    filled: Path, part: int, passages: list[Passage], table: str, column: str, seed: int
) -> None:
    spoil(filled, table, column, random.Random(seed))
    db = Database.open(filled, clock=SystemClock(), synchronous="OFF")
    raised: list[StoreError] = []

    for use in uses(db, part, passages):
        try:
            use()
        except StoreError as fault:
            raised.append(fault)
    renew_index(db, part, batches(passages))
    found = db.read(lambda tx: Index().find_part(tx, "w", "s", ""))
    left = db.read(lambda tx: check_index(tx, found or -1, passages))
    stale = db.read(stale_parts)
    db.close()

    assert all(fault.cure for fault in raised)
    assert (left, stale) == ([], [])


@pytest.mark.parametrize("blob", BAD_BLOBS, ids=lambda blob: blob[:4].hex() or "empty")
def test_a_damaged_posting_says_what_mends_it(filled: Path, part: int, blob: bytes) -> None:
    db = Database.open(filled, clock=SystemClock(), synchronous="OFF")
    db.write(lambda tx: tx.run("UPDATE posting SET data = ? WHERE term = 'silver'", (blob,)), name="damage")
    query = Query(("silver",), (PartScope(part, {0: 9999}),), (Source(),))

    with pytest.raises(IndexDamaged, match="talekeeper doctor --rebuild") as caught:
        db.read(lambda tx: Index().search(tx, query))

    db.close()
    assert caught.value.exit_code == 2


def test_a_rebuild_of_what_cannot_be_read_renews_it(filled: Path, part: int, passages: list[Passage]) -> None:
    db = Database.open(filled, clock=SystemClock(), synchronous="OFF")
    db.write(lambda tx: tx.run("UPDATE posting SET data = x'00'"), name="damage")

    rebuild_index(db, part, batches(passages))

    found = db.read(lambda tx: Index().find_part(tx, "w", "s", ""))
    assert found not in {None, part}
    assert db.read(lambda tx: check_index(tx, found or -1, passages)) == []
    assert db.read(lambda tx: tx.rows("SELECT count(*) FROM posting WHERE data = x'00'")) == [(0,)]
    db.close()


def test_a_renewal_broken_off_is_found_and_done_again(filled: Path, part: int, passages: list[Passage]) -> None:
    db = Database.open(filled, clock=SystemClock(), synchronous="OFF")
    batch = batches(passages)

    def breaks(tx: Tx, cursor: int | None) -> tuple[Sequence[Passage], int | None]:
        if cursor == 200:
            raise KeyboardInterrupt
        return batch(tx, cursor)

    with pytest.raises(KeyboardInterrupt):
        renew_index(db, part, breaks)
    (left,) = db.read(stale_parts)
    rebuild_index(db, left, batch)

    assert db.read(stale_parts) == []
    assert db.read(lambda tx: check_index(tx, left, passages)) == []
    db.close()
