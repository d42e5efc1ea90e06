"""Bytes before and while they are parsed: size, encoding, nesting, what JSON does not have."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.manifest.check import Checked
from talekeeper.manifest.source import DEPTH_LIMIT, SIZE_LIMIT, parse

Check = Callable[..., Checked]


def codes(raw: bytes) -> list[str]:
    return [it.code.id for it in parse(raw).findings]


def test_a_file_of_64_kib_is_read_and_one_byte_more_is_not() -> None:
    assert codes(b"#" * SIZE_LIMIT) == []
    assert codes(b"#" * (SIZE_LIMIT + 1)) == ["TK002"]


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (b"a = '\xe9'", (1, 6)),
        ("# é\n# 漢".encode() + b"\xff", (2, 4)),
        ("[plugin]\n".encode("utf-16"), (1, 1)),
        (b"a = 1\r\nb = '\xc3'", (2, 6)),
    ],
    ids=["latin-1", "after-wide", "utf-16", "cut-short"],
)
def test_the_first_byte_that_is_not_utf8_is_pointed_at(raw: bytes, place: tuple[int, int]) -> None:
    (finding,) = parse(raw).findings

    assert finding.code.id == "TK004"
    assert finding.span
    assert (finding.span.line, finding.span.column) == place


def _nested(levels: int) -> list[bytes]:
    return [
        b"a = " + b"[" * levels + b"]" * levels,
        b"a = " + b"{ a = " * levels + b"1" + b" }" * levels,
        b".".join([b"a"] * (levels + 1)) + b" = 1",
        b"[" + b".".join([b"'a'"] * (levels + 1)) + b"]",
        b"[" + b".".join([b'"a"'] * (levels - 3)) + b"]\na . a . a . a = 1",
    ]


@pytest.mark.parametrize("shape", range(5), ids=["arrays", "inline-tables", "dotted-key", "header", "header-and-key"])
def test_nesting_is_refused_past_the_limit_however_it_is_written(shape: int) -> None:
    assert codes(_nested(DEPTH_LIMIT - 1)[shape]) == []
    assert codes(_nested(DEPTH_LIMIT + 1)[shape]) == ["TK003"]
    assert codes(_nested(5000)[shape]) == ["TK003"]


def test_brackets_and_dots_within_strings_and_comments_are_no_nesting() -> None:
    text = f'# {"[" * 50}\na = \'{"[" * 50}\'\nb = """\n{"{" * 50}\n"""\nc = \'{"a." * 50}\'\n'

    assert codes(text.encode()) == []


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("a = session", "invalid value", 'text needs quotes: "session"'),
        ("a = True", "invalid value", "TOML writes true"),
        ("a = null", "invalid value", "TOML has no null; leave the key out"),
        ("a = 1\na = 2", "cannot overwrite a value", "a key of this line stands in the same table before"),
        ("[a]\n[a]", "cannot declare", "a table of this name has been opened before"),
        ("a = 'x", "expected", ""),
        ("a 1", "expected '='", ""),
    ],
)
def test_syntax_errors_say_what_would_be_right(text: str, says: str, hint: str) -> None:
    (finding,) = parse(text.encode()).findings

    assert finding.code.id == "TK005"
    assert finding.message.startswith(says)
    assert finding.hint == hint


@pytest.mark.parametrize("value", ["nan", "-inf", "2024-05-01", "07:32:00", "1979-05-27 07:32:00Z", "9007199254740993"])
def test_what_json_does_not_have_is_refused_except_in_the_free_table(value: str) -> None:
    assert codes(f"[plugin]\nlist = [1, {value}]\n".encode()) == ["TK007"]
    assert codes(f"[x]\nlist = [1, {value}]\n".encode()) == []


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    (finding,) = parse(b"[x]\na = 1\nb = " + b"9" * 5000).findings

    assert (finding.code.id, finding.span and (finding.span.line, finding.span.column)) == ("TK007", (3, 5))


@given(st.binary(max_size=200) | st.text("[]{}=\"'#.,\\ \n\tab1-_:", max_size=200).map(str.encode))
def test_no_bytes_whatever_make_it_raise(raw: bytes) -> None:
    source = parse(raw)

    assert source.data is not None or source.findings


ADVERSARIAL = [
    *(it * 65_000 for it in (b"[", b'"', b"a", b"#", b"\\")),
    *(it * 32_000 for it in (b"a.", b"''", b"{ ")),
    *(it * 16_000 for it in (b'"a".', b"[a]\n", b'""" ')),
    *(
        start + it * 32_000
        for start, it in ((b"a = ", b"1."), (b"a = [", b"1,"), (b"a = '''", b"''"), (b'a = "', b"\\u"))
    ),
]


@pytest.mark.parametrize("raw", ADVERSARIAL, ids=lambda it: it[:12].decode())
def test_64_kib_of_the_worst_text_are_answered(raw: bytes) -> None:
    # Backtracking or recursion over such a text would take hours or the whole stack.
    source = parse(raw[:SIZE_LIMIT])

    assert {it.code.id for it in source.findings} <= {"TK003", "TK005"}
