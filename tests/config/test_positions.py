"""Where keys and values stand: the scanner finds what the parser finds, at the place where it is written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import tomli
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.config.positions import KeyPath, Places, Span, pointer
from talekeeper.text import is_array, is_table

T = TypeVar("T")
KEYS = st.text(alphabet='ab-_1é .#"[]=', min_size=1, max_size=4)
TEXTS = st.text(alphabet="ab é漢#\"'[]{}=,\\\n\t🦉", max_size=8)
SCALARS = st.one_of(
    TEXTS,
    st.integers(-999, 999),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.dates(),
    st.datetimes().map(lambda it: it.replace(microsecond=0)),
)
TABLES = st.recursive(
    st.dictionaries(KEYS, SCALARS, max_size=3),
    lambda inner: st.dictionaries(
        KEYS,
        st.one_of(SCALARS, inner, st.lists(SCALARS, max_size=3), st.lists(inner, min_size=1, max_size=2)),
        max_size=3,
    ),
    max_leaves=12,
)


class Writer:
    """Writes a document in one of the many ways TOML has, drawn piece by piece."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def document(self, table: dict[str, Any]) -> str:
        return self.one(["", "\n", "# [not] = 'a header'\n"]) + self.table(table, ())

    def one(self, choices: list[T]) -> T:
        return self.draw(st.sampled_from(choices))

    def maybe(self) -> bool:
        return self.draw(st.booleans())

    def table(self, table: dict[str, Any], path: tuple[str, ...]) -> str:
        pairs, headed = "", ""
        for key, value in table.items():
            if is_table(value) and self.maybe():
                headed += f"[{self.dotted((*path, key))}]{self.end()}{self.table(value, (*path, key))}"
            elif is_array(value) and _are_tables(value) and self.maybe():
                for item in value:
                    headed += f"[[{self.dotted((*path, key))}]]{self.end()}{self.table(item, (*path, key))}"
            elif is_table(value) and value and self.maybe():
                pairs += "".join(f"{self.dotted((key, it))} = {self.value(value[it])}{self.end()}" for it in value)
            else:
                pairs += f"{self.blank()}{self.key(key)}{self.blank()}={self.blank()}{self.value(value)}{self.end()}"
        return pairs + headed

    def dotted(self, path: tuple[str, ...]) -> str:
        return f"{self.blank()}.{self.blank()}".join(self.key(it) for it in path)

    def key(self, key: str) -> str:
        bare = all(it.isascii() and (it.isalnum() or it in "-_") for it in key)
        return self.one([key] * bare + [json.dumps(key), _escaped(key)])

    def value(self, value: Any) -> str:
        if is_table(value):
            pairs = [f"{self.key(key)}{self.blank()}= {self.value(item)}" for key, item in value.items()]
            return "{" + self.blank() + ", ".join(pairs) + self.blank() + "}"
        if is_array(value):
            gap = self.one(["", " ", "\n  ", " # ] a comment\n"])
            return "[" + gap + f",{gap}".join(self.value(it) for it in value) + gap + "]"
        return self.text(value) if isinstance(value, str) else _plain(value)

    def text(self, value: str) -> str:
        ways = [json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f"), _escaped(value)]
        if "'" not in value and "\n" not in value:
            ways.append(f"'{value}'")
        if "'''" not in value:
            ways.append(f"'''\n{value}'''")
        if '"""' not in value:
            # Up to two quotation marks may stand before the three that close the string.
            ways.append('"""\n' + value.replace("\\", "\\\\") + '"""')
        return self.one(ways)

    def blank(self) -> str:
        return self.one(["", " ", "\t"])

    def end(self) -> str:
        return self.one(["\n", " # = a 'comment'\n", "\n\n"])


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else value.isoformat(*[" "] * hasattr(value, "hour"))


def _escaped(text: str) -> str:
    return '"' + "".join(f"\\U{ord(it):08x}" for it in text) + '"'


def _are_tables(value: list[Any]) -> bool:
    return bool(value) and all(is_table(it) for it in value)


@st.composite
def documents(draw: st.DrawFn) -> str:
    return Writer(draw).document(draw(TABLES))


def _paths(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    inner: Iterable[tuple[str | int, Any]] = ()
    if is_table(value):
        inner = value.items()
    elif is_array(value):
        inner = enumerate(value)
    for step, item in inner:
        yield (*path, step), item
        yield from _paths(item, (*path, step))


def _cut(text: str, span: Span) -> str:
    return text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


@given(documents())
def test_the_scanned_paths_are_the_parsed_paths(text: str) -> None:
    parsed = {path for path, _ in _paths(tomli.loads(text))}

    places = Places(text)

    assert {*places.keys, *places.values} == parsed


@given(documents())
def test_a_key_stands_where_its_span_says(text: str) -> None:
    keys = Places(text).keys

    for path, span in keys.items():
        if isinstance(path[-1], str):
            assert next(iter(tomli.loads(f"{_cut(text, span)} = 1"))) == path[-1]


@given(documents())
def test_a_value_of_one_line_stands_where_its_span_says(text: str) -> None:
    values = Places(text).values
    parsed = dict(_paths(tomli.loads(text)))

    for path, span in values.items():
        written = _cut(text, span)
        try:
            again = tomli.loads(f"it = {written}")["it"]
        except tomli.TOMLDecodeError:
            # Only the first line of a longer value is in the span.
            assert written[:1] in "[{\"'"
        else:
            assert again == parsed[path]


def test_a_table_is_pointed_at_in_its_own_header() -> None:
    text = "[a.b.c]\nx = 1\n[a]\n[a.b]\n[[d]]\n[d.e]\n[[d]]\n"

    keys = Places(text).keys

    assert keys["a",] == Span(3, 2, 3)
    assert keys["a", "b"] == Span(4, 4, 5)
    assert keys["a", "b", "c"] == Span(1, 6, 7)
    assert keys["d", 0] == Span(5, 3, 4)
    assert keys["d", 0, "e"] == Span(6, 4, 5)
    assert keys["d", 1] == Span(7, 3, 4)


def test_what_is_not_written_is_pointed_at_where_it_would_be() -> None:
    places = Places('[plugin]\nid = "x"\n')

    assert places.span(("plugin", "version"), "key") == Span(1, 2, 8)
    assert places.span(("plugin", "id", "deeper"), "value") == Span(2, 6, 9)
    assert places.span((), "key") == Span(1, 1, 2)


def test_columns_count_characters() -> None:
    text = '"漢字" = { "é" = 1 }'

    keys = Places(text).keys

    assert keys["漢字",] == Span(1, 1, 5)
    assert keys["漢字", "é"] == Span(1, 10, 13)


def test_a_pointer_escapes_what_json_pointers_escape() -> None:
    assert pointer(("a/b", 0, "~c")) == "/a~1b/0/~0c"
