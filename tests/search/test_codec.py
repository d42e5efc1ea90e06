"""Postings come out of their blobs as they went in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.search.codec import DENSE, ONES, PAIRS, Postings, decode, decode_all, encode_all

Row = dict[int, int]


def postings_of(rows: list[Row]) -> Postings:
    return Postings(
        np.array([len(row) for row in rows], np.intp),
        np.array([local for row in rows for local in sorted(row)], np.intp),
        np.array([row[local] for row in rows for local in sorted(row)], np.uint8),
    )


def as_row(blob: bytes) -> Row:
    ids, tfs = decode(blob)
    return dict(zip(ids.tolist(), tfs.tolist(), strict=True))


@st.composite
def segments(draw: st.DrawFn) -> tuple[int, list[Row]]:
    n = draw(st.sampled_from([1, 2, 7, 300, 65_536]))
    row = st.dictionaries(st.integers(0, n - 1), st.integers(1, 255), min_size=1, max_size=40)
    ones = st.dictionaries(st.integers(0, n - 1), st.just(1), min_size=1, max_size=40)
    return n, draw(st.lists(st.one_of(row, ones), max_size=6))


@given(segments())
def test_decoding_undoes_encoding(segment: tuple[int, list[Row]]) -> None:
    n, rows = segment

    blobs = encode_all(postings_of(rows), n)

    assert [as_row(blob) for blob in blobs] == rows


@given(segments())
def test_decoding_all_at_once_is_decoding_one_by_one(segment: tuple[int, list[Row]]) -> None:
    n, rows = segment
    blobs = encode_all(postings_of(rows), n)

    together = decode_all(blobs)

    assert together.counts.tolist() == [len(row) for row in rows]
    assert together.ids.tolist() == [i for blob in blobs for i in decode(blob)[0].tolist()]
    assert together.tfs.tolist() == [tf for blob in blobs for tf in decode(blob)[1].tolist()]


@pytest.mark.parametrize(
    ("row", "n", "kind", "size"),
    [
        pytest.param({5: 1, 700: 1}, 1000, ONES, 8, id="all-once"),
        pytest.param({5: 1, 700: 2}, 1000, PAIRS, 10, id="some-more-often"),
        pytest.param({0: 1, 1: 3, 4: 1}, 8, DENSE, 12, id="more-than-a-third"),
    ],
)
def test_the_blob_is_of_the_smallest_kind(row: Row, n: int, kind: int, size: int) -> None:
    (blob,) = encode_all(postings_of([row]), n)

    assert (blob[0], len(blob)) == (kind, size)


def test_a_term_of_every_passage_of_the_largest_segment_fits() -> None:
    everywhere = dict.fromkeys(range(65_536), 1)

    (blob,) = encode_all(postings_of([everywhere]), 65_536)

    assert len(decode(blob)[0]) == 65_536
