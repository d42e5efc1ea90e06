"""Hedged wording is inferred, in English and the scripts without spaces, on word boundaries."""

from __future__ import annotations

import pytest
from talekeeper_memory.wording import authority_of


@pytest.mark.parametrize(
    "text",
    [
        "Mara probably hid the key.",
        "Perhaps Aldric lied.",
        "It is likely that the bridge fell.",
        "The captain seems ill.",
        "Rumour has it that the well is cursed.",
        "MAYBE the gate is open.",
        "玛拉可能藏起了钥匙。",
        "据说井水有毒。",
        "他似乎在撒谎。",
        "彼は嘘をついたかもしれない。",
        "門は開いているようだ。",
    ],
)
def test_hedged_wording_is_inferred(text: str) -> None:
    assert authority_of(text) == "inferred"


@pytest.mark.parametrize(
    "text",
    [
        "It is unlikely that Mara forgot.",
        "The almighty king slept.",
        "Aldric has a dog named Maybelle.",
        "The seamstress mended the sail.",
        "不可能的事发生了。",
        "他讲解了大概念。",
        "素晴らしい剣を手に入れた。",
        "",
    ],
)
def test_a_marker_inside_another_word_hedges_nothing(text: str) -> None:
    assert authority_of(text) == "story"
