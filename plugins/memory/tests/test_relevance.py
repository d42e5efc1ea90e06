"""Which facts a message calls up, at the edges of every threshold."""

from __future__ import annotations

from collections import Counter
from math import isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.api import ScoredRecord
from talekeeper_memory.relevance import Question, Weights, judge
from talekeeper_memory.stopwords import Stopwords

GATE = {"recall_share": 0.15, "recall_coverage": 0.2, "recall_rare_share": 0.02, "recall_rare_facts": 50}
PLAIN = Stopwords({"turn", "left", "wait"})
TWENTY = tuple(f"t{number}" for number in range(20))


def weights(terms: tuple[str, ...], total: int, **held: int) -> Weights:
    return Weights(terms, Counter(held), total)


def scored(matched: tuple[str, ...], terms: tuple[str, ...]) -> ScoredRecord:
    return ScoredRecord("k", 1.0, matched, len(matched) / len(terms))


def reason(matched: tuple[str, ...], of: Weights, names: frozenset[str] = frozenset()) -> str:
    return judge(scored(matched, of.terms), of, names, PLAIN, GATE).reason


def test_three_of_twenty_terms_are_fifteen_percent() -> None:
    rare = weights(TWENTY, 100, **dict.fromkeys(TWENTY[3:], 100))

    assert reason(TWENTY[:3], rare) == ""
    assert reason(TWENTY[:2], rare) == "share 0.10 is below 0.15"


def test_a_coverage_of_a_fifth_is_enough() -> None:
    # All ten weigh the same: two of them are exactly a fifth.
    ten = weights(TWENTY[:10], 9)
    less = weights(TWENTY[:10], 9, t0=1)

    assert reason(TWENTY[:2], ten) == ""
    assert reason(TWENTY[:2], less).startswith("coverage 0.1")


@pytest.mark.parametrize(
    ("total", "held", "said"),
    [
        pytest.param(50, 1, "", id="one of fifty"),
        pytest.param(49, 1, "one shared term, and 49 facts are too few (50) to call it rare", id="of forty-nine"),
        pytest.param(100, 2, "", id="2 % of a hundred"),
        pytest.param(100, 3, "one shared term, and 3 of 100 facts hold it: more than 2%", id="3 %"),
    ],
)
def test_one_shared_term_is_enough_when_it_is_rare(total: int, held: int, said: str) -> None:
    assert reason(("key",), weights(("key", "well"), total, key=held)) == said


def test_two_shared_terms_need_not_be_rare() -> None:
    assert reason(("key", "well"), weights(("key", "well"), 10, key=5, well=5)) == ""


def test_a_name_is_enough_by_itself() -> None:
    of = weights(("mara", *TWENTY), 10, mara=10)

    verdict = judge(scored(("mara",), of.terms), of, frozenset({"mara"}), PLAIN, GATE)

    assert (verdict.by, verdict.reason) == ("name", "")


@pytest.mark.parametrize("names", [frozenset[str](), frozenset({"left"})], ids=["", "even as somebody's name"])
def test_everyday_words_call_nothing_up_however_many_and_rare(names: frozenset[str]) -> None:
    of = weights(("turn", "left"), 1000, turn=1, left=1)

    assert reason(("turn", "left"), of, names) == "shares only everyday words: turn, left"


@pytest.mark.parametrize(
    ("matched", "count"),
    [
        pytest.param(("钥匙",), 1, id="a pair"),
        pytest.param(("艾尔", "尔德"), 1, id="three characters running"),
        pytest.param(("红色", "色钥", "钥匙"), 2, id="four"),
        pytest.param(("钥匙", "城门"), 2, id="two pairs apart"),
        pytest.param(("key", "gate"), 2, id="words"),
    ],
)
def test_overlapping_pairs_are_one_thing_in_common(matched: tuple[str, ...], count: int) -> None:
    assert PLAIN.count(matched) == count


@pytest.mark.parametrize(
    "matched",
    [("三个", "个回", "回合"), ("回合", "合再", "再说"), ("一会", "会儿"), ("左转",)],
    ids=lambda found: found[0],
)
def test_everyday_chinese_is_recognised_in_its_stretch(matched: tuple[str, ...]) -> None:
    assert PLAIN.others(matched) == []


@pytest.mark.parametrize(
    "matched",
    [("左に", "に曲", "曲が", "がっ"), ("自分", "分の"), ("部屋", "屋を", "を見")],
    ids=lambda found: found[0],
)
def test_everyday_japanese_is_what_its_hiragana_and_single_characters_leave(matched: tuple[str, ...]) -> None:
    assert PLAIN.others(matched) == []


@pytest.mark.parametrize(
    "matched",
    [("왼쪽", "쪽으", "으로", "간다"), ("ทา", "าง", "งซ้", "ซ้า", "าย"), ("เดิ", "ดิน", "นไ", "ไป")],
    ids=["Korean", "Thai", "Thai, two words running"],
)
def test_everyday_words_of_other_scripts_are_recognised_in_their_stretch(matched: tuple[str, ...]) -> None:
    assert PLAIN.others(matched) == []


def test_running_thai_is_counted_by_words() -> None:
    assert PLAIN.stretches(("กุญ", "ญแ", "แจ")) == ["กุญแจ"]
    assert PLAIN.count(("กุญ", "ญแ", "แจ")) == 1


def test_a_japanese_noun_of_two_characters_is_left() -> None:
    assert PLAIN.others(("約束", "束し", "した")) == ["約束した"]


def test_a_name_beside_an_everyday_word_is_left() -> None:
    assert PLAIN.others(("三个", "个玛", "玛拉")) == ["三个玛拉"]


def test_terms_are_weighed_by_how_many_records_hold_them() -> None:
    answered = {"a": scored(("key",), ("key", "well")), "b": scored(("key", "well"), ("key", "well"))}

    of = Question(("key", "well", "moon"), answered).weights(3)

    assert of.held == {"key": 2, "well": 1}
    assert of.weight("moon") > of.weight("well") > of.weight("key") > 0
    assert isclose(of.coverage(("key", "well", "moon")), 1.0)


def test_what_all_hold_weighs_nothing() -> None:
    of = weights(("key", "well"), 50, key=50)

    assert of.coverage(("key",)) == 0
    assert weights(("key",), 50, key=50).coverage(("key",)) == 1.0


@given(st.integers(1, 49), st.integers(1, 49))
def test_a_shared_term_weighs_something_among_fewer_than_fifty(total: int, held: int) -> None:
    of = weights(("key", "well"), total, key=min(held, total))

    assert 0 < of.weight("key") < of.weight("well")


def test_fifty_weigh_as_they_are_counted() -> None:
    assert weights(("key",), 50, key=3).weight("key") == weights(("key",), 7, key=3).weight("key") == log(51 / 4)
