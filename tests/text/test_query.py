"""What a query asks for, and what it leaves out."""

from __future__ import annotations

import pytest
from talekeeper.text import SINGLE, query_terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        pytest.param("What did the guard tell us of Mira?", ("guard", "tell", "mira"), id="stop-words-off"),
        pytest.param("Who are you?", ("who", "be", "you"), id="nothing-else-left"),
        pytest.param("Didn’t they’ve a who's who", ("didnt", "theyv", "a", "who"), id="contractions-alone"),
        pytest.param("key keys KEY lock", ("key", "lock"), id="each-once-in-order"),
        pytest.param("8 May 2023", ("8", "may", "2023"), id="may-is-a-month"),
        pytest.param("剑", (f"{SINGLE}剑",), id="one-character"),
        pytest.param("成语接龙", ("成语", "语接", "接龙"), id="pairs-and-no-single-characters"),
        pytest.param("谁的生日蛋糕", ("生日", "日蛋", "蛋糕"), id="pairs-with-stop-characters-off"),
        pytest.param("谁的剑", ("谁的", "的剑", f"{SINGLE}剑"), id="stop-characters-where-no-two-others-remain"),
        pytest.param("我的名字", ("我的", "的名", "名字"), id="one-other-is-not-enough"),
        pytest.param("的", (f"{SINGLE}的",), id="a-stop-character-alone"),
        pytest.param("Mira 的 剑", ("mira", f"{SINGLE}剑"), id="a-stop-character-among-others"),
        pytest.param("带着我的狗，踏青", ("带着", f"{SINGLE}狗", "踏青"), id="stranded-behind-stop-characters"),
        pytest.param("可以叫上你姐", ("可以", "以叫", "叫上", f"{SINGLE}姐"), id="stranded-at-the-end"),
        pytest.param("猫が好きな絵", ("好き", "きな", "な絵", f"{SINGLE}猫"), id="japanese-particle"),
    ],
)
def test_terms_of_a_query(query: str, terms: tuple[str, ...]) -> None:
    found = query_terms(query)

    assert found == terms
