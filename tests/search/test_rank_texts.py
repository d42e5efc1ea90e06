"""Given texts are ranked as the index would rank them, and any string will do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.db import Database
from talekeeper.search import Index, PartScope, Passage, Query, Source, rank_texts
from talekeeper.text import query_terms

anything = st.text(st.characters(exclude_categories=()), max_size=40)


@given(anything, st.lists(anything, max_size=6), st.one_of(st.none(), st.integers(0, 5)), st.floats(0, 1))
def test_no_string_is_an_error(query: str, texts: list[str], limit: int | None, least: float) -> None:
    ranked = rank_texts(query, texts, limit, least)

    assert len(ranked) <= len(texts if limit is None else texts[:limit] + [""] * limit)
    assert all(0 < one.share <= 1 and least <= one.coverage <= 1 + 1e-9 for one in ranked)
    assert set(query_terms(query)).issuperset(term for one in ranked for term in one.matched)


def test_scores_are_those_of_messages(db: Database, index: Index, part: int, message: Callable[..., Passage]) -> None:
    texts = ["Mira hid the silver key.", "The key is of iron.", "It rained all day and nobody came."]
    db.write(lambda tx: [index.add(tx, part, message(text, i)) for i, text in enumerate(texts)], name="add")
    query = Query(("Mira silver key",), (PartScope(part, {0: 9}),), (Source(),), neighbours=False)

    ranked = rank_texts("Mira silver key", texts)

    hits = db.read(lambda tx: index.search(tx, query)).hits
    assert [(f"m{one.index}", one.matched) for one in ranked] == [(hit.key, hit.matched) for hit in hits]
    assert [one.score for one in ranked] == pytest.approx([hit.score for hit in hits])


def test_share_counts_terms_and_coverage_weighs_them() -> None:
    texts = ["the guard at the gate", "the guard of Mira", "the guard asleep", "the guard again"]

    ranked = {one.index: one for one in rank_texts("guard Mira", texts)}

    assert (ranked[0].share, ranked[1].share) == (0.5, 1.0)
    assert ranked[0].coverage == pytest.approx(0)  # all hold it: it weighs nothing
    assert ranked[1].coverage == pytest.approx(1)


def test_a_term_nobody_holds_weighs_most() -> None:
    (only,) = rank_texts("guard zeppelin", ["the guard", "a gate", "a road"])

    assert only.coverage < only.share == 0.5


def test_one_text_that_holds_all_is_covered() -> None:
    (only,) = rank_texts("silver key", ["the silver key"])

    assert (only.share, only.coverage) == (1.0, 1.0)


def test_least_coverage_and_limit_cut_the_list() -> None:
    texts = ["silver key", "silver", "key", "ring"]

    assert [one.index for one in rank_texts("silver key", texts, limit=2)] == [0, 1]
    assert [one.index for one in rank_texts("silver key", texts, min_coverage=0.9)] == [0]


def test_equal_texts_keep_their_order() -> None:
    assert [one.index for one in rank_texts("key", ["ring", "a key", "a key"])] == [1, 2]


def test_terms_are_those_of_a_query() -> None:
    assert query_terms("The keys of the Keys") == ("key",)
