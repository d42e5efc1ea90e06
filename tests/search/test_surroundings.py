"""What messages mean together with their neighbours, beside arithmetic written out message by message."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from talekeeper.search.query.params import STANDARD
from talekeeper.search.vector.scores import Surroundings
from talekeeper.search.vector.stored import Matrix

WIDTH = 4
TURNS = np.array([i % 2 for i in range(30)], np.uint8)
ONE_VOICE = np.zeros(30, np.uint8)
Row = NDArray[np.float32]


def unit(vector: ArrayLike) -> Row:
    one = np.asarray(vector, np.float32)
    return (one / max(float(np.linalg.norm(one)), 1e-9)).astype(np.float32)


vectors = st.lists(st.floats(-1, 1, width=16), min_size=WIDTH, max_size=WIDTH).map(lambda one: unit([*one, 1.0]))
tellings = st.lists(st.none() | vectors, min_size=3, max_size=30)


def surroundings(told: list[Row | None], flags: NDArray[np.uint8], common: float = 0.0) -> Surroundings:
    """With a vector in half precision's place for each that has one."""
    kept = [one for one in told if one is not None]
    fixed = np.rint(np.array(kept or [unit([0.0] * (WIDTH + 1))]) * 32_767).astype(np.int16)
    has = np.array([one is not None for one in told])
    row = np.maximum(np.cumsum(has) - 1, 0)
    matrix = Matrix(np.arange(len(fixed), dtype=np.uint32), fixed)
    return Surroundings.of(flags[: len(told)], matrix, has, row, replace(STANDARD, meaning_common=common))


def shares(part: float = 1.0) -> dict[int, float]:
    before = {-away: part * share for away, share in enumerate(STANDARD.meaning_before, start=1)}
    return {0: 1.0, **before, **{away: part * share for away, share in enumerate(STANDARD.meaning_after, start=1)}}


def summed(told: list[Row | None], place: int, weights: dict[int, float]) -> tuple[Row, float]:
    """The sum of a message and its neighbours, and of their weights."""
    near = [(told[place + away], weight) for away, weight in weights.items() if 0 <= place + away < len(told)]
    there = [(one, weight) for one, weight in near if one is not None]
    total = sum((weight * one for one, weight in there), np.zeros(WIDTH + 1, np.float32))
    return total, sum(weight for _, weight in there)


@settings(deadline=None)
@given(told=tellings, question=vectors)
def test_a_message_is_told_by_the_cosine_with_the_sum_of_it_and_its_neighbours(
    told: list[Row | None], question: Row
) -> None:
    places = np.flatnonzero([one is not None for one in told])
    sums = [summed(told, int(place), shares())[0] for place in places]

    found, usual = surroundings(told, TURNS).cosines(places, places, question)

    assert found.tolist() == pytest.approx([float(unit(one) @ question) for one in sums], abs=1e-2)
    assert usual.tolist() == pytest.approx(found.tolist(), abs=1e-5)


@settings(deadline=None)
@given(told=tellings, question=vectors)
def test_roughly_it_is_the_weighted_mean_of_the_cosines_that_are_there(told: list[Row | None], question: Row) -> None:
    cosine = np.array([0.0 if one is None else float(one @ question) for one in told], np.float32)
    sums = [summed(told, place, shares()) for place in range(len(told))]

    found = surroundings(told, TURNS).rough_cosines(cosine)

    expected = [float(total @ question) / weight if weight else 0.0 for total, weight in sums]
    assert found.tolist() == pytest.approx(expected, abs=1e-4)


def test_where_one_voice_speaks_throughout_neighbours_count_half() -> None:
    told: list[Row | None] = [unit(np.eye(WIDTH + 1)[i % 3]) for i in range(30)]
    question = unit([1.0, 0.5, 0.0, 0.0, 0.0])

    found, _ = surroundings(told, ONE_VOICE).cosines(np.arange(30), np.arange(30), question)

    sums = [summed(told, place, shares(0.5))[0] for place in range(30)]
    assert found.tolist() == pytest.approx([float(unit(one) @ question) for one in sums], abs=1e-3)


def test_what_others_elsewhere_say_as_well_is_taken_off() -> None:
    told: list[Row | None] = [unit(np.eye(WIDTH + 1)[i // 10]) for i in range(30)]
    told[25] = told[0]
    question = unit([1.0, 1.0, 1.0, 0.0, 0.0])
    every = np.arange(30)

    plain, _ = surroundings(told, TURNS).cosines(every, every, question)
    found, _ = surroundings(told, TURNS, common=0.5).cosines(every, every, question)

    # 25 says what 0 says; those like 15 are all so near that they are its neighbours, or nearly.
    assert (plain - found)[0] > (plain - found)[15] > 0


@pytest.mark.parametrize("count", [1, 7])
def test_where_there_are_only_neighbours_nothing_is_taken_off(count: int) -> None:
    told: list[Row | None] = [unit(np.eye(WIDTH + 1)[i % 3]) for i in range(count)]
    every = np.arange(count)

    plain, _ = surroundings(told, TURNS).cosines(every, every, unit(np.ones(WIDTH + 1)))
    found, _ = surroundings(told, TURNS, common=0.5).cosines(every, every, unit(np.ones(WIDTH + 1)))

    assert found.tolist() == plain.tolist()
