"""Values as messages show them."""

from __future__ import annotations

import pytest
from talekeeper.text.wording import quoted


@pytest.mark.parametrize("value", [2**64, -(2**64), 16**6000], ids=["over", "under", "longer-than-python-writes"])
def test_a_number_that_no_file_should_hold_is_described(value: int) -> None:
    assert quoted(value) == "a number of more than 64 bits"


def test_the_largest_number_of_64_bits_is_shown() -> None:
    assert quoted(2**64 - 1) == "18446744073709551615"
