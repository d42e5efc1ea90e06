"""Texts are cut at sentence ends, and counted in words in any script."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.api import estimate_tokens, sentence_ends
from talekeeper_memory import truncate
from talekeeper_memory.truncate import (
    cut_at_sentence,
    cut_to_words,
    first_tokens,
    is_blank,
    last_tokens,
    one_line,
)

DENSE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
MIXED = st.text(st.sampled_from("ab cé. !?\n。！漢字かな😀"), max_size=400)


def count_words(text: str) -> int:
    """Two Chinese or Japanese characters are one word."""
    return (len(DENSE.findall(text)) + 1) // 2 + len(re.findall(r"\w[\w'’-]*", DENSE.sub(" ", text)))


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        pytest.param("One. Two. Three.", 16, "One. Two. Three.", id="exactly the limit"),
        pytest.param("One. Two. Three.", 15, "One. Two.", id="one over"),
        pytest.param("我来了。她走了。门关上了。", 8, "我来了。她走了。", id="Chinese"),
        pytest.param("مرحبا؟ نعم. لا أعرف بعد", 8, "مرحبا؟", id="Arabic"),
        pytest.param("Mr. Brown came. He left again.", 20, "Mr. Brown came.", id="a title is no end"),
        pytest.param("a long stretch without an end", 16, "a long stretch", id="no end: between words"),
        pytest.param("Donaudampfschifffahrt", 8, "Donaudam", id="one long word"),
    ],
)
def test_a_text_ends_with_the_last_sentence_that_fits(text: str, limit: int, kept: str) -> None:
    assert cut_at_sentence(text, limit) == kept


@given(MIXED, st.integers(1, 100))
def test_a_cut_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    cut = cut_at_sentence(text, limit)

    assert len(cut) <= limit
    assert text.strip().startswith(cut)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("Mara's well-kept key, twice.", 4, id="English"),
        pytest.param("她拿走了钥匙", 3, id="two characters a word"),
        pytest.param("Mara拿走了钥匙", 4, id="mixed"),
        pytest.param("", 0, id="nothing"),
    ],
)
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    assert count_words(text) == words
    assert cut_to_words(text, words) == text
    assert not text or cut_to_words(text, words - 1) != text


@pytest.mark.parametrize(("words", "kept"), [(50, 50), (51, 40)], ids=["50th", "51st"])
def test_fifty_words_are_kept_and_the_fifty_first_costs_its_sentence(words: int, kept: int) -> None:
    text = " ".join(["Word"] * 40) + ". " + " ".join(["More"] * (words - 40)) + "."

    assert count_words(cut_to_words(text, 50)) == kept


def test_a_sentence_longer_than_all_words_is_cut_between_them() -> None:
    assert cut_to_words("one two three four", 3) == "one two three"
    assert cut_to_words("她拿走了那把钥匙", 3) == "她拿走了那把"


@given(MIXED, st.integers(1, 60))
def test_the_cut_is_the_last_of_those_that_fit(text: str, limit: int) -> None:
    text = text.strip()
    fitting = [text[:end].strip() for end in sentence_ends(text) if count_words(text[:end]) <= limit]

    cut = cut_to_words(text, limit)

    assert cut == fitting[-1] if fitting else text.startswith(cut)


def test_of_an_endless_text_only_the_beginning_is_read_for_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counting(text: str) -> list[int]:
        read.append(len(text))
        return sentence_ends(text)

    monkeypatch.setattr(truncate, "sentence_ends", counting)

    assert cut_to_words("A word. " * 100_000, 50).count("word") == 25
    assert sum(read) < 1_000


@given(MIXED, st.integers(1, 60))
def test_words_never_pass_the_limit(text: str, limit: int) -> None:
    assert count_words(cut_to_words(text, limit)) <= limit


@given(MIXED, st.integers(1, 60))
def test_tokens_are_cut_from_either_side(text: str, tokens: int) -> None:
    head, tail = first_tokens(text, tokens), last_tokens(text, tokens)

    assert text.startswith(head)
    assert text.endswith(tail)
    assert max(estimate_tokens(head), estimate_tokens(tail)) <= tokens


@pytest.mark.parametrize(
    ("text", "blank"), [("", True), (" \n", True), ("\u200b\u2060\x1b", True), ("a", False), ("\u200b门", False)]
)
def test_what_cannot_be_seen_is_blank(text: str, blank: bool) -> None:
    assert is_blank(text) is blank


def test_one_line_has_no_breaks() -> None:
    assert one_line(" a\n\tb  c\u2028d ") == "a b c d"
