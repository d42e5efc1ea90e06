"""Postings come out of their blobs as they went in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.search.storage.codec import DENSE, GAPS, WIDE, PostingLists, decode_all, encode_all

Row = dict[int, int]


def postings_of(rows: list[Row]) -> PostingLists:
    return PostingLists(
        np.array([len(row) for row in rows], np.intp),
        np.array([local for row in rows for local in sorted(row)], np.intp),
        np.array([row[local] for row in rows for local in sorted(row)], np.uint8),
    )


@st.composite
def segments(draw: st.DrawFn) -> tuple[int, list[Row]]:
    n = draw(st.sampled_from([1, 2, 7, 300, 1000, 65_536]))
    most = draw(st.sampled_from([1, 4, 16, 255]))
    row = st.dictionaries(st.integers(0, n - 1), st.integers(1, most), min_size=1, max_size=40)
    near = st.lists(st.integers(0, min(n, 700) - 1), min_size=1, max_size=200).map(dict.fromkeys)
    ones = near.map(lambda ids: dict.fromkeys(ids, 1))
    return n, draw(st.lists(st.one_of(row, ones), max_size=6))


@given(segments())
def test_decoding_undoes_encoding(segment: tuple[int, list[Row]]) -> None:
    n, rows = segment

    again = decode_all(encode_all(postings_of(rows), n), n)

    expected = postings_of(rows)
    assert again.counts.tolist() == expected.counts.tolist()
    assert again.ids.tolist() == expected.ids.tolist()
    assert again.tfs.tolist() == expected.tfs.tolist()


@given(segments())
def test_a_blob_does_not_depend_on_its_neighbours(segment: tuple[int, list[Row]]) -> None:
    n, rows = segment

    blobs = encode_all(postings_of(rows), n)

    assert blobs == [blob for row in rows for blob in encode_all(postings_of([row]), n)]


@pytest.mark.parametrize(
    ("row", "n", "blob"),
    [
        pytest.param({5: 1, 700: 1}, 1000, [WIDE, 0, 1, 0, 5, 0, 188, 2], id="far-apart"),
        pytest.param({5: 1, 700: 4}, 1000, [WIDE, 2, 1, 0, 0b1100, 5, 0, 188, 2], id="two-bits"),
        pytest.param({5: 2, 700: 16}, 1000, [WIDE, 4, 1, 0, 0b1111_0001, 5, 0, 188, 2], id="four-bits"),
        pytest.param({5: 1, 700: 255}, 1000, [WIDE, 8, 1, 0, 0, 254, 5, 0, 188, 2], id="a-byte"),
        pytest.param({5: 1, 9: 1, 300: 1}, 1000, [GAPS, 0, 2, 0, 6, 4, 0, 36], id="close-together"),
        pytest.param({0: 1, 255: 1, 510: 1}, 1000, [GAPS, 0, 2, 0, 1, 255, 255], id="just-a-byte-away"),
        pytest.param({0: 1, 1: 30, 3: 1}, 4, [DENSE, 0, 2, 0, 1, 30, 0, 1], id="nearly-everywhere"),
    ],
)
def test_the_smallest_kind_is_written(row: Row, n: int, blob: list[int]) -> None:
    assert encode_all(postings_of([row]), n) == [bytes(blob)]


def test_a_term_of_every_passage_of_the_largest_segment_fits() -> None:
    everywhere = dict.fromkeys(range(65_536), 1)

    again = decode_all(encode_all(postings_of([everywhere]), 65_536), 65_536)

    assert again.ids.tolist() == list(range(65_536))


def test_nothing_is_coded_as_nothing() -> None:
    assert encode_all(postings_of([]), 5) == []
    assert decode_all([], 0).ids.tolist() == []
