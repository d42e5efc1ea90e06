"""Several ranked lists become one."""

from __future__ import annotations

import pytest
from talekeeper.search.query.ranking import fold, fuse, merge


def test_what_two_wordings_find_beats_what_one_puts_first() -> None:
    assert fuse([["a", "b", "c"], ["d", "b", "e"]], tie=str)[0] == "b"


def test_one_list_stays_as_it_is() -> None:
    assert fuse([["b", "a"]], tie=str) == ["b", "a"]


def test_equal_ranks_are_decided_by_the_tie_rule() -> None:
    assert fuse([["b"], ["a"]], tie=str) == ["a", "b"]


def test_merging_takes_turns_by_rank() -> None:
    assert merge([["a1", "a2", "a3"], ["b1"]], tie=str) == ["a1", "b1", "a2", "a3"]


def test_merging_lets_the_tie_rule_choose_within_a_rank() -> None:
    assert merge([["a1", "a2"], ["b1", "b2"]], tie=lambda hit: -ord(hit[0])) == ["b1", "a1", "b2", "a2"]


@pytest.mark.parametrize("lists", [[], [[]], [[], []]], ids=["none", "one-empty", "two-empty"])
def test_nothing_fuses_and_merges_to_nothing(lists: list[list[str]]) -> None:
    assert merge(lists, tie=str) == []
    assert fuse(lists, tie=str) == []


def test_equals_fold_into_the_best_placed() -> None:
    folded = fold(["b1", "a1", "b2", "b3"], same=lambda hit: hit[0])

    assert folded == {"b1": ["b2", "b3"], "a1": []}
