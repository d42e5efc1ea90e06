"""A partition is made anew in place, and the index can be compared with what it should hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from talekeeper.db import Database, Tx
from talekeeper.errors import NotFound
from talekeeper.search import (
    Index,
    PartScope,
    Passage,
    Query,
    Ranking,
    Source,
    check_index,
    maintain_index,
    put_vectors,
    rebuild_index,
    stale_parts,
    without_vectors,
)
from talekeeper.text import Terms

Make = Callable[..., Passage]
Batches = Callable[[Tx, int | None], tuple[Sequence[Passage], int | None]]


def batches_of(passages: Sequence[Passage], size: int = 100) -> Batches:
    def batch(_: Tx, cursor: int | None) -> tuple[Sequence[Passage], int | None]:
        start = cursor or 0
        return passages[start : start + size], start + size if start + size < len(passages) else None

    return batch


def fill(db: Database, index: Index, part: int, passages: Sequence[Passage]) -> None:
    db.write(lambda tx: [index.add(tx, part, one) for one in passages], name="fill")


def ask(db: Database, index: Index, part: int, text: str) -> Ranking:
    sources = (Source(), Source("lore", "entries"))
    return db.read(lambda tx: index.search(tx, Query((text,), (PartScope(part, {0: 9999}),), sources)))


def differences(db: Database, index: Index, part: int, expected: Sequence[Passage]) -> list[str]:
    return [str(one) for one in db.read(lambda tx: check_index(tx, part, expected))]


@pytest.fixture
def passages(message: Make, record: Make) -> list[Passage]:
    said = [message(f"silver {word}", i) for i, word in enumerate(["ash", "elm", "fir", "oak"] * 80)]
    return [*said, record("silver lore", "k", revision=1), record("golden lore", "k", at=(0, 3), revision=2)]


def test_a_partition_of_another_tokeniser_is_stale_until_rebuilt(
    monkeypatch: pytest.MonkeyPatch, db: Database, index: Index, part: int, passages: list[Passage]
) -> None:
    monkeypatch.setattr("talekeeper.search.storage.writing.TOKENS_FINGERPRINT", "another")
    fill(db, index, part, [replace(one, terms=Terms({"outdated": 1}, 1)) for one in passages])
    maintain_index(db)
    monkeypatch.undo()
    assert db.read(stale_parts) == [part]

    rebuild_index(db, part, batches_of(passages))

    assert db.read(stale_parts) == []
    assert differences(db, index, part, passages) == []
    assert ask(db, index, part, "outdated") == Ranking((), 321)


def test_segments_hold_the_terms_of_one_tokeniser(
    monkeypatch: pytest.MonkeyPatch, db: Database, index: Index, part: int, passages: list[Passage]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("talekeeper.search.storage.writing.TOKENS_FINGERPRINT", "another")
        fill(db, index, part, passages[:100])
    fill(db, index, part, passages[100:220])
    before = ask(db, index, part, "silver ash")

    for _ in range(2):
        maintain_index(db, part=part)

    sizes = db.read(lambda tx: tx.rows("SELECT n, tokens = 'another' FROM segment ORDER BY lo"))
    assert sizes == [(100, 1)]
    assert ask(db, index, part, "silver ash") == before


def test_what_is_not_given_is_taken_out(db: Database, index: Index, part: int, passages: list[Passage]) -> None:
    fill(db, index, part, passages)

    rebuild_index(db, part, batches_of(passages[:200]))

    assert differences(db, index, part, passages[:200]) == []


def test_a_rebuild_that_gives_nothing_empties(db: Database, index: Index, part: int, passages: list[Passage]) -> None:
    fill(db, index, part, passages)

    rebuild_index(db, part, batches_of([]))

    assert ask(db, index, part, "silver") == Ranking((), 0)


def test_a_partition_that_is_not_there_needs_no_rebuild(db: Database, index: Index) -> None:
    rebuild_index(db, 99, batches_of([]))

    assert db.read(lambda tx: tx.rows("SELECT id FROM part")) == []


def test_a_partition_that_is_not_there_takes_nothing(db: Database, index: Index, message: Make) -> None:
    with pytest.raises(NotFound, match="99"):
        db.write(lambda tx: index.add(tx, 99, message("silver", 1)), name="add")


def test_every_passage_is_found_once_at_every_moment(
    db: Database, index: Index, part: int, passages: list[Passage]
) -> None:
    fill(db, index, part, passages)
    whole = ask(db, index, part, "silver").searched
    counts: list[int] = []
    query = Query(("silver",), (PartScope(part, {0: 9999}),), (Source(), Source("lore", "entries")))
    batch = batches_of(passages, 50)

    def watched(tx: Tx, cursor: int | None) -> tuple[Sequence[Passage], int | None]:
        counts.append(index.search(tx, query).searched)
        return batch(tx, cursor)

    rebuild_index(db, part, watched)

    assert counts == [whole] * 7


def test_a_rebuild_broken_off_anywhere_can_be_begun_again(
    db: Database, index: Index, part: int, passages: list[Passage]
) -> None:
    fill(db, index, part, passages)
    batch = batches_of(passages, 50)

    def breaks(tx: Tx, cursor: int | None) -> tuple[Sequence[Passage], int | None]:
        if cursor == 150:
            raise KeyboardInterrupt
        return batch(tx, cursor)

    with pytest.raises(KeyboardInterrupt):
        rebuild_index(db, part, breaks)
    assert differences(db, index, part, passages) == []

    rebuild_index(db, part, batch)

    assert differences(db, index, part, passages) == []


def test_what_is_written_meanwhile_stays(
    db: Database, index: Index, part: int, passages: list[Passage], message: Make
) -> None:
    fill(db, index, part, passages)
    late = message("silver and late", 5000)
    batch = batches_of(passages, 50)

    def with_a_writer(tx: Tx, cursor: int | None) -> tuple[Sequence[Passage], int | None]:
        if cursor == 100:
            index.add(tx, part, late)
        return batch(tx, cursor)

    rebuild_index(db, part, with_a_writer)

    assert differences(db, index, part, [*passages, late]) == []


@pytest.mark.parametrize("settled", [True, False], ids=["segment", "tail"])
@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param({"branch": 2}, "has branch 0 in the index, and 2 is right", id="branch"),
        pytest.param({"depth": 9}, "has depth 2 in the index, and 9 is right", id="depth"),
        pytest.param({"turn": 9}, "has turn 2 in the index, and 9 is right", id="turn"),
        pytest.param({"features": 1}, "has flags 0 in the index, and 1 is right", id="features"),
        pytest.param({"terms": Terms({"silver": 2, "fir": 1}, 2)}, "has other words in the index", id="words"),
        pytest.param(
            {"terms": Terms({"silver": 1, "fir": 1}, 9)}, "has length 2 in the index, and 9 is right", id="length"
        ),
    ],
)
def test_a_difference_is_named(
    db: Database,
    index: Index,
    part: int,
    passages: list[Passage],
    change: dict[str, Any],
    told: str,
    *,
    settled: bool,
) -> None:
    fill(db, index, part, passages)
    if settled:
        maintain_index(db)
    passages[2] = replace(passages[2], **change)

    assert differences(db, index, part, passages) == [f"message m2, revision 0: {told}"]


def test_what_lacks_and_what_is_too_much_is_named(
    db: Database, index: Index, part: int, passages: list[Passage], record: Make
) -> None:
    fill(db, index, part, passages)

    told = differences(db, index, part, [*passages[1:], record("x", "new")])

    assert told == [
        "lore/entries new, revision 1: is not in the index",
        "message m0, revision 0: is in the index and should not be",
    ]


def test_what_does_not_exist_lacks_everything(db: Database, index: Index, message: Make) -> None:
    assert differences(db, index, 99, [message("x", 1)]) == ["message m1, revision 0: is not in the index"]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        pytest.param("DELETE FROM tail WHERE doc = 260", "m260, revision 0: has no words in the index", id="tail"),
        pytest.param("DELETE FROM posting WHERE term = 'fir'", "m2, revision 0: has other words", id="posting"),
        pytest.param("DELETE FROM doc WHERE doc = 0", "passage 0, revision 0: has words", id="name"),
        pytest.param("UPDATE doc SET revision = 7 WHERE doc = 0", "m0, revision 7: is filed", id="misfiled"),
        pytest.param("UPDATE doc SET key = 'm1' WHERE doc = 2", "m1, revision 0: is in the index twice", id="twice"),
    ],
)
def test_damage_is_named(
    db: Database, index: Index, part: int, passages: list[Passage], damage: str, told: str
) -> None:
    fill(db, index, part, passages)
    maintain_index(db)

    db.write(lambda tx: tx.run(damage), name="damage")

    assert any(one.startswith(f"message {told}") for one in differences(db, index, part, passages))


def stored(db: Database, part: int) -> list[bytes]:
    return [
        data for (data,) in db.read(lambda tx: tx.rows("SELECT data FROM vector WHERE part = ? ORDER BY doc", (part,)))
    ]


def test_rebuilding_keeps_vectors_of_what_says_the_same(
    db: Database, index: Index, part: int, passages: list[Passage]
) -> None:
    docs = db.write(lambda tx: [index.add(tx, part, one) for one in passages], name="fill")
    elsewhere, empty = docs[3], docs[4]
    found: dict[int, Sequence[float] | None] = {doc: (float(doc), 1.0) for doc in docs}
    db.write(lambda tx: put_vectors(tx, part, "s", found | {elsewhere: None, empty: ()}), name="put")
    before = stored(db, part)

    rebuild_index(db, part, batches_of([replace(passages[0], digest=1), *passages[1:]]))

    waiting = db.read(lambda tx: without_vectors(tx, part, "s", -1, 999))
    assert [key for _, _, _, key, _ in waiting] == [passages[0].key, passages[3].key]
    assert stored(db, part) == [*before[1:3], *before[4:]]
