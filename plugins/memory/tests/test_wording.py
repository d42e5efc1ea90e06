"""Two sentences in nearly the same words differ by a name, a number or a negation, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from talekeeper_memory.wording import differ

NAMES = ("玛拉", "艾尔德")


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        pytest.param("Mara promised to return.", "Aldric promised to return.", "names", id="names"),
        pytest.param("Mara trusts Aldric.", "Aldric trusts Mara.", "names", id="the other way round"),
        pytest.param("Mara paid 3 coins.", "Mara paid 5 coins.", "numbers", id="digits"),
        pytest.param("Mara paid three coins.", "Mara paid five coins.", "numbers", id="number words"),
        pytest.param("Mara trusts the guard.", "Mara does not trust the guard.", "negation", id="not"),
        pytest.param("Mara will come.", "Mara won't come.", "negation", id="contraction"),
        pytest.param("Mara can open it.", "Mara can open it without help.", "negation", id="without"),
        pytest.param("玛拉答应回来。", "艾尔德答应回来。", "names", id="Chinese names"),
        pytest.param("她付了三枚金币。", "她付了五枚金币。", "numbers", id="Chinese numbers"),
        pytest.param("她相信守卫。", "她不相信守卫。", "negation", id="Chinese negation"),
        pytest.param("Mara hid the key in the well.", "Mara hid the key inside the well.", "", id="reworded"),
        pytest.param("The key lies in the well.", "Mara's key lies in the well.", "names", id="whose"),
        pytest.param("Ships lie in the harbour.", "The ships lie in the harbour.", "", id="a capital at the beginning"),
        pytest.param("Mara paid 1,000 coins.", "Mara paid 1000 coins.", "", id="one way of writing numbers"),
        pytest.param("Mara’s key is gone.", "Mara's key is gone.", "", id="apostrophes"),
    ],
)
def test_what_sentences_differ_in(one: str, other: str, what: str) -> None:
    assert differ(one, other, NAMES) == what
    assert differ(other, one, NAMES) == what


@settings(max_examples=30)
@given(st.text(max_size=50), st.text(max_size=50), st.lists(st.text(max_size=5), max_size=3))
def test_a_text_differs_from_itself_in_nothing_and_the_order_does_not_matter(
    one: str, other: str, known: list[str]
) -> None:
    assert differ(one, one, known) == ""
    assert bool(differ(one, other, known)) == bool(differ(other, one, known))
