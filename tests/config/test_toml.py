"""Bytes before and while they are parsed: size, encoding, nesting, what JSON does not have."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.config.toml import FILE_LIMIT, TOML_DEPTH, parse, read_toml
from talekeeper.errors import InputError

SIZE_LIMIT = 64 * 1024


def kinds(raw: bytes) -> list[str]:
    return [it.kind for it in parse(raw, SIZE_LIMIT, free=("x",)).faults]


def test_a_file_of_64_kib_is_read_and_one_byte_more_is_not() -> None:
    assert kinds(b"#" * SIZE_LIMIT) == []
    assert kinds(b"#" * (SIZE_LIMIT + 1)) == ["too-large"]


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
    (fault,) = parse(raw).faults

    assert fault.kind == "not-utf8"
    assert fault.span
    assert (fault.span.line, fault.span.column) == place


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
    assert kinds(_nested(TOML_DEPTH - 1)[shape]) == []
    assert kinds(_nested(TOML_DEPTH + 1)[shape]) == ["too-deep"]
    assert kinds(_nested(5000)[shape]) == ["too-deep"]


def test_brackets_and_dots_within_strings_and_comments_are_no_nesting() -> None:
    text = f'# {"[" * 50}\na = \'{"[" * 50}\'\nb = """\n{"{" * 50}\n"""\nc = \'{"a." * 50}\'\n'

    assert kinds(text.encode()) == []


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
    (fault,) = parse(text.encode()).faults

    assert fault.kind == "syntax"
    assert fault.message.startswith(says)
    assert fault.hint == hint


@pytest.mark.parametrize("value", ["nan", "-inf", "2024-05-01", "07:32:00", "1979-05-27 07:32:00Z", "9007199254740993"])
def test_what_json_does_not_have_is_refused_except_in_the_free_table(value: str) -> None:
    assert kinds(f"[plugin]\nlist = [1, {value}]\n".encode()) == ["not-json"]
    assert kinds(f"[x]\nlist = [1, {value}]\n".encode()) == []


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    (fault,) = parse(b"[x]\na = 1\nb = " + b"9" * 5000).faults

    assert (fault.kind, fault.span and (fault.span.line, fault.span.column)) == ("not-json", (3, 5))


@given(st.binary(max_size=200) | st.text("[]{}=\"'#.,\\ \n\tab1-_:", max_size=200).map(str.encode))
def test_no_bytes_whatever_make_it_raise(raw: bytes) -> None:
    source = parse(raw)

    assert source.data is not None or source.faults


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

    assert {it.kind for it in source.faults} <= {"too-deep", "syntax"}


@pytest.mark.parametrize(
    ("raw", "place", "says"),
    [
        (b"[models]\nkey = sk-secret\n", ":2:7", "the settings is not TOML"),
        (b"a = '\xe9'", ":1:6", "the settings is not UTF-8"),
        (b"#" * (FILE_LIMIT + 5), "", "the settings has more than a mebibyte"),
        (b"a = nan", ":1:5", "the settings: nan is not a number that JSON has"),
    ],
    ids=["syntax", "not-utf8", "too-large", "not-json"],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_place_and_nothing_of_its_text(
    tmp_path: Path, raw: bytes, place: str, says: str
) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(raw)

    with pytest.raises(InputError) as caught:
        read_toml(file, "the settings")

    assert caught.value.where == f"{file}{place}"
    assert str(caught.value).startswith(f"{file}{place}: {says}")
    assert "secret" not in str(caught.value)


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(b"\xef\xbb\xbfa = 1")

    assert read_toml(file, "the settings").data == {"a": 1}


def test_what_is_no_file_and_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is no file"):
        read_toml(tmp_path, "the settings")
    with pytest.raises(FileNotFoundError):
        read_toml(tmp_path / "none.toml", "the settings")
