"""Texts as terminals, prompts and messages show them, held over all of Unicode."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from talekeeper.text import BREAK, prompt_line, quoted, terminal_line, terminal_text

UNICODE = "".join(map(chr, range(sys.maxunicode + 1)))
DRAWN_FORMAT = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")


HIDDEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def test_a_terminal_gets_everything_that_is_drawn_and_nothing_that_it_obeys_or_hides() -> None:
    special = "\n\t\u2028\u2029"
    others = "".join(c for c in UNICODE if c not in special and not "\ud800" <= c <= "\udfff")
    drawn = "".join(c for c in others if unicodedata.category(c) not in HIDDEN or c in DRAWN_FORMAT)

    assert terminal_text(others) == drawn


@pytest.mark.parametrize(
    "character",
    [
        "\x1b",
        "\x9b",
        "\x7f",
        "\u00ad",
        "\u061c",
        "\u180e",
        "\u200b",
        "\u202e",
        "\u2066",
        "\ufeff",
        "\ue000",
        "\U000e0041",
    ],
    ids=lambda character: f"U+{ord(character):04X}",
)
def test_what_is_hidden_leaves_no_gap(character: str) -> None:
    assert terminal_text(f"a{character}b") == "ab"


def test_separators_of_lines_and_half_surrogates_are_not_lost() -> None:
    assert terminal_text("a\u2028b\u2029c\ud800") == "a\nb\nc\ufffd"
    assert terminal_line(" a\u2028b\t\nc ") == "a b c"


def test_a_prompt_line_has_no_break_and_nothing_unseen() -> None:
    line = prompt_line(UNICODE)

    assert line.splitlines() == [line]
    assert not {unicodedata.category(c) for c in set(line)} & (HIDDEN - {"Co"})
    assert prompt_line("one\r\ntwo\u2028three\t!") == f"one{BREAK}two{BREAK}three !"


@pytest.mark.parametrize("value", [2**64, -(2**64), 16**6000], ids=["over", "under", "longer-than-python-writes"])
def test_a_number_that_no_file_should_hold_is_described(value: int) -> None:
    assert quoted(value) == "a number of more than 64 bits"


def test_the_largest_number_of_64_bits_is_shown() -> None:
    assert quoted(2**64 - 1) == "18446744073709551615"
