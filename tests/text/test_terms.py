"""What a document counts, script by script."""

from __future__ import annotations

import pytest
from talekeeper.text import SINGLE, TOKENS_FINGERPRINT, document_terms


def plain(text: str) -> list[str]:
    """The terms that make the length, in order."""
    return [term for term in document_terms(text).counts if not term.startswith(SINGLE)]


def single(text: str) -> set[str]:
    return {term.removeprefix(SINGLE) for term in document_terms(text).counts if term.startswith(SINGLE)}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        pytest.param("The KEYS were hidden", ["the", "key", "be", "hide"], id="english"),
        pytest.param("Mira’s ‘key’ isn't James' own", ["mira", "key", "isnt", "jame", "own"], id="apostrophes"),
        pytest.param("snake_case and/or pre-edit", ["snake", "case", "and", "or", "pre", "edit"], id="splits"),
        pytest.param("20.04", ["20.04", "20", "04"], id="version"),
        pytest.param("2023-05-08", ["2023-05-08", "2023", "05", "08"], id="date"),
        pytest.param("12:30pm", ["12:30", "12", "30", "pm"], id="time"),
        pytest.param("3/1", ["3/1", "3", "1"], id="fraction"),
        pytest.param("½", ["1/2", "1", "2"], id="fraction-sign"),
        pytest.param("10–20", ["10-20", "10", "20"], id="range"),
        pytest.param("1st 22nd 3rd 4th 1990's", ["1", "22", "3", "4", "1990"], id="ordinals"),
        pytest.param("1,234,567 and 3,14", ["1234567", "and", "3", "14"], id="commas"),
        pytest.param("abc123 5km", ["abc123", "abc", "123", "5km", "5", "km"], id="one-border"),
        pytest.param("a3f9c2", ["a3f9c2"], id="many-borders"),
        pytest.param("1.2.3", ["1.2.3", "1", "2", "3"], id="three-parts"),
        pytest.param("Zoë naïve Ærø Đà Łódź", ["zoe", "naiv", "aero", "da", "lodz"], id="latin-accents"),
        pytest.param("Καλημέρα ΚΌΣΜΟΣ", ["καλημερα", "κοσμοσ"], id="greek"),
        pytest.param("Ещё йод", ["еще", "иод"], id="cyrillic"),
        pytest.param("नमस्ते दुनिया।", ["नमस्ते", "दुनिया"], id="hindi"),
        pytest.param("தமிழ் மொழி", ["தமிழ்", "மொழி"], id="tamil"),
        pytest.param("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"], id="hebrew"),
        pytest.param("العَرَبِيَّة، لغة", ["العَرَبِيَّة", "لغة"], id="arabic"),
        pytest.param("می‌خواهم", ["میخواهم"], id="persian-joiner"),
        pytest.param("ብርሃን።ሰላም", ["ብርሃን", "ሰላም"], id="ethiopic"),
        pytest.param("Հայ և", ["հայ", "եւ"], id="armenian"),
        pytest.param("𞤀𞤣𞤤𞤢𞤥 𑄌𑄋𑄴𑄟𑄳𑄦", ["𞤢𞤣𞤤𞤢𞤥", "𑄌𑄋𑄴𑄟𑄳𑄦"], id="above-the-lower-plane"),
        pytest.param("🍎⭐🇩🇪👩‍🚀👍🏽", ["🍎", "⭐", "🇩🇪", "👩", "🚀", "👍"], id="emoji"),
        pytest.param("1️⃣ ①", ["1"], id="keycap"),
        pytest.param("成语接龙", ["成语", "语接", "接龙"], id="han"),
        pytest.param("龍捲風", ["龙卷", "卷风"], id="traditional"),
        pytest.param("𠮷野家々", ["𠮷野", "野家", "家々"], id="han-of-a-higher-plane"),
        pytest.param("ラーメン屋", ["ラー", "ーメ", "メン", "ン屋"], id="han-and-kana-in-one-run"),
        pytest.param("ギル・ハ", ["ギル"], id="middle-dot"),
        pytest.param("끝말잇기", ["끝말", "말잇", "잇기"], id="hangul"),
        pytest.param("漢字와", ["汉字"], id="han-and-hangul-apart"),
        pytest.param("เขาซ่อน", ["เข", "ขา", "าซ่", "ซ่อ", "อน"], id="thai"),
        pytest.param("ສະບາຍ", ["ສະ", "ະບ", "ບາ", "າຍ"], id="lao"),
        pytest.param("ខ្មែរ", ["ខ្មែរ"], id="khmer-consonant-below"),
        pytest.param("မြန်မာ", ["မြန်", "န်မာ"], id="burmese"),
        pytest.param("ก", ["ก"], id="one-cluster"),
        pytest.param("x" * 200, ["x" * 64], id="no-longer-than-64"),
        pytest.param("soft\u00adhy\u200bphen\ufeff", ["softhyphen"], id="unseen"),
    ],
)
def test_terms_of_a_script(text: str, terms: list[str]) -> None:
    found = plain(text)

    assert found == terms


def test_characters_of_a_longer_run_stand_in_their_own_space_and_add_no_length() -> None:
    terms = document_terms("他拔剑剑")

    assert single("他拔剑剑") == {"他", "拔", "剑"}
    assert terms.counts[f"{SINGLE}剑"] == 2
    assert terms.length == 3


def test_a_run_of_one_character_is_a_token() -> None:
    terms = document_terms("Mira 剑")

    assert terms.counts == {"mira": 1, f"{SINGLE}剑": 1}
    assert terms.length == 2


def test_texts_of_a_passage_are_counted_together_and_do_not_touch() -> None:
    terms = document_terms("the key", "key 成", "语 key")

    assert terms.counts == {"the": 1, "key": 3, f"{SINGLE}成": 1, f"{SINGLE}语": 1}
    assert terms.length == 6


def test_a_count_ends_at_255_and_the_length_does_not() -> None:
    terms = document_terms("key " * 300)

    assert terms.counts == {"key": 255}
    assert terms.length == 300


def test_the_count_of_a_single_character_ends_at_255_too() -> None:
    terms = document_terms("哈哈，" * 200)

    assert terms.counts == {"哈哈": 200, f"{SINGLE}哈": 255}
    assert terms.length == 200


def test_nothing_gives_nothing() -> None:
    terms = document_terms("", "…", "\ud800\0")

    assert terms.counts == {}
    assert terms.length == 0


def test_the_fingerprint_names_all_that_terms_depend_on() -> None:
    parts = dict(part.rsplit("-", 1) for part in TOKENS_FINGERPRINT.split())

    assert set(parts) == {"talekeeper", "pystemmer", "unicode"}
