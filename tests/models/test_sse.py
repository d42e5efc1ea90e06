from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.models.replies import Unusable, events


@pytest.mark.parametrize(
    ("raw", "data"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\rdata:c\n\r\n", ["a", "b", "c"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"data: a\ndata: b\ndata\n\n", ["a\nb\n"]),
        (b": comment\nevent: x\nid: 3\nretry: 1\ndata: a\n\n\n\n", ["a"]),
        (b"datax: a\n\n", []),
        (b"data:  two blanks\n\n", [" two blanks"]),
        ("data: a\u2028b\u0085c\x0b\n\n".encode(), ["a\u2028b\u0085c\x0b"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b"data: cut off", []),
        (b"", []),
    ],
)
def test_events_are_read_as_the_standard_says(raw: bytes, data: list[str]) -> None:
    assert list(events([raw])) == data


@given(
    st.lists(st.sampled_from([b"data: a", b"data: \xe9\x97\xa8", b"", b":x", b"\r", b"\n", b"\r\n", b"\xef\xbb\xbf"])),
    st.lists(st.integers(0, 60)),
)
def test_how_the_bytes_were_cut_does_not_matter(parts: list[bytes], cuts: list[int]) -> None:
    raw = b"".join(parts)
    places = sorted({0, *cuts, len(raw)})
    chunks = [raw[start:end] for start, end in zip(places, [*places[1:], len(raw)], strict=True)]

    assert list(events(chunks)) == list(events([raw]))


@pytest.mark.parametrize("line", [b"x" * 70_000, b"data: " + b"x" * 70_000 + b"\n"], ids=["a line", "an event"])
def test_what_has_no_end_is_given_up(line: bytes) -> None:
    with pytest.raises(Unusable):
        list(events(line for _ in range(100)))
