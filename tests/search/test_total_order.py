"""Equal scores are ordered by what a person sees, never by the numbers the index gave out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from talekeeper.clock import FixedClock
from talekeeper.db import Database
from talekeeper.search import Index, Kind, PartScope, Passage, Query, Source
from talekeeper.text import document_terms

CLOCK = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
NAMES = [(plugin, namespace, key) for plugin in ("bestiary", "lore") for namespace in ("a", "b") for key in ("k", "l")]


def record(plugin: str, namespace: str, key: str, turn: int) -> Passage:
    terms = document_terms("the lantern is lit")
    return Passage(Kind.RECORD, plugin, namespace, key, 0, turn, turn, terms, hash((plugin, namespace, key, turn)))


@settings(max_examples=20)
@given(st.permutations([record(*name, turn=turn) for name in NAMES for turn in (0, 1)]), st.integers(1, 20))
def test_equal_scores_stand_by_turn_then_plugin_namespace_and_key(passages: list[Passage], depth: int) -> None:
    passages = [replace(one, key=f"{one.key}{one.turn}") for one in passages]
    right = sorted(passages, key=lambda one: (-one.turn, one.plugin, one.namespace, one.key))
    sources = tuple(Source(plugin, namespace) for plugin, namespace in dict.fromkeys(name[:2] for name in NAMES))
    with TemporaryDirectory() as folder:
        db = Database.open(Path(folder) / "store.sqlite", clock=CLOCK, synchronous="OFF")
        index = Index()
        part = db.write(lambda tx: index.part_for(tx, "w", "s", ""), name="part")
        for one in passages:
            db.write(partial(index.add, part=part, passage=one), name="add")
        query = Query(("lantern",), (PartScope(part, {0: 9}),), sources, depth=depth)

        def found() -> list[tuple[str, str, str]]:
            hits = db.read(lambda tx: index.search(tx, query)).hits
            return [(hit.plugin, hit.namespace, hit.key) for hit in hits]

        before = found()
        index.rebuild(db, part, lambda _tx, _cursor: (right[::-1], None))
        after = found()
        db.close()

    assert before == after == [(one.plugin, one.namespace, one.key) for one in right][:depth]
