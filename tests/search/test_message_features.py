"""How a message is said: how much of it asks, whose voice it is, and what that does to its place."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.db import Database
from talekeeper.search import Index, Kind, PartScope, Passage, Query, Source, features_of_message
from talekeeper.search.message_features import answered, asked_thirds, flags_of, turns_taken
from talekeeper.text import document_terms


@pytest.mark.parametrize(
    ("text", "thirds"),
    [
        pytest.param("The key is in the well.", 0, id="statement"),
        pytest.param("Where is the key?", 3, id="question"),
        pytest.param("钥匙在哪里？", 3, id="Chinese question"),
        pytest.param("I was at the well. Where were you all day?", 2, id="more question than statement"),
        pytest.param("I was at the well all day long, and in the evening at home. You?", 0, id="a question by the way"),
        pytest.param("", 0, id="nothing"),
        pytest.param("?" * 100_000, 3, id="nothing but signs"),
        pytest.param("a" * 100_000 + "?", 3, id="one sentence without end"),
    ],
)
def test_how_much_of_a_text_asks(text: str, thirds: int) -> None:
    assert asked_thirds(text) == thirds


@given(st.text(), st.text(), st.booleans())
def test_a_manner_is_a_byte_and_kept_as_it_is(text: str, who: str, is_player: bool) -> None:
    made = features_of_message(text, who, is_player=is_player)

    assert 0 <= made < 256
    assert flags_of(passage("m", text, 0, made)) == made


def test_player_and_narrator_never_have_the_same_voice() -> None:
    pairs = [
        [features_of_message("?", name, is_player=is_player) for is_player in (True, False)] for name in "abcdefghij"
    ]

    assert all(answered(np.array(pair, np.uint8)).tolist() == [1, 0] for pair in pairs)


@pytest.mark.parametrize(
    ("speakers", "places", "share"),
    [
        pytest.param("aaaa", [0, 1, 2, 3], 0.0, id="one voice"),
        pytest.param("abab", [0, 1, 2, 3], 1.0, id="two in turn"),
        pytest.param("aabb", [0, 1, 2, 3], 1 / 3, id="two, one after the other"),
        pytest.param("aabb", [0, 1, 7, 8], 0.0, id="what stands apart is not followed"),
        pytest.param("ab", [0, 2], 1.0, id="no two side by side"),
        pytest.param("a", [5], 1.0, id="one message"),
        pytest.param("", [], 1.0, id="none"),
    ],
)
def test_how_far_voices_take_turns(speakers: str, places: list[int], share: float) -> None:
    flags = np.array([features_of_message("", name, is_player=False) for name in speakers], np.uint8)

    assert turns_taken(flags, np.array(places, np.intp)) == pytest.approx(share)


@pytest.mark.parametrize(
    ("is_dialogue", "lent"), [pytest.param(False, 0.225, id="one"), pytest.param(True, 0.45, id="two")]
)
def test_in_a_monologue_a_message_is_lent_half(
    is_dialogue: bool, lent: float, db: Database, index: Index, part: int, message: Callable[..., Passage]
) -> None:
    told = [
        replace(message(text, depth), features=features_of_message(text, "", is_player=is_dialogue and depth % 2 == 1))
        for depth, text in enumerate(["The brass key.", "Under the lamp.", "Rain."])
    ]
    db.write(lambda tx: [index.add(tx, part, one) for one in told], name="tell")
    query = Query(("brass",), (PartScope(part, {0: 9}),), (Source(),), explain=True)

    hits = db.read(lambda tx: index.search(tx, query)).hits

    near = {hit.key: row.near_tf for hit in hits for row in hit.explanation}
    assert near["m1"] == pytest.approx(lent)


def test_the_answer_stands_before_the_question_that_has_more_of_the_words(
    db: Database, index: Index, part: int, message: Callable[..., Passage]
) -> None:
    told = ["Rain again.", "Where did you hide the brass key?", "The key? Under the brass lamp.", "Good night."]
    passages = [
        replace(message(text, depth), features=features_of_message(text, "", is_player=depth % 2 == 1))
        for depth, text in enumerate(told)
    ]
    db.write(lambda tx: [index.add(tx, part, one) for one in passages], name="tell")
    query = Query(texts=("Where is the brass key hidden?",), parts=(PartScope(part, {0: 9}),), sources=(Source(),))

    hits = db.read(lambda tx: index.search(tx, replace(query, explain=True))).hits

    assert [hit.key for hit in hits[:2]] == ["m2", "m1"]
    for hit in hits:
        assert sum(row.contribution for row in hit.explanation) == pytest.approx(hit.score)


def passage(key: str, text: str, depth: int, made: int) -> Passage:
    return Passage(Kind.MESSAGE, "", "", key, 0, depth, depth, document_terms(text), 0, features=made)


def test_a_write_loads_no_numpy() -> None:
    code = (
        "import sys; from talekeeper.search import Index, features_of_message; Index.add; print('numpy' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
