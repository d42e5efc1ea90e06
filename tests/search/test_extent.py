"""What is known of all passages of a partition together is kept up while it grows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from hypothesis import given
from hypothesis import strategies as st
from talekeeper.search.storage.columns import NAMES, from_rows
from talekeeper.search.storage.partition import Extent

ROWS = st.lists(st.tuples(*(st.integers(0, 9) for _ in NAMES)), max_size=4)


@given(st.lists(ROWS, max_size=4))
def test_an_extent_grown_in_steps_is_that_of_all_at_once(steps: Sequence[Sequence[tuple[int, ...]]]) -> None:
    every = [row for step in steps for row in step]

    grown = reduce(Extent.joined, map(from_rows, steps), Extent())

    assert grown == Extent().joined(from_rows(every))


@given(ROWS)
def test_an_extent_tells_the_most_of_each_column_and_the_sum_of_lengths(rows: Sequence[tuple[int, ...]]) -> None:
    branch, depth, length = ([row[NAMES.index(name)] for row in rows] for name in ("branch", "depth", "length"))

    extent = Extent().joined(from_rows(rows))

    assert extent == Extent(max(branch, default=0), max(depth, default=-1), sum(length), depth == sorted(depth))
