"""Long texts made to be slow. What takes the square of their length does not end today, so to end is to pass."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from talekeeper.text import (
    check_text,
    cut_graphemes,
    date_words,
    digest,
    document_terms,
    estimate_tokens,
    grapheme_border,
    query_terms,
    sentence_ends,
)

UNITS = {
    "one-word": "a",
    "one-number": "1",
    "one-number-of-many-parts": "1.",
    "one-number-of-thousands": "1,",
    "apostrophes": "a'",
    "underscores": "_",
    "hyphens": "1-",
    "full-stops": ".",
    "exclamations-and-quotes": '!"',
    "spaces": " ",
    "lines": " \n",
    "returns": "\r\n",
    "marks-out-of-order": "\u0315\u0300",
    "marks-out-of-order-and-apart": "\u0315\u00ad\u0300\u00ad",
    "hebrew-points": "\u05b0\u0591",
    "thai-marks": "\u0e38\u0e48",
    "khmer-stacks": "ក\u17d2",
    "virama-chains": "क्",
    "half-flags": "🇩",
    "joined-people": "👩\u200d",
    "loose-hangul": "\u1112\u200b\u1161\u200b",
    "hangul": "한",
    "han": "接龙",
    "widening": "\ufdfa",
    "unseen": "\u200b",
    "surrogates": "\ud800",
}


@pytest.mark.parametrize("size", [200_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_a_long_text_is_read_by_every_function(unit: str, size: int) -> None:
    text = unit * (size // len(unit.encode("utf-8", "surrogatepass")))
    marked = f"x{text}x"

    terms = document_terms(marked)

    assert 0 < terms.length <= 2 * size
    assert query_terms(marked)
    assert len(cut_graphemes(marked, len(text))) <= len(text)
    assert grapheme_border(marked, len(marked) // 2) <= len(marked) // 2
    assert sentence_ends(marked)[-1] == len(marked)
    assert date_words(marked) == ""
    assert estimate_tokens(marked) <= len(marked)
    assert digest(marked)
    if unit != "\ud800":
        assert check_text(marked, "text") is marked


@pytest.mark.parametrize(
    "letters",
    ["กขคงจฉชซ", "ကခဂဃငစဆဇ", "😀😁😂🤣😃😄😅😆", "가나다라마바사아", "我有一条狗猫鱼鸟"],
    ids=["Thai", "Burmese", "emoji", "Hangul", "Han"],
)
def test_phrases_are_not_remembered_like_words(letters: str) -> None:
    chance = random.Random(1)
    phrases = ["".join(chance.choices(letters, k=60)) for _ in range(1_000)]
    document_terms(phrases[0])

    tracemalloc.start()
    for phrase in phrases:
        document_terms(phrase)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert held < 1_000_000
