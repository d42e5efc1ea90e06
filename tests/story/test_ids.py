"""Keys sort as they were made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from talekeeper.ids import SortableIds

NOW = datetime(2025, 3, 18, 20, 17, tzinfo=UTC)


class Jumping:
    """A clock that shows each of some moments once."""

    def __init__(self, seconds: list[float]) -> None:
        self._moments = [NOW + timedelta(seconds=one) for one in seconds]

    def now(self) -> datetime:
        """The next moment."""
        return self._moments.pop(0)


@given(st.lists(st.floats(-100_000, 100_000), max_size=20))
def test_keys_of_one_maker_sort_as_made_whatever_the_clock_does(seconds: list[float]) -> None:
    ids = SortableIds(Jumping(list(seconds)))

    made = [ids.new() for _ in seconds]

    assert made == sorted(set(made))
    assert all(len(one) == 20 for one in made)
