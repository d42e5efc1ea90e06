"""Names that are refused, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.config import nearest
from talekeeper.manifest.names import PLUGIN_ID, TOOL, name_fault
from talekeeper.text import quoted, visible

Found = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("name", "says", "meant"),
    [
        ("Lore", '"L"', "lore"),
        ("lore book", "a space", "lore-book"),
        ("lore_book", '"_"', "lore-book"),
        ("lоre", "(CYRILLIC SMALL LETTER O)", "lore"),
        ("lοre", "(GREEK SMALL LETTER OMICRON)", "lore"),
        ("ｌore", "(FULLWIDTH LATIN SMALL LETTER L)", "lore"),
        ("lo\u200bre", '"\\u200b" (ZERO WIDTH SPACE)', "lore"),
        ("lo\u202ere", "(RIGHT-TO-LEFT OVERRIDE)", "lore"),
        ("café", "(LATIN SMALL LETTER E WITH ACUTE)", "cafe"),
        ("9lives", 'begins with "9"', ""),
        ("-lore", 'begins with "-"', "lore"),
        ("", "is empty", ""),
        ("a" * 65, "has 65 characters, at most 64", "a" * 64),
        ("漢字", "(CJK UNIFIED IDEOGRAPH-6F22)", ""),
    ],
)
def test_a_refused_id_is_explained_by_its_first_fault(name: str, says: str, meant: str) -> None:
    code, message, hint = name_fault(PLUGIN_ID, "id", name)

    assert code.id == "TK101"
    assert says in message
    assert hint == (f'did you mean "{meant}"?' if meant else "")


@given(st.text(max_size=80), st.sampled_from([PLUGIN_ID, TOOL]))
def test_no_explanation_is_a_pattern_or_acts_on_a_terminal(name: str, pattern: str) -> None:
    code, message, hint = name_fault(pattern, "id", name)

    assert "{0,63}" not in message.replace(quoted(name), "")
    assert (message + hint).isprintable()
    assert code.severity == "error"


def test_the_homoglyph_of_a_known_plugin_is_no_id(found: Found, head: str, data: str) -> None:
    (told,) = found(head.replace('"lore"', '"mеmory"') + data)

    assert told.startswith('2:6 TK101 "mеmory": a plugin id has "е" (CYRILLIC SMALL LETTER IE)')


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("serach", "search"),
        ("txt", "text"),
        ("on_limit", "on-limit"),
        ("APPEND-ONLY", "append-only"),
        ("tool", "tools"),
        ("desc", "description"),
        ("descriptoin", "description"),
        ("zzz", None),
        ("x", None),
    ],
)
def test_the_nearest_name_is_the_one_that_was_meant(written: str, meant: str | None) -> None:
    known = ["search", "text", "title", "on-limit", "append-only", "tools", "description", "schema", "scope", "limit"]

    assert nearest(written, known) == meant


@given(st.text(max_size=20))
def test_what_is_shown_has_nothing_invisible_in_it(text: str) -> None:
    assert visible(text).isprintable()


def test_a_long_value_is_cut() -> None:
    assert quoted("x" * 100) == '"' + "x" * 59 + '…"'
