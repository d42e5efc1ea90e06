"""Pairs of characters that nobody has said, and the characters asked for in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from talekeeper.db import Database
from talekeeper.search import Index, PartScope, Passage, Query, Ranked, Source, snippet
from talekeeper.text import SINGLE, paired_characters, query_terms

Ask = Callable[[str], Sequence[Ranked]]
Tell = Callable[..., None]
OTHERS = ["下雨了", "天晴了", "月亮出来", "风很大"]


@pytest.fixture
def tell(db: Database, index: Index, part: int, record: Callable[..., Passage]) -> Tell:
    def add(*texts: str, depth: int = 0) -> None:
        records = [record(text, text, at=(0, depth)) for text in texts]
        db.write(lambda tx: [index.add(tx, part, one) for one in records], name="tell")

    return add


@pytest.fixture
def ask(db: Database, index: Index, part: int) -> Ask:
    def find(text: str) -> Sequence[Ranked]:
        query = Query((text,), (PartScope(part, {0: 3}),), (Source("lore", "entries"),), explain=True)
        return db.read(lambda tx: index.search(tx, query)).hits

    return find


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        pytest.param("遛狗", {"遛": ("遛狗",), "狗": ("遛狗",)}, id="a pair"),
        pytest.param("养狗狗", {"养": ("养狗",), "狗": ("养狗", "狗狗")}, id="in two pairs"),
        pytest.param("狗", {}, id="asked by itself"),
        pytest.param("你的狗，遛狗", {"遛": ("遛狗",)}, id="asked by itself beside"),
        pytest.param("说跳舞", {"跳": ("说跳", "跳舞"), "舞": ("跳舞",)}, id="not what tells nothing"),
        pytest.param("brass key", {}, id="words"),
        pytest.param("", {}, id="nothing"),
    ],
)
def test_characters_of_a_query_and_their_pairs(text: str, characters: dict[str, tuple[str, ...]]) -> None:
    found = paired_characters(text, query_terms(text))

    assert found == {SINGLE + character: pairs for character, pairs in characters.items()}


def test_a_passage_is_found_by_a_character_of_a_pair_nobody_said(tell: Tell, ask: Ask) -> None:
    tell("我有一条狗", *OTHERS)

    (hit,) = ask("你遛狗吗？")

    assert (hit.key, hit.matched) == ("我有一条狗", (SINGLE + "狗",))
    assert sum(row.contribution for row in hit.explanation) == pytest.approx(hit.score)


def test_not_where_the_pair_was_said(tell: Tell, ask: Ask) -> None:
    tell("我有一条狗", "每天遛狗", *OTHERS)

    assert [hit.key for hit in ask("遛狗")] == ["每天遛狗"]


def test_what_is_said_outside_the_scope_changes_nothing(tell: Tell, ask: Ask) -> None:
    tell("我有一条狗", *OTHERS)
    before = ask("遛狗")

    tell("每天遛狗", depth=4)

    assert ask("遛狗") == before != ()


def test_a_character_that_many_passages_hold_finds_none(tell: Tell, ask: Ask) -> None:
    tell("我有一条狗", "大狗来了", "小狗睡觉", *OTHERS)

    assert ask("遛狗") == ()


def test_one_passage_is_enough_to_be_found(tell: Tell, ask: Ask) -> None:
    tell("我有一条狗")

    assert [hit.key for hit in ask("遛狗")] == ["我有一条狗"]


def test_a_pair_outweighs_characters(tell: Tell, ask: Ask) -> None:
    tell("公园很大", "我有一条狗，毛很长", *OTHERS)

    assert [hit.key for hit in ask("公园遛狗")] == ["公园很大", "我有一条狗，毛很长"]


def test_messages_and_records_each_by_what_they_hold(
    db: Database, index: Index, part: int, message: Callable[..., Passage], record: Callable[..., Passage]
) -> None:
    passages = [message("每天遛狗", 0), message("我家的狗", 9), record("我有一条狗", "dog")]
    db.write(lambda tx: [index.add(tx, part, one) for one in passages], name="tell")
    query = Query(("遛狗",), (PartScope(part, {0: 9}),), (Source(), Source("lore", "entries")), neighbours=False)

    hits = db.read(lambda tx: index.search(tx, query)).hits

    assert {hit.key: hit.matched for hit in hits} == {"m0": ("遛狗",), "dog": (SINGLE + "狗",)}


def test_an_excerpt_shows_the_character_it_was_found_by() -> None:
    text = "".join([*("天气很好。" * 40), "我有一条狗。", *("天气很好。" * 40)])

    assert "狗" in snippet(text, "遛狗", 40)


def test_a_syllable_of_hangul_is_not_asked_for_by_itself() -> None:
    assert paired_characters("바다가 보인다", query_terms("바다가 보인다")) == {}
