"""What goes when a story holds more memories than it may: the smallest hole first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper_memory.eviction import Candidate, evicted


def blocks(*starts: int, **more: Candidate) -> list[Candidate]:
    return [Candidate(str(number), start, start + 5) for number, start in enumerate(starts, 1)]


def test_six_blocks_go_from_the_inside_and_the_ends_last() -> None:
    assert evicted(blocks(0, 6, 12, 18, 24, 30), 0) == ["2", "4", "5", "3", "1", "6"]


def test_a_doubled_block_leaves_no_hole() -> None:
    held = [*blocks(0, 6, 12, 18, 24, 30), Candidate("7", 12, 17)]

    assert evicted(held, 4) == ["3", "2", "4"]


def test_what_stands_alone_between_wide_gaps_stays() -> None:
    assert evicted(blocks(0, 30, 36, 42, 48, 54), 4) == ["3", "5"]


def test_pins_are_never_taken_and_count_as_coverage() -> None:
    held = [Candidate("1", 0, 5), Candidate("2", 6, 11, pinned=True), Candidate("3", 12, 17), Candidate("4", 18, 23)]

    assert evicted(held, 0) == ["3", "1", "4"]


def test_all_pinned_the_capacity_yields() -> None:
    held = [Candidate(str(number), number, number, pinned=True) for number in range(5)]

    assert evicted(held, 2) == []


@pytest.mark.parametrize(
    ("second", "third", "first_gone"),
    [
        pytest.param((5, 9), (3, 1), "3", id="least recently used"),
        pytest.param((3, 1), (3, 9), "2", id="then less used"),
        pytest.param((3, 1), (3, 1), "2", id="then the lower key"),
    ],
)
def test_ties_go_by_use(second: tuple[int, int], third: tuple[int, int], first_gone: str) -> None:
    held = [
        Candidate("1", 0, 5),
        Candidate("2", 6, 11, last_used=second[0], used=second[1]),
        Candidate("3", 12, 17, last_used=third[0], used=third[1]),
        Candidate("4", 18, 23),
    ]

    assert evicted(held, 3) == [first_gone]


def test_what_covers_no_place_goes_when_coverage_has_no_candidate() -> None:
    held = [Candidate("1", 0, 5), Candidate("2", None, None), Candidate("3", 6, 11), Candidate("4", 12, 17)]

    assert evicted(held, 2) == ["3", "1"]


@st.composite
def anything(draw: st.DrawFn) -> list[Candidate]:
    spans = draw(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8)), max_size=25))
    return [
        Candidate(
            f"{number:02}",
            start,
            start + length,
            draw(st.booleans()),
            draw(st.integers(-1, 3)),
            draw(st.integers(0, 2)),
        )
        for number, (start, length) in enumerate(spans)
    ]


@given(anything(), st.integers(0, 25))
def test_as_many_go_as_must_and_may(held: list[Candidate], capacity: int) -> None:
    gone = evicted(held, capacity)

    free = [one.key for one in held if not one.pinned]
    assert len(gone) == min(max(0, len(held) - capacity), len(free))
    assert set(gone) <= set(free)
    assert len(set(gone)) == len(gone)


@given(anything(), st.integers(1, 25))
def test_each_pick_is_the_smallest_hole_of_what_is_left(held: list[Candidate], capacity: int) -> None:
    gone = evicted(held, capacity)

    left = list(held)
    for key in gone:
        assert key == plainly(left)
        left = [one for one in left if one.key != key]


def plainly(left: list[Candidate]) -> str:
    """The rule as it is written, looked up anew each time."""
    placed = sorted(left, key=lambda one: (one.start, one.end, one.key))
    found: list[tuple[int, tuple[int, int, str]]] = []
    for number, one in enumerate(placed[1:-1], 1):
        if not one.pinned:
            before, after = placed[number - 1], placed[number + 1]
            doubled = one.start in {before.start, after.start}
            assert before.end is not None
            assert after.start is not None
            found.append((0 if doubled else max(0, after.start - before.end - 1), one.by_use))
    if found:
        return min(found)[1][2]
    return min(one.by_use for one in left if not one.pinned)[2]
