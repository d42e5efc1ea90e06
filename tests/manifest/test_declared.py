"""What is declared, as values."""

from __future__ import annotations

from talekeeper.manifest.declared import SearchTable


def test_a_record_is_found_by_every_property_that_is_searched_each_named_once() -> None:
    table = SearchTable(("body", "name"), title="name", tags="also", speaker="by", time="since", when="known")

    assert table.found_by == ("body", "name", "also", "by", "since")


def test_a_record_of_a_table_with_text_alone_is_found_by_that() -> None:
    assert SearchTable(("body",)).found_by == ("body",)
