"""Laws that hold for every text, tried on texts of all scripts and on strings nobody would write."""

from __future__ import annotations

import sys
import unicodedata
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from talekeeper.text import SINGLE, document_terms, query_terms
from talekeeper.text.normalisation import normalise, normalise_any
from talekeeper.text.tokens import any_script, find_runs
from talekeeper.text.words import TOKEN_LIMIT, split_word

SAMPLES = (
    *("Mira’s keys weren't there at 12:30", "ΐ Ὀδυσσεύς ᾳ", "Ёжик й ї", "straße ﬁne ŉ ǰ", "İı ISPARTA", "Ǆ ǆ Ⅷ ②"),
    *("नमस्ते क्षि", "தமிழ்", "שָׁלוֹם", "العَرَبِيَّة ٢٠٢٣", "กุญแจ ๒๕๖๖", "ខ្មែរ", "မြန်မာ", "ລາວ", "བོད་ཡིག"),
    *(
        "他拔出了剑 龍捲風",
        "カタカナ ｶﾞｷﾞ が",
        "끝말잇기 ㅋㅋㅋ",
        "𠮷野家 〇々",
        "🍎👩🏽‍🚀🇩🇪 1️⃣",
        "ﷺ ㍿ ™",
        "a\u200b\u0301b\u00ad",
    ),
    *("20.04 2023-05-08 3/1 1,000 1st a1 b2c", "𞤀𞤣 𑄌𑄴", "\ud800\0\x01\ufffe", "x'y''z'", "。、！？「」"),
)
ANY = st.text(alphabet=st.characters(exclude_categories=[]))
SCRIPTS = st.lists(st.sampled_from([*SAMPLES, *"".join(SAMPLES), " "])).map("".join)
TEXTS = ANY | SCRIPTS


@given(TEXTS)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    once = normalise(text)

    assert normalise(once) == once


@given(TEXTS)
@example("“It’s — a–b…” 5…6 ‘n’，（1，000）！？12：30；\u3000x")
def test_the_short_road_and_the_long_one_lead_to_the_same_tokens(text: str) -> None:
    short, long = find_runs(normalise(text)), any_script()(normalise_any(text))

    assert [split_word(run) for run in short] == [split_word(run) for run in long]


@given(TEXTS)
def test_case_changes_no_term(text: str) -> None:
    terms = document_terms(text)

    assert document_terms(text.lower()) == document_terms(text.casefold()) == terms


@given(st.lists(st.sampled_from(SAMPLES)).map(" ".join))
def test_capitals_change_no_term(text: str) -> None:
    terms = document_terms(text)

    assert document_terms(text.upper()) == terms


@given(TEXTS)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composition_changes_no_term(form: Literal["NFC", "NFD"], text: str) -> None:
    composed = unicodedata.normalize(form, text)

    assert document_terms(composed) == document_terms(text)


@given(st.text(alphabet=st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_width_changes_no_term(text: str) -> None:
    wide = "".join("\u3000" if character == " " else chr(ord(character) + 0xFEE0) for character in text)

    assert document_terms(wide) == document_terms(text)


@given(TEXTS)
def test_a_text_holds_every_term_of_itself_as_a_query(text: str) -> None:
    asked = query_terms(text)

    assert set(asked) <= set(document_terms(text).counts)
    assert len(set(asked)) == len(asked)


@given(TEXTS)
def test_a_query_is_empty_only_where_there_is_no_term(text: str) -> None:
    asked = query_terms(text)

    assert bool(asked) == bool(document_terms(text).counts)


@given(TEXTS, TEXTS)
def test_two_texts_of_a_passage_count_as_each_alone(one: str, two: str) -> None:
    both = document_terms(one, two)

    assert both.length == document_terms(one).length + document_terms(two).length
    assert set(both.counts) == set(document_terms(one).counts) | set(document_terms(two).counts)


@given(TEXTS)
def test_counts_of_tokens_add_up_to_the_length(text: str) -> None:
    terms = document_terms(text)

    tokens = sum(times for term, times in terms.counts.items() if not term.startswith(SINGLE))
    alone = sum(len(run) == 1 for run in find_runs(normalise(text)) if f"{SINGLE}{run}" in terms.counts)
    assert tokens + alone == terms.length


@given(TEXTS)
def test_every_term_is_short_can_be_stored_and_holds_no_space(text: str) -> None:
    counts = document_terms(text).counts

    for term, times in counts.items():
        assert 1 <= len(term) <= TOKEN_LIMIT
        assert term.encode()
        assert "\0" not in term
        assert term.split() == [term]
        assert 1 <= times <= 255


def characters(*categories: str) -> list[str]:
    everything = map(chr, range(sys.maxunicode + 1))
    return [character for character in everything if unicodedata.category(character).startswith(categories)]


def test_every_letter_and_digit_there_is_makes_a_term() -> None:
    lost = {character for character in characters("L", "N") if not document_terms(character).length}

    # Apostrophes that count as letters, the four Hangul fillers, which draw nothing, and loose kana marks.
    assert lost == set("ʻʼ\u115f\u1160\u3164\uffa0\uff9e\uff9f")


def test_no_punctuation_space_currency_or_control_makes_a_term() -> None:
    counted = {sign for sign in characters("P", "Z", "Cc", "Cf", "Cs", "Sc") if document_terms(sign).length}

    assert counted == set("₨﷼")  # signs whose compatible spelling is a word
