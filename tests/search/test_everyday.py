"""Stop words of a query: nobody is found by them, and among those found they decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from talekeeper.db import Database
from talekeeper.search import Index, PartScope, Passage, Query, Ranked, Source
from talekeeper.text import everyday_terms

TOLD = ["The lamp is by the door.", "Lamp!", "He and she are with the others.", "It rains."]
Ask = Callable[..., Sequence[Ranked]]


@pytest.fixture
def ask(db: Database, index: Index, part: int, message: Callable[..., Passage]) -> Ask:
    """Messages far apart, so that none lends another its words."""
    told = [message(text, 0, key=f"m{i}", branch=i + 1) for i, text in enumerate(TOLD)]
    db.write(lambda tx: [index.add(tx, part, one) for one in told], name="tell")

    def find(text: str, *, neighbours: bool = True) -> Sequence[Ranked]:
        scope = PartScope(part, dict.fromkeys(range(len(TOLD) + 1), 9))
        query = Query((text,), (scope,), (Source(),), neighbours=neighbours, explain=True)
        return db.read(lambda tx: index.search(tx, query)).hits

    return find


def test_everyday_words_are_those_a_query_leaves_out() -> None:
    assert everyday_terms("Where is the lamp?") == ("where", "be", "the")
    assert everyday_terms("Where is it?") == ()
    assert everyday_terms("灯在哪里？") == ()


def test_they_are_no_match_and_part_of_the_score(ask: Ask) -> None:
    (first, *_) = ask("Where is the lamp?")

    assert first.matched == ("lamp",)
    assert {row.term for row in first.explanation} > {"lamp"}
    assert sum(row.contribution for row in first.explanation) == pytest.approx(first.score)


def test_without_the_second_stage_they_count_nothing(ask: Ask) -> None:
    hits = ask("Where is the lamp?", neighbours=False)

    assert [hit.key for hit in hits] == ["m1", "m0"]
    assert {row.term for hit in hits for row in hit.explanation} == {"lamp"}


def test_records_are_ranked_beside_messages_without_them(
    db: Database, index: Index, part: int, message: Callable[..., Passage], record: Callable[..., Passage]
) -> None:
    told = [message("Where is the lamp?", 0), record("The lamp is where she left it.", "lamp")]
    db.write(lambda tx: [index.add(tx, part, one) for one in told], name="tell")
    query = Query(
        ("Where is the lamp?",), (PartScope(part, {0: 9}),), (Source(), Source("lore", "entries")), explain=True
    )

    hits = db.read(lambda tx: index.search(tx, query)).hits

    explained = {hit.key: {row.term for row in hit.explanation} for hit in hits}
    assert explained == {"m0": {"lamp", "where", "be", "the"}, "lamp": {"lamp"}}
