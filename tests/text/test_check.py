"""Which strings may be stored, how much context they take, and what loading the room costs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.errors import ParameterError
from talekeeper.text import check_text, digest, estimate_tokens


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        pytest.param("ab\0c", "a NUL character at character 3", id="nul"),
        pytest.param("\ud83d", "half a surrogate pair, U+D83D, at character 1", id="first-half"),
        pytest.param("x\udc00", "half a surrogate pair, U+DC00, at character 2", id="second-half"),
    ],
)
def test_what_no_database_can_hold_is_refused_by_field_and_place(value: str, fault: str) -> None:
    with pytest.raises(ParameterError, match="title") as refused:
        check_text(value, "title")

    assert refused.value.field == "title"
    assert fault in str(refused.value)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_every_other_text_comes_back_as_it_is(value: str) -> None:
    checked = check_text(value, "text")

    assert checked is value


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_any_string_has_a_digest_of_64_bits(text: str) -> None:
    number = digest(text)

    assert -(2**63) <= number < 2**63
    assert number == digest("".join(text))


def test_a_digest_is_the_same_in_every_process_and_version() -> None:
    numbers = [digest(""), digest("Mira hid the key."), digest("剑")]

    assert numbers == [-1970711489451281740, 8188813949813582362, -836348397256302481]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("a", 1, id="rounded-up"),
        pytest.param("abcdefgh", 2, id="a-quarter-each"),
        pytest.param("他拔出了剑。", 6, id="one-each"),
        pytest.param("カナ한글", 4, id="kana-and-hangul"),
        pytest.param("剑 sword", 3, id="mixed"),
    ],
)
def test_tokens_of(text: str, tokens: int) -> None:
    estimate = estimate_tokens(text)

    assert estimate == tokens


@given(st.text(), st.text())
def test_an_estimate_grows_with_the_text(one: str, two: str) -> None:
    both = estimate_tokens(one + two)

    assert max(estimate_tokens(one), estimate_tokens(two)) <= both <= estimate_tokens(one) + estimate_tokens(two)


def test_the_room_loads_nothing_heavy_and_leaves_its_tables_for_later() -> None:
    code = (
        "import sys, talekeeper.text.tokens as runs, talekeeper.text.normalisation as normalise\n"
        "print({'numpy', 'regex', 'json', 'asyncio'} & set(sys.modules))\n"
        "print(runs.any_script.cache_info().currsize, normalise._table.cache_info().currsize)"
    )

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert printed.splitlines() == ["set()", "0 0"]
