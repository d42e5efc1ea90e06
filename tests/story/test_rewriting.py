"""Stored versions brought to another version of their namespace, where they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from talekeeper.errors import ParameterError
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.story import Message, Record, Scope, Story

Say = Callable[..., list[Message]]
Find = Callable[..., list[str]]


@pytest.fixture
def newer(facts: Namespace) -> Namespace:
    """The facts in version 2, their text under another name."""
    schema = {"type": "object", "properties": {"told": {"type": "string"}}, "required": ["told"]}
    return replace(facts, version=2, schema=schema, search=SearchTable(("told",)))


def _renamed(records: list[Record], word: str = "") -> list[tuple[Record, object]]:
    return [(record, {"told": f"{record.value['text']} {word}".strip()}) for record in records]


def test_a_version_is_rewritten_where_it_stands(
    story: Story, scope: Scope, facts: Namespace, newer: Namespace, say: Say
) -> None:
    say("> a", "b")
    before = story.records.put(facts, scope, "k", {"text": "the lantern"})

    changed = story.records.rewrite(newer, _renamed(story.records.outdated("w", newer)))

    (after,) = story.records.history(newer, scope, "k")
    assert changed == 1
    assert after == replace(before, value={"told": "the lantern"}, version=2)
    assert story.records.outdated("w", newer) == []


def test_the_index_is_in_step_after_every_batch(
    story: Story, scope: Scope, facts: Namespace, newer: Namespace, say: Say, find: Find
) -> None:
    newer = replace(newer, search=facts.search)
    for turn in range(3):
        say(f"> {turn}")
        for key in "abc":
            story.records.put(facts, scope, key, {"text": f"lantern {turn}"})
    story.records.withdraw(facts, scope, "b")
    story.records.forget(facts, scope, "c")

    while batch := story.records.outdated("w", newer, 2):
        story.records.rewrite(
            replace(newer, schema={}), [(record, {"text": f"{record.value['text']} brass"}) for record in batch]
        )
        assert story.index.check() == []

    assert find("brass", newer) == ["a"]
    assert [record.version for record in story.records.history(newer, scope, "a")] == [2, 2, 2]


def test_a_new_search_table_counts_for_what_is_rewritten_at_once(
    story: Story, scope: Scope, facts: Namespace, newer: Namespace, find: Find
) -> None:
    for number in range(4):
        story.records.put(facts, scope, f"k{number}", {"text": f"lantern {number}"})

    story.records.rewrite(newer, _renamed(story.records.outdated("w", newer, 2)))

    assert sorted(find("lantern", newer)) == ["k0", "k1", "k2", "k3"]
    assert story.index.pending("w") == {("memory", "facts")}
    story.records.rewrite(newer, _renamed(story.records.outdated("w", newer, 2)))
    story.index.maintain()
    assert sorted(find("lantern", newer)) == ["k0", "k1", "k2", "k3"]
    assert story.index.check() == []


def test_what_is_restored_later_has_the_new_form(
    story: Story, scope: Scope, facts: Namespace, newer: Namespace
) -> None:
    story.records.put(facts, scope, "k", {"text": "the lantern"})
    story.records.withdraw(facts, scope, "k")

    story.records.rewrite(newer, _renamed(story.records.outdated("w", newer)))

    assert story.records.restore(newer, scope, "k").value == {"told": "the lantern"}


def test_what_was_forgotten_or_rewritten_meanwhile_is_left(
    story: Story, scope: Scope, facts: Namespace, newer: Namespace, find: Find
) -> None:
    for key in ("forgotten", "rewritten", "still"):
        story.records.put(facts, scope, key, {"text": "the lantern"})
    read = story.records.outdated("w", newer)
    story.records.forget(facts, scope, "forgotten")
    story.records.rewrite(newer, _renamed(read[1:2], "first"))

    changed = story.records.rewrite(newer, _renamed(read, "second"))

    assert changed == 1
    assert find("first", newer) == ["rewritten"]
    assert find("second", newer) == ["still"]
    assert story.records.get(newer, scope, "forgotten") is None


def test_one_that_does_not_fit_is_named_and_none_is_written(
    story: Story, scope: Scope, facts: Namespace, newer: Namespace
) -> None:
    story.records.put(facts, scope, "good", {"text": "a"})
    story.records.put(facts, scope, "bad", {"text": "b"})
    changes = [(record, {"told": 1 if record.key == "bad" else "a"}) for record in story.records.outdated("w", newer)]

    with pytest.raises(ParameterError, match="'bad' of version 1 does not fit version 2: must be of type string"):
        story.records.rewrite(newer, changes)

    assert len(story.records.outdated("w", newer)) == 2
