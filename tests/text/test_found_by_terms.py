"""Texts that a question must find by its terms alone, and texts it must not."""

from __future__ import annotations

import pytest
from talekeeper.text import digest, document_terms, query_terms


def shared(query: str, text: str) -> set[str]:
    return set(query_terms(query)) & set(document_terms(text).counts)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param("しりとり", "昨日は友達としりとりをして遊んだ", id="japanese-word-in-a-sentence"),
        pytest.param("끝말잇기", "동생과 끝말잇기를 했다", id="korean-word-with-a-particle"),
        pytest.param("成语接龙", "下午我们玩成语接龙", id="chinese-word-in-a-sentence"),
        pytest.param("用户身份", "先检查用户身份证", id="chinese-phrase-by-its-parts"),
        pytest.param("itgc", "重跑gen-itgc后清零", id="latin-glued-to-chinese"),
        pytest.param("50", "共有50条引用", id="number-glued-to-chinese"),
        pytest.param("CAFÉ", "They met at the cafe\u0301.", id="accent-composed-or-not-any-case"),
        pytest.param("jose letter", "José left the letter.", id="accent-not-typed"),
        pytest.param("memory:safe", "memory:safe mode was on", id="colon"),
        pytest.param('say "hi', "she will say hi at noon", id="unbalanced-quote"),
        pytest.param("foo AND", "the foo fighters", id="operator-at-the-end"),
        pytest.param("(python", "learning python today", id="parenthesis"),
        pytest.param("pre-edit", "the pre-edit backup", id="hyphen"),
        pytest.param("20.04", "Ubuntu 20.04 on the old box", id="version"),
        pytest.param("Mira's keys", "Mira hid the silver key.", id="possessive-and-plural"),
        pytest.param("剑", "他拔出了剑。", id="one-han-character"),
        pytest.param("Mira 剑", "她的剑断了", id="one-han-character-beside-latin"),
        pytest.param("검", "그는 검을 뽑았다", id="one-hangul-syllable"),
        pytest.param("abc123", "型号是ＡＢＣ１２３", id="full-width"),
        pytest.param("ｶﾀｶﾅ", "カタカナの看板", id="half-width-katakana"),
        pytest.param("AI", "The AI opened the gate.", id="two-letters"),
        pytest.param("กุญแจ", "เขาซ่อนกุญแจไว้ใต้บันได", id="thai"),
        pytest.param("apples", "painted a ⭐ on the crate 🍎apples", id="emoji-glued-to-a-word"),
        pytest.param("👍", "ok 👍🏽", id="emoji-of-another-skin-tone"),
        pytest.param("裡面有一隻貓", "里面有一只猫", id="traditional-for-simplified"),
        pytest.param("where did she hide it", "Mira hid the key", id="irregular-verb"),
        pytest.param("the grey harbor", "a gray harbour town", id="two-spellings-of-english"),
        pytest.param("1990s", "in the summer of 1990", id="decade"),
        pytest.param("June 1st", "on 1 June", id="ordinal"),
        pytest.param("1000 coins", "paid 1,000 for it", id="thousands"),
        pytest.param("5月8号", "2023年5月8日去了公园", id="chinese-date"),
        pytest.param("Isparta", "ISPARTA'ya ısparta", id="turkish-dotless-i"),
        pytest.param("istanbul", "İstanbul", id="turkish-dotted-i"),
        pytest.param("٢٠٢٣", "in 2023", id="arabic-digits"),
        pytest.param("straße", "Die STRASSE", id="sharp-s"),
        pytest.param("Łukasz", "lukasz smiled", id="stroked-letter"),
    ],
)
def test_a_question_finds_the_text(query: str, text: str) -> None:
    found = shared(query, text)

    assert found


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param("しりとり", "明日は雨が降るらしい", id="japanese"),
        pytest.param("끝말잇기", "내일은 도서관에 간다", id="korean"),
        pytest.param("成语接龙", "明天去图书馆看书", id="chinese"),
        pytest.param("itgc", "今天天气很好", id="latin"),
        pytest.param("CAFÉ", "We met at the station.", id="accent"),
        pytest.param("foo AND", "nothing here and there", id="operator"),
        pytest.param("Mira's keys", "The harbour is closed.", id="possessive"),
        pytest.param("剑", "她收起了弓。", id="one-character"),
        pytest.param("AI", "The guard said so.", id="two-letters"),
        pytest.param("กุญแจ", "พรุ่งนี้ฝนจะตก", id="thai"),
        pytest.param("apples", "Empty crate", id="emoji"),
        pytest.param("宝剑", "他拔出了剑。", id="a-longer-run-asks-for-its-pairs-only"),
    ],
)
def test_a_question_leaves_another_text_alone(query: str, text: str) -> None:
    found = shared(query, text)

    assert not found


def test_a_version_is_told_from_its_neighbour_by_the_whole_number() -> None:
    found, other = shared("20.04", "Ubuntu 20.04"), shared("20.04", "Ubuntu 24.04")

    assert found > other
    assert "20.04" in found - other


@pytest.mark.parametrize("query", ["", " ", "？……", "()[]{}", "\0", "\ud800", "\u200b\ufeff", "'", "---", "_"])
def test_a_query_without_words_has_no_terms(query: str) -> None:
    terms = query_terms(query)

    assert terms == ()


def test_identical_texts_have_one_digest_and_others_another() -> None:
    first, again, other = map(digest, ("Roland plays.", "Roland plays.", "roland plays."))

    assert first == again != other
    assert -(2**63) <= first < 2**63
