"""Where texts are cut: at graphemes and behind sentences."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.text import cut_graphemes, grapheme_border, sentence_ends

ASTRONAUT, FLAG, ACUTE, HANGUL = "👩🏽‍🚀", "🇩🇪", "e\u0301", "\u1112\u1161\u11ab"
PIECES = ("a", " ", "\r\n", ACUTE, ASTRONAUT, FLAG, "🇫", HANGUL, "한", "क्षि", "กำ", "剑", "\u200d", "\u0301", "\u0600")
TEXTS = st.text() | st.lists(st.sampled_from(PIECES)).map("".join)


def borders(text: str) -> list[int]:
    return [0, *(found.end() for found in regex.compile(r"\X").finditer(text))]


@pytest.mark.parametrize("piece", [ASTRONAUT, FLAG, ACUTE, HANGUL, "\r\n", "क्षि", "1\ufe0f\u20e3"])
def test_a_cut_inside_a_grapheme_leaves_it_out(piece: str) -> None:
    text = f"剑{piece}b"

    for limit in range(1, len(piece) + 1):
        assert cut_graphemes(text, limit) == "剑"
    assert cut_graphemes(text, len(piece) + 1) == f"剑{piece}"


@given(TEXTS, st.integers(-3, 60))
def test_a_cut_is_the_longest_whole_beginning_within_the_limit(text: str, limit: int) -> None:
    cut = cut_graphemes(text, limit)

    assert len(cut) == max(border for border in borders(text) if border <= max(0, limit))
    assert text.startswith(cut)


@given(TEXTS, st.integers())
def test_a_border_is_one_of_the_text(text: str, at: int) -> None:
    border = grapheme_border(text, at)

    assert border in borders(text)


def sentences(text: str) -> list[str]:
    ends = sentence_ends(text)
    return [text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param(["Run!", "He ran.", "Did he?", "He did…", "And so on"], id="english"),
        pytest.param(["Mr. J. Brown paid Dr. Li 3.50 e.g. twice.", "Then he left."], id="full-stops-inside"),
        pytest.param(['"Run!" she said.', "(He ran.)", "*Quickly.*", "“Why?”"], id="quotes-and-brackets"),
        pytest.param(["Wait... no.", "Not now… yes."], id="goes-on-with-a-small-letter"),
        pytest.param(["Что это?", "Это ключ."], id="russian"),
        pytest.param(["वह गया।", "वह आया॥"], id="hindi"),
        pytest.param(["هل ذهب؟", "نعم۔"], id="arabic"),
        pytest.param(["ሰላም።", "ደህና።"], id="ethiopic"),
    ],
)
def test_sentences_end_where_readers_end_them(expected: list[str]) -> None:
    found = sentences(" ".join(expected))

    assert found == expected


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param(["他走了。", "“谁？”", "没人！！", "真的吗……"], id="chinese"),
        pytest.param(["「行こう。」", "彼は言った。"], id="japanese"),
        pytest.param(["你好!", "再见?"], id="chinese-with-narrow-signs"),
    ],
)
def test_sentences_end_without_a_space_behind_them(expected: list[str]) -> None:
    found = sentences("".join(expected))

    assert found == expected


def test_a_line_break_ends_a_sentence() -> None:
    found = sentences("The song:\n  first line  \n\nlast line.\n")

    assert found == ["The song:", "first line", "last line."]


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_a_blank_text_has_no_sentence(text: str) -> None:
    ends = sentence_ends(text)

    assert ends == []


@given(st.text() | st.lists(st.sampled_from([*'aA .!?。…\n”"', "Mr", "你"])).map("".join))
def test_ends_ascend_to_the_end_of_the_text(text: str) -> None:
    ends = sentence_ends(text)

    assert ends == sorted(set(ends))
    assert (ends[-1] if ends else 0) == len(text.rstrip())
    assert all(end > 0 for end in ends)
