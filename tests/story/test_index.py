"""The index follows the rows: by every write, by a changed declaration, by a rebuild."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from talekeeper.db import Database, Tx
from talekeeper.errors import StoreUnusable
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.search import Index, Kind, PartScope, Query, Source
from talekeeper.story import Address, Message, Scope, Story

Say = Callable[..., list[Message]]
Find = Callable[..., list[str]]
Ask = Callable[[str], list[str]]
WORKSPACE = Scope("w")


@pytest.fixture
def ask(story: Story, index: Index, address: Address, lore: Namespace) -> Ask:
    """Keys of workspace records found."""

    def ask(query: str) -> list[str]:
        def search(tx: Tx) -> list[str]:
            part = index.find_part(tx, "w", "", "")
            scope = [] if part is None else [PartScope(part, {0: -1})]
            return [
                hit.key
                for hit in index.search(tx, Query((query,), tuple(scope), (Source(lore.plugin, lore.name),))).hits
            ]

        return story.read(search)

    return ask


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("key", True),
        ("Mira", True),
        ("thief", True),
        ("smuggler", True),
        ("Aldric", True),
        ("may", True),
        ("unlisted", False),
    ],
    ids=["text", "title", "tag", "second tag", "speaker", "day", "another property"],
)
def test_a_record_is_found_by_what_its_manifest_declares(
    story: Story, ask: Ask, lore: Namespace, query: str, found: bool
) -> None:
    value = {
        "name": "Mira",
        "body": "She keeps the silver key.",
        "tags": ["thief", "smuggler", 7],
        "by": "Aldric",
        "day": "2023-05-08",
        "note": "unlisted",
    }

    story.records.put(lore, WORKSPACE, "mira", value)

    assert ask(query) == (["mira"] if found else [])
    assert story.index.check() == []


def test_a_record_that_is_switched_off_is_kept_and_not_found(story: Story, ask: Ask, lore: Namespace) -> None:
    story.records.put(lore, WORKSPACE, "mira", {"body": "the silver key"})
    story.records.put(lore, WORKSPACE, "mira", {"body": "the silver key", "enabled": False})

    assert ask("silver") == []
    assert story.records.count(lore, WORKSPACE) == 1
    assert story.index.check() == []
    story.records.put(lore, WORKSPACE, "mira", {"body": "the silver key", "enabled": True})
    assert ask("silver") == ["mira"]


def test_switching_off_on_one_branch_hides_what_stood_before(
    story: Story, address: Address, scope: Scope, facts: Namespace, say: Say, find: Find
) -> None:
    switched = replace(facts, search=SearchTable(("text",), when="on"))
    say("> a")
    story.records.put(switched, scope, "k", {"text": "lantern", "on": True})
    say("> b")
    story.records.put(switched, scope, "k", {"text": "lantern", "on": False})

    assert find("lantern", switched) == []
    story.tree.undo(address)
    assert find("lantern", switched) == ["k"]
    assert story.index.check() == []


def test_a_namespace_without_a_search_table_is_not_indexed(
    story: Story, scope: Scope, facts: Namespace, find: Find, say: Say
) -> None:
    blocks = replace(facts, name="blocks", search=None)
    say("> a")

    story.records.put(blocks, scope, "scene", {"text": "lantern"})

    assert find("lantern", blocks) == []
    assert story.index.check() == []


def test_a_changed_search_table_is_followed_by_old_records_and_new(story: Story, ask: Ask, lore: Namespace) -> None:
    wider = replace(lore, search=SearchTable(("body", "secret")))
    story.records.put(lore, WORKSPACE, "old", {"body": "a door", "secret": "trapdoor", "name": "Cellar"})
    assert not story.index.declare("w", lore)

    assert story.index.declare("w", wider)
    story.records.put(wider, WORKSPACE, "new", {"body": "a gate", "secret": "trapdoor"})
    assert story.index.pending("w") == {("lorebook", "entries")}
    assert ask("trapdoor") == ["new"]
    story.index.maintain()

    assert story.index.pending("w") == set()
    assert sorted(ask("trapdoor")) == ["new", "old"]
    assert ask("cellar") == []
    assert story.index.check() == []


def test_a_search_table_can_be_taken_away_and_given_back(story: Story, ask: Ask, lore: Namespace) -> None:
    story.records.put(lore, WORKSPACE, "old", {"body": "a door"})

    story.index.declare("w", replace(lore, search=None))
    story.index.maintain()
    assert (ask("door"), story.index.check()) == ([], [])
    story.index.declare("w", lore)
    story.index.maintain()

    assert (ask("door"), story.index.check()) == (["old"], [])


def test_what_does_not_change_the_index_needs_no_indexing(story: Story, lore: Namespace) -> None:
    assert lore.search is not None
    story.workspaces.create("w")
    story.records.put(lore, WORKSPACE, "old", {"body": "a door"})

    assert not story.index.declare("w", replace(lore, search=replace(lore.search, weight=3.0, visibility="owner")))


def test_an_interrupted_reindex_is_taken_up_by_the_next_to_maintain(
    story: Story, db: Database, ask: Ask, lore: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(250):
        story.records.put(lore, WORKSPACE, f"k{number:03}", {"body": "a door", "secret": f"trapdoor {number}"})
    story.index.declare("w", replace(lore, search=SearchTable(("body", "secret"))))
    writes: list[str] = []
    write = db.write

    def dying(fn: Callable[[Tx], object], *, name: str) -> object:
        writes.append(name)
        if len(writes) > 2:
            raise KeyboardInterrupt
        return write(fn, name=name)

    with monkeypatch.context() as patch:
        patch.setattr(db, "write", dying)
        with pytest.raises(KeyboardInterrupt):
            story.index.maintain()
    assert story.index.pending("w")
    assert story.index.check() != []

    story.index.maintain()

    assert story.index.check() == []
    assert ask("249") == ["k249"]


def test_a_difference_is_found_and_named_and_a_rebuild_mends_it(
    story: Story, db: Database, index: Index, address: Address, scope: Scope, facts: Namespace, say: Say, find: Find
) -> None:
    lost, kept = say("> the lantern", "the harbour")
    story.records.put(facts, scope, "k", {"text": "the bell"})

    def spoil(tx: Tx) -> None:
        part = index.part_for(tx, "w", "s", "")
        index.remove(tx, part, kind=Kind.MESSAGE, plugin="", namespace="", key=lost.id)
        tx.run('UPDATE record SET value = \'{"text":"the gong"}\'')
        tx.run("DELETE FROM message WHERE id = ?", (kept.id,))

    db.write(spoil, name="spoil")
    assert {fault.difference.key for fault in story.index.check()} == {lost.id, "k", kept.id}

    story.index.rebuild()

    assert story.index.check() == []
    assert (find("lantern"), find("harbour"), find("gong", facts), find("bell", facts)) == ([lost.id], [], ["k"], [])


def test_a_rebuild_of_everything_tells_how_far_it_is(story: Story, address: Address, lore: Namespace, say: Say) -> None:
    say(*["> x"] * 250)
    story.sessions.create("v", session_id="other")
    story.records.put(lore, WORKSPACE, "k", {"body": "a door"})
    steps: list[tuple[int, int]] = []

    story.index.rebuild(progress=lambda done, total: steps.append((done, total)))

    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert story.index.check() == []
    assert story.index.check(address) == []


def test_what_an_older_tokeniser_wrote_is_rebuilt_by_maintenance(
    story: Story, db: Database, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("talekeeper.search.storage.writing.TOKENS_FINGERPRINT", "an older one")
        say("> the lantern")

    story.index.maintain()

    assert db.read(lambda tx: tx.rows("SELECT 1 FROM tail WHERE tokens = 'an older one'")) == []
    assert story.index.check() == []


@pytest.mark.parametrize("column", ["plugins", "settings"])
def test_a_stored_document_that_changed_on_the_disk_is_damage(
    story: Story, db: Database, address: Address, column: str
) -> None:
    db.write(lambda tx: tx.run(f"UPDATE session SET {column} = '{{'"), name="damage")

    with pytest.raises(StoreUnusable, match="the database is damaged"):
        story.sessions.get(address)


def test_a_record_that_changed_on_the_disk_is_damage(story: Story, db: Database, scope: Scope) -> None:
    namespace = Namespace("lore", "entries")
    story.records.put(namespace, scope, "k", {"body": "silver"})
    db.write(lambda tx: tx.run("UPDATE record SET value = '{'"), name="damage")

    with pytest.raises(StoreUnusable, match="the database is damaged"):
        story.records.get(namespace, scope, "k")
