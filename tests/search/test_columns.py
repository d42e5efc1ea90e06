"""Columns survive their blob, and growing ones can be shared."""

from __future__ import annotations

import numpy as np
import pytest
from talekeeper.search.storage.columns import NAMES, Columns, Shelf, from_rows, pack, unpack


def numbered(*docs: int) -> Columns:
    """Rows that differ in every field."""
    return from_rows([[doc * len(NAMES) + i for i in range(len(NAMES))] for doc in docs])


def docs_of(columns: Columns) -> list[int]:
    return [doc // len(NAMES) for doc in columns.doc.tolist()]


def test_a_blob_gives_the_columns_back() -> None:
    columns = from_rows([[4_294_967_295, 0, 7, -1, -1, 3, 65_535, 65_535, 3], [0, 1, 2, 3, 4, 5, 6, 7, 2]])

    again = unpack(pack(columns), 2)

    for name in NAMES:
        np.testing.assert_array_equal(getattr(again, name), getattr(columns, name))


def test_what_all_passages_have_alike_is_written_once() -> None:
    alike = [[7 + 3 * place, 7 + 3 * place, 0, place, place // 2, 0, 0, 20 + place, 5] for place in range(100)]

    blob = pack(from_rows(alike))

    assert len(blob) == 4 + 100 * (4 + 4 + 4 + 2) + 4 + 4 + 2 + 1
    assert unpack(blob, 100).slot.tolist() == [row[1] for row in alike]
    assert unpack(blob, 100).flags.tolist() == [5] * 100


def test_a_blob_without_a_head_is_read() -> None:
    columns = numbered(0, 1, 2)
    blob = b"".join(getattr(columns, name).tobytes() for name in NAMES)

    again = unpack(blob, 3)

    for name in NAMES:
        np.testing.assert_array_equal(getattr(again, name), getattr(columns, name))


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_a_blob_of_other_rows_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="are not"):
        unpack(pack(numbered(0, 1, 2)), n)


def test_a_shelf_grows_in_place_while_nobody_else_has_grown_it() -> None:
    shelf = Shelf().extend(0, [numbered(0, 1)])

    assert shelf.extend(2, [numbered(2)]) is shelf


def test_two_ways_on_from_one_beginning_do_not_mix() -> None:
    shelf = Shelf().extend(0, [numbered(0, 1)])
    seen = shelf.view(2)

    one, other = shelf.extend(2, [numbered(2)]), shelf.extend(2, [numbered(7), numbered(8)])

    assert docs_of(one.view(3)) == [0, 1, 2]
    assert docs_of(other.view(4)) == [0, 1, 7, 8]
    assert docs_of(seen) == [0, 1]


def test_growing_far_keeps_what_was_there() -> None:
    shelf = Shelf()
    for size in range(500):
        shelf = shelf.extend(size, [numbered(size % 7)])

    assert docs_of(shelf.view(500)) == [size % 7 for size in range(500)]
