"""How memories are scored for an action in a scene, with and without vectors."""

from __future__ import annotations

from math import isclose

from talekeeper.api import ScoredRecord
from talekeeper_memory.relevance import Question, floor_of, ranked

MIX = {"weight_action": 0.6, "weight_scene": 0.4, "weight_lexical": 0.15}
NOTHING = Question((), {})


def question(terms: tuple[str, ...], **answers: tuple[tuple[str, ...], float | None]) -> Question:
    return Question(
        terms,
        {
            key: ScoredRecord(key, 1.0, matched, len(matched) / len(terms), semantic)
            for key, (matched, semantic) in answers.items()
        },
    )


def test_without_vectors_both_texts_count_by_their_weights() -> None:
    action = question(("key",), a=(("key",), None))
    scene = question(("well",), a=(("well",), None), b=(("well",), None))

    found = ranked(action, scene, 10, MIX)

    assert [(one.key, round(one.final, 9), one.semantic) for one in found] == [("a", 1.0, None), ("b", 0.4, None)]


def test_without_a_shared_term_there_is_nothing() -> None:
    assert ranked(question(("key",), a=((), None)), NOTHING, 10, MIX) == []


def test_the_only_memory_has_a_score_for_the_word_it_shares() -> None:
    (one,) = ranked(question(("key", "moon"), a=(("key",), None)), NOTHING, 1, MIX)

    assert one.final > 0


def test_what_all_of_many_memories_share_is_no_score() -> None:
    every: dict[str, tuple[tuple[str, ...], float | None]] = {f"m{at}": (("mara",), None) for at in range(60)}
    action = question(("mara", "key"), **(every | {"a": (("mara", "key"), None)}))

    assert [one.key for one in ranked(action, NOTHING, 61, MIX)] == ["a"]


def test_what_is_unlike_in_meaning_and_shares_no_word_is_no_score() -> None:
    action = question(("key", "moon"), a=((), -0.2), b=((), 0.0), c=(("key",), 0.0))

    assert [one.key for one in ranked(action, NOTHING, 10, MIX)] == ["c"]


def test_with_vectors_meaning_counts_and_rare_words_add_to_it() -> None:
    action = question(("key", "moon"), a=(("key",), 0.5), b=((), 0.9))
    scene = question(("well",), a=(("well",), 0.5), b=((), 0.1))

    found = {one.key: one for one in ranked(action, scene, 10, MIX)}

    assert isclose(found["b"].final, 0.6 * 0.9 + 0.4 * 0.1)
    assert found["a"].semantic == 0.5
    assert isclose(found["a"].final, 0.5 + 0.15 * found["a"].lexical)
    assert 0 < found["a"].lexical < 1


def test_a_memory_without_its_vector_yet_has_its_words() -> None:
    action = question(("key",), a=(("key",), None), b=((), 0.4))

    found = ranked(action, NOTHING, 10, MIX)

    assert [(one.key, round(one.final, 9)) for one in found] == [("b", 0.24), ("a", 0.15)]


def test_equal_scores_go_by_key() -> None:
    action = question(("key",), b=(("key",), None), a=(("key",), None))

    assert [one.key for one in ranked(action, NOTHING, 10, MIX)] == ["a", "b"]


def test_the_floor_of_likeness_is_the_models_own() -> None:
    low, high = [0.1 + 0.01 * (one % 5) for one in range(30)], [0.8 + 0.01 * (one % 5) for one in range(30)]

    assert max(low) < floor_of(low) < 0.2
    assert max(high) < floor_of(high) < 0.9
    assert floor_of([0.9, 0.9]) == 1.0
