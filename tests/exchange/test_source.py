"""Lines, and the one sentence for each way a line can be bad."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.errors import ImportFileError
from talekeeper.exchange import Source
from talekeeper.exchange import source as source_module


def test_lines_carry_their_number_and_where_reading_goes_on() -> None:
    source = Source(io.BytesIO("\ufeffone\r\n\nthrée".encode()), "f")

    lines = list(source.lines())

    assert [(line.number, line.end, line.text) for line in lines] == [(1, 8, "one"), (2, 9, ""), (3, 15, "thrée")]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"))))
def test_any_text_without_line_ends_comes_back_as_it_went_in(texts: list[str]) -> None:
    raw = "".join(text + "\n" for text in texts).encode()

    read = [line.text for line in Source(io.BytesIO(raw), "f").lines()]

    assert read == [texts[0].removeprefix("\ufeff"), *texts[1:]] if texts else read == []


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        pytest.param(b'{"a": 1', "f:1: the JSON line is cut off", id="cut off"),
        pytest.param(b'{"a": "b', "f:1: the JSON line is cut off", id="cut off in a text"),
        pytest.param(b"{a: 1}", "f:1: the line is not JSON: expected a key", id="not JSON"),
        pytest.param(b'{"a": NaN}', "f:1: the line has NaN", id="NaN"),
        pytest.param(b'{"a": 1, "a": 2}', 'f:1: the line has the key "a" twice', id="key twice"),
        pytest.param(b'{"a": ' + b"[" * 100_000, "f:1: the line is nested more than 64 levels deep", id="deep"),
        pytest.param(
            b'{"a": ' + b"9" * 10_000 + b"}", "f:1: the line has a whole number of 10,000 digits", id="endless digits"
        ),
        pytest.param(b"[1, 2]", "f:1: the line is JSON but not an object", id="array"),
        pytest.param(b"{\n", "f:1: one JSON document over many lines", id="pretty-printed"),
        pytest.param(b'{"a": "\xff"}', "f:1: not UTF-8 at byte 8 of the line", id="not UTF-8"),
        pytest.param('{"a": "b"}'.encode("utf-16"), "f:1: not UTF-8 at byte 1 of the line", id="UTF-16"),
    ],
)
def test_a_bad_line_is_one_sentence_with_file_and_line(raw: bytes, sentence: str) -> None:
    source = Source(io.BytesIO(raw), "f")

    with pytest.raises(ImportFileError) as fault:
        _ = [source.json_object(line) for line in source.lines()]

    assert str(fault.value).startswith(sentence)
    assert "\n" not in str(fault.value)


def test_a_line_longer_than_the_limit_is_refused_without_reading_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "LONGEST_LINE", 100)
    stream = io.BytesIO(b"short\n" + b"x" * 100_000)

    with pytest.raises(ImportFileError, match="f:2: the line is longer"):
        list(Source(stream, "f").lines())

    assert stream.tell() < 200


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(), st.lists, max_leaves=10))
def test_any_json_object_on_a_line_is_read(value: object) -> None:
    raw = json.dumps({"value": value}).encode()
    source = Source(io.BytesIO(raw), "f")

    (line,) = source.lines()

    assert source.json_object(line) == {"value": value}
