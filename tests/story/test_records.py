"""Records: versions at coordinates, what a person writes, what is withdrawn, restored and forgotten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from talekeeper.errors import Conflict, LimitReached, NotFound, ParameterError
from talekeeper.manifest import Namespace
from talekeeper.story import ROOT, Address, Coordinate, Derived, Message, Order, Scope, Story, scope_of

Say = Callable[..., list[Message]]
Find = Callable[..., list[str]]


@pytest.fixture
def live(story: Story, facts: Namespace, scope: Scope) -> Callable[..., dict[str, str]]:
    """Texts of live records by key."""

    def live(at: Coordinate | None = None) -> dict[str, str]:
        return {record.key: record.value["text"] for record in story.records.list(facts, scope, at=at)}

    return live


Live = Callable[..., dict[str, str]]


def test_a_record_comes_back_as_it_was_written(story: Story, scope: Scope, facts: Namespace, say: Say) -> None:
    say("> a", "b")
    value = {"text": "'); DROP TABLE record; -- %_\u2028", "turn": 1, "deep": {"list": [1, 2.5, None, True, "北"]}}

    written = story.records.put(facts, scope, "Key'1", value)

    assert story.records.get(facts, scope, "Key'1") == written
    assert written.value == value
    assert (written.revision, written.coordinate, written.turn, written.turn_from) == (1, Coordinate(0, 1), 1, 1)
    assert (written.person, written.withdrawn, written.forgotten, written.derived) == (False, False, False, None)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [("a", "A"), ("é", "e\u0301"), ("a", "a "), ("1", "01"), ("a%", "ab"), ("a_", "ab")],
    ids=["case", "composed", "blank", "zero", "percent", "underscore"],
)
def test_keys_are_exact(story: Story, scope: Scope, facts: Namespace, stored: str, asked: str) -> None:
    story.records.put(facts, scope, stored, {"text": "x"})

    assert story.records.get(facts, scope, asked) is None


def test_the_deepest_version_on_the_lineage_stands(
    story: Story, address: Address, scope: Scope, facts: Namespace, say: Say, live: Live
) -> None:
    say("> a", "b")
    story.records.put(facts, scope, "k", {"text": "early"})
    say("> c", "d")
    story.records.put(facts, scope, "k", {"text": "late"})
    story.records.put(facts, scope, "k", {"text": "written last, standing early"}, at=Coordinate(0, 0))

    assert live() == {"k": "late"}
    story.tree.undo(address)
    assert live() == {"k": "early"}
    assert live(at=Coordinate(0, 0)) == {"k": "written last, standing early"}
    assert live(at=ROOT) == {}


def test_what_a_person_writes_holds_on_every_branch_until_a_later_version(
    story: Story, address: Address, scope: Scope, facts: Namespace, say: Say, live: Live
) -> None:
    say("> a", "b", "> c", "d")
    story.records.put(facts, scope, "k", {"text": "by a plugin"})
    story.records.put(facts, scope, "k", {"text": "by hand"}, person=True)

    assert live() == {"k": "by hand"}
    story.tree.undo(address)
    assert live() == {"k": "by hand"}
    story.records.put(facts, scope, "k", {"text": "later"})
    assert live() == {"k": "later"}
    story.tree.undo(address)
    assert live() == {"k": "by hand"}


def test_a_persons_edit_keeps_the_turn_the_record_is_about(
    story: Story, scope: Scope, facts: Namespace, say: Say
) -> None:
    say("> a", "b", "> c", "d")
    story.records.put(facts, scope, "k", {"text": "x"}, derived=Derived(1, 3))

    edited = story.records.put(facts, scope, "k", {"text": "y"}, person=True)

    assert (edited.turn_from, edited.turn, edited.derived, edited.coordinate) == (1, 2, None, ROOT)


def test_withdrawing_on_one_branch_forgets_nothing_on_another(
    story: Story, address: Address, scope: Scope, facts: Namespace, say: Say, live: Live, find: Find
) -> None:
    say("> a", "b")
    story.records.put(facts, scope, "k", {"text": "the lantern"})
    say("> c")
    story.records.withdraw(facts, scope, "k")

    assert (live(), find("lantern", facts)) == ({}, [])
    assert [record.key for record in story.records.list(facts, scope, withdrawn=True)] == ["k"]
    with pytest.raises(NotFound, match="withdrawn already"):
        story.records.withdraw(facts, scope, "k")
    story.tree.undo(address)
    say("> else")
    assert (live(), find("lantern", facts)) == ({"k": "the lantern"}, ["k"])


def test_a_person_withdraws_on_every_branch(
    story: Story, address: Address, scope: Scope, facts: Namespace, say: Say, live: Live
) -> None:
    say("> a", "b")
    story.records.put(facts, scope, "k", {"text": "x"})
    say("> c", "d")
    story.records.withdraw(facts, scope, "k", person=True)

    story.tree.undo(address)

    assert live() == {}


def test_restoring_brings_back_what_was_last_said(
    story: Story, scope: Scope, facts: Namespace, say: Say, live: Live, find: Find
) -> None:
    say("> a")
    story.records.put(facts, scope, "k", {"text": "old harbour"})
    story.records.put(facts, scope, "k", {"text": "new harbour"})
    with pytest.raises(Conflict, match="not withdrawn"):
        story.records.restore(facts, scope, "k")
    story.records.withdraw(facts, scope, "k", person=True)

    restored = story.records.restore(facts, scope, "k", person=True)

    assert restored.person
    assert live() == {"k": "new harbour"}
    assert find("harbour", facts) == ["k"]


def test_forgetting_blanks_every_version_and_keeps_the_rows(
    story: Story, scope: Scope, facts: Namespace, say: Say, find: Find
) -> None:
    say("> a")
    story.records.put(facts, scope, "k", {"text": "the password is swordfish"})
    say("> b")
    story.records.put(facts, scope, "k", {"text": "the password was swordfish"})

    assert story.records.forget(facts, scope, "k") == 2

    assert [(r.value, r.forgotten) for r in story.records.history(facts, scope, "k")] == [(None, True)] * 2
    assert (story.records.get(facts, scope, "k"), story.records.count(facts, scope)) == (None, 0)
    assert story.records.list(facts, scope, withdrawn=True) == []
    assert find("swordfish", facts) == []
    with pytest.raises(NotFound):
        story.records.restore(facts, scope, "k")
    with pytest.raises(NotFound):
        story.records.forget(facts, scope, "k")
    assert story.index.check() == []


def test_what_is_written_after_forgetting_stands_by_itself(
    story: Story, scope: Scope, facts: Namespace, say: Say, live: Live
) -> None:
    say("> a", "> b")
    story.records.put(facts, scope, "k", {"text": "forgotten"})
    story.records.forget(facts, scope, "k")

    fresh = story.records.put(facts, scope, "k", {"text": "fresh"}, at=Coordinate(0, 0))

    assert fresh.revision == 2
    assert live() == {"k": "fresh"}
    assert story.index.check() == []


def test_a_dedupe_key_is_written_once_on_a_lineage(
    story: Story, address: Address, scope: Scope, facts: Namespace, say: Say, live: Live
) -> None:
    say("> a", "b")
    first = story.records.add(facts, scope, {"text": "one"}, dedupe="turn 1")
    again = story.records.add(facts, scope, {"text": "two"}, dedupe="turn 1")
    story.tree.retry(address)
    say("other b")

    other = story.records.add(facts, scope, {"text": "three"}, dedupe="turn 1")

    assert first is not None
    assert again is None
    assert other is not None
    assert live() == {other.key: "three"}


@pytest.mark.parametrize("act", ["withdraw", "forget"])
def test_what_was_taken_out_is_not_added_again_by_its_dedupe_key(
    story: Story, scope: Scope, facts: Namespace, say: Say, act: str
) -> None:
    say("> a")
    made = story.records.add(facts, scope, {"text": "one"}, dedupe="the words of it")
    assert made is not None
    getattr(story.records, act)(facts, scope, made.key)

    assert story.records.add(facts, scope, {"text": "one"}, dedupe="the words of it") is None


def test_append_only_grows_and_replaces_nothing(
    story: Story, scope: Scope, facts: Namespace, say: Say, live: Live
) -> None:
    growing = replace(facts, append_only=True)
    say("> a")
    story.records.put(growing, scope, "k", {"text": "one"})

    with pytest.raises(Conflict, match="memory/facts is append-only"):
        story.records.put(growing, scope, "k", {"text": "two"})
    story.records.add(growing, scope, {"text": "three"})
    story.records.withdraw(growing, scope, "k")
    story.records.restore(growing, scope, "k")

    assert sorted(live().values()) == ["one", "three"]


def test_a_full_namespace_refuses(story: Story, scope: Scope, facts: Namespace, say: Say, live: Live) -> None:
    small = replace(facts, limit=2)
    say("> a")
    story.records.put(small, scope, "a", {"text": "one"})
    story.records.put(small, scope, "b", {"text": "two"})

    with pytest.raises(LimitReached, match="memory/facts: it holds 2 records, as many as it may"):
        story.records.add(small, scope, {"text": "three"})
    story.records.put(small, scope, "a", {"text": "one again"})
    story.records.withdraw(small, scope, "b")
    story.records.put(small, scope, "c", {"text": "three"})

    with pytest.raises(LimitReached):
        story.records.restore(small, scope, "b")
    assert live() == {"a": "one again", "c": "three"}


def test_a_full_namespace_can_let_the_oldest_go(
    story: Story, scope: Scope, facts: Namespace, say: Say, live: Live
) -> None:
    small = replace(facts, limit=3, on_limit="oldest")
    for number in range(5):
        say(f"> {number}")
        story.records.put(small, scope, f"k{number}", {"text": f"{number}"}, person=number == 1)

    assert live() == {"k1": "1", "k3": "3", "k4": "4"}
    assert story.records.get(small, scope, "k0", at=Coordinate(0, 2)) is not None


def test_when_all_is_written_by_hand_nothing_is_let_go(story: Story, scope: Scope, facts: Namespace, say: Say) -> None:
    small = replace(facts, limit=1, on_limit="oldest")
    say("> a")
    story.records.put(small, scope, "a", {"text": "by hand"}, person=True)

    with pytest.raises(LimitReached):
        story.records.add(small, scope, {"text": "by a plugin"})


def test_a_limit_counts_what_is_live_on_the_lineage(
    story: Story, address: Address, scope: Scope, facts: Namespace, say: Say
) -> None:
    small = replace(facts, limit=1)
    say("> a", "b")
    story.records.add(small, scope, {"text": "first attempt"})
    story.tree.retry(address)
    say("other b")

    assert story.records.add(small, scope, {"text": "second attempt"}) is not None


@pytest.mark.parametrize("order", ["oldest", "newest", "key"])
def test_lists_are_paged_in_any_order(story: Story, scope: Scope, facts: Namespace, say: Say, order: Order) -> None:
    keys = ["m", "z", "a", "q", "b", "y", "c"]
    for key in keys:
        say("> x")
        story.records.put(facts, scope, key, {"text": key})
    story.records.put(facts, scope, "z", {"text": "changed later, yet as old as it is"})
    expected = {"oldest": keys, "newest": keys[::-1], "key": sorted(keys)}[order]

    pages: list[str] = []
    while page := story.records.list(facts, scope, after=pages[-1] if pages else None, limit=3, order=order):
        pages += [record.key for record in page]

    assert pages == expected
    assert story.records.count(facts, scope) == 7


@pytest.mark.parametrize(
    ("options", "field"), [({"limit": 0}, "limit"), ({"limit": 1_001}, "limit"), ({"order": "random"}, "order")]
)
def test_a_list_that_cannot_be_had_is_refused_by_field(
    story: Story, scope: Scope, facts: Namespace, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        story.records.list(facts, scope, **options)

    assert caught.value.field == field


def test_a_changed_record_keeps_what_it_was_made_from(story: Story, scope: Scope, facts: Namespace, say: Say) -> None:
    say("> a", "b")
    story.records.put(facts, scope, "k", {"text": "made"}, derived=Derived(0, 1, "job"))
    say("> c")

    pinned = story.records.put(facts, scope, "k", {"text": "pinned"})

    assert pinned.derived == Derived(0, 1, "job")
    assert pinned.turn == 1


@pytest.mark.parametrize(
    "derived", [Derived(0, 2), Derived(1, 0), Derived(-1, 0)], ids=["ahead", "backwards", "before"]
)
def test_a_range_lies_on_the_lineage(story: Story, scope: Scope, facts: Namespace, say: Say, derived: Derived) -> None:
    say("> a", "b")

    with pytest.raises(ParameterError, match="is no range"):
        story.records.put(facts, scope, "k", {"text": "x"}, derived=derived)


def test_records_stand_only_at_places_that_exist(story: Story, scope: Scope, facts: Namespace) -> None:
    with pytest.raises(NotFound):
        story.records.put(facts, scope, "k", {"text": "x"}, at=Coordinate(0, 7))


def test_workspace_records_are_seen_from_every_session(story: Story, address: Address, lore: Namespace) -> None:
    other = story.sessions.create("w", session_id="t")
    scope = scope_of(lore, story.sessions.get(address))
    story.records.put(lore, scope, "mira", {"body": "keeps the key"})

    assert scope_of(lore, other) == scope == Scope("w")
    found = story.records.get(lore, scope, "mira")
    assert found is not None
    assert (found.coordinate, found.turn) == (ROOT, -1)
    assert story.records.get(lore, Scope("v"), "mira") is None


def test_preset_records_belong_to_the_preset_in_the_workspace(story: Story, facts: Namespace) -> None:
    notes = replace(facts, name="notes", scope="preset")
    one = story.sessions.create("w", session_id="one", preset="detective")
    two = story.sessions.create("w", session_id="two", preset="poet")

    story.records.put(notes, scope_of(notes, one), "k", {"text": "x"})

    assert scope_of(notes, one) == Scope("w", preset="detective")
    assert story.records.get(notes, scope_of(notes, two), "k") is None


@pytest.mark.parametrize(
    ("namespace", "scope"),
    [
        pytest.param("facts", Scope("w"), id="session records without a session"),
        pytest.param("lore", Scope("w", session="s"), id="workspace records with one"),
        pytest.param("facts", Scope("w", preset="p"), id="session records of a preset"),
    ],
)
def test_a_scope_of_the_wrong_kind_is_refused(
    story: Story, address: Address, facts: Namespace, lore: Namespace, namespace: str, scope: Scope
) -> None:
    with pytest.raises(ParameterError, match="belongs to a"):
        story.records.put({"facts": facts, "lore": lore}[namespace], scope, "k", {"text": "x"})


def test_a_workspace_that_is_not_there_is_named(story: Story, lore: Namespace) -> None:
    with pytest.raises(NotFound, match="no workspace 'nowhere'"):
        story.records.put(lore, Scope("nowhere"), "k", {"body": "x"})


@pytest.mark.parametrize("key", ["", " a", "a\n", "x" * 201, "a\u200b", "a\0"])
def test_a_key_is_one_visible_line(story: Story, scope: Scope, facts: Namespace, key: str) -> None:
    with pytest.raises(ParameterError) as caught:
        story.records.put(facts, scope, key, {"text": "x"})

    assert caught.value.field == "key"
