"""An excerpt is a stretch of the text, within its limit, around what matched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.search import snippet

FILLER = " ".join(f"Nothing of note was said on day {i}." for i in range(60))
anything = st.text(st.characters(exclude_categories=()), max_size=300)


@given(anything, anything, st.integers(-1, 120))
def test_an_excerpt_is_part_of_the_text_and_no_longer_than_asked(text: str, query: str, limit: int) -> None:
    part = snippet(text, query, limit)

    assert len(part) <= max(limit, 0)
    assert part in text or part.removeprefix("…").removesuffix("…") in text


def test_a_short_text_is_given_whole() -> None:
    assert snippet("Mira hid the key.", "nothing") == "Mira hid the key."


def test_the_matching_sentence_is_in_it_with_what_surrounds_it() -> None:
    text = f"{FILLER} Mira hid the silver key under the third step. {FILLER}"

    part = snippet(text, "where is Mira's silver key", 300)

    assert "Mira hid the silver key under the third step." in part
    assert part.startswith("…Nothing")
    assert part.endswith(".…")
    assert part.index("Mira") > 40
    assert len(part) <= 300


def test_a_rare_word_outweighs_a_common_one() -> None:
    text = f"{FILLER} The note was blue. {FILLER} There was a zeppelin. {FILLER}"

    assert "zeppelin" in snippet(text, "note zeppelin", 200)


def test_two_words_close_together_beat_one() -> None:
    text = f"A key. {FILLER} A silver thing. {FILLER} A silver key. {FILLER}"

    assert "A silver key." in snippet(text, "silver key", 120)


def test_nothing_is_said_to_be_cut_where_nothing_is() -> None:
    start = snippet(f"The zeppelin came. {FILLER}", "zeppelin", 100)
    end = snippet(f"{FILLER} The zeppelin came.", "zeppelin", 100)

    assert start.startswith("The zeppelin came.")
    assert start.endswith("…")
    assert end.startswith("…")
    assert end.endswith("The zeppelin came.")


def test_without_a_match_the_beginning_is_shown() -> None:
    assert snippet(FILLER, "zeppelin", 100).startswith("Nothing of note was said on day 0.")


def test_chinese_is_cut_between_sentences() -> None:
    text = "今天没有什么事情。" * 60 + "米拉把银钥匙藏在钟楼下。" + "大家都睡了。" * 60

    part = snippet(text, "银钥匙", 60)

    assert "米拉把银钥匙藏在钟楼下。" in part
    assert part.startswith("…今")


@pytest.mark.parametrize("character", ["👩‍🚀", "e\u0301", "한", "กำ"], ids=["joined", "accent", "hangul", "thai"])
def test_a_sentence_without_end_is_cut_between_graphemes(character: str) -> None:
    part = snippet(character * 400, "zeppelin", 101)

    assert len(part) <= 101
    assert part.removesuffix("…").replace(character, "") == ""


def test_long_words_are_cut_at_blanks_where_there_are_any() -> None:
    part = snippet("alpha beta gamma delta " * 50, "gamma", 40)

    assert set(part.strip("…").split()) <= {"alpha", "beta", "gamma", "delta"}
