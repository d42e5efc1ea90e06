"""Segments that are put together, a stretch of their terms at a time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from talekeeper.db import Database
from talekeeper.search import Index, Kind, Passage, check_index, maintain_index
from talekeeper.search.storage import maintenance, segments

WORDS = ("ash", "birch", "cedar", "elm", "fir", "hazel")


@pytest.mark.parametrize("at_once", [1, 2, len(WORDS) - 1, len(WORDS)])
def test_how_much_a_merge_reads_at_once_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
    db: Database,
    index: Index,
    part: int,
    message: Callable[..., Passage],
    at_once: int,
) -> None:
    def add(start: int) -> None:
        told = [message(f"{WORDS[i % 6]} {WORDS[i % 5]}", i) for i in range(start, start + segments.FLUSH)]
        db.write(lambda tx: [index.add(tx, part, one) for one in told], name="add")
        maintain_index(db)

    def remove(key: str) -> None:
        db.write(lambda tx: index.remove(tx, part, kind=Kind.MESSAGE, plugin="", namespace="", key=key), name="remove")

    add(0)
    add(segments.FLUSH)
    remove("m3")
    remove("m300")
    old = db.read(lambda tx: segments.read_segments(tx, part))
    whole = db.read(lambda tx: segments.combine(tx, part, old, 1))

    monkeypatch.setattr(segments, "_AT_ONCE", at_once)
    made = db.read(lambda tx: segments.combine(tx, part, old, 1))

    assert len(old) == 2
    assert (made.new.terms, made.new.blobs) == (whole.new.terms, whole.new.blobs)


def test_larger_segments_of_other_code_are_merged_as_far_as_local_ids_reach(
    monkeypatch: pytest.MonkeyPatch, db: Database, index: Index, part: int, message: Callable[..., Passage]
) -> None:
    def set_sizes(flush: int, top_level: int) -> None:
        for module in (segments, maintenance):
            monkeypatch.setattr(module, "FLUSH", flush)
        monkeypatch.setattr(maintenance, "TOP_LEVEL", top_level)

    told = [message(WORDS[i % 6], i) for i in range(130)]
    monkeypatch.setattr(segments, "FAN", 1_000)
    monkeypatch.setattr(maintenance, "LARGEST", 32)
    set_sizes(10, 0)
    db.write(lambda tx: [index.add(tx, part, one) for one in told[:90]], name="add")
    maintain_index(db)
    set_sizes(4, 2)

    db.write(lambda tx: [index.add(tx, part, one) for one in told[90:]], name="add")
    maintain_index(db)

    sizes = [(one.level, one.n) for one in db.read(lambda tx: segments.read_segments(tx, part))]
    assert sizes == [(1, 30)] * 3 + [(1, 32)] + [(0, 4)] * 2
    assert db.read(lambda tx: check_index(tx, part, told)) == []
