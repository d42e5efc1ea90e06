"""Workspaces and sessions: their names, settings, deletion, and who owns them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Tx
from talekeeper.errors import Conflict, NotFound, ParameterError
from talekeeper.manifest import Namespace
from talekeeper.story import ROOT, Address, Draft, Message, Scope, Story, is_owner

Say = Callable[..., list[Message]]


def test_a_session_begins_empty_in_a_workspace_of_its_own(story: Story) -> None:
    made = story.sessions.create("w", title="The  bell\ntower", preset="poet", locale="zh", plugins=("memory",))

    assert story.sessions.get(made.address) == made
    assert (made.title, made.preset, made.locale, made.channel) == ("The bell tower", "poet", "zh", "local")
    assert (made.plugins, made.settings, made.head, made.messages, made.branches) == (("memory",), {}, ROOT, 0, 1)
    assert [workspace.id for workspace in story.workspaces.all()] == ["w"]


def test_an_id_is_taken_once_in_its_workspace(story: Story, address: Address) -> None:
    with pytest.raises(Conflict, match="already a session 's'"):
        story.sessions.create("w", session_id="s")

    assert story.sessions.create("v", session_id="s").address == Address("v", "s")


def test_sessions_are_listed_with_the_last_used_first(story: Story, clock: FixedClock) -> None:
    for name in ("a", "b", "c"):
        clock.advance(1)
        story.sessions.create("w", session_id=name)
    clock.advance(1)
    story.messages.append(Address("w", "a"), [Draft("player", "x")])

    assert [session.id for session in story.sessions.all("w")] == ["a", "c", "b"]


def test_a_session_can_be_renamed_and_set_up_anew(story: Story, address: Address) -> None:
    story.sessions.rename(address, "Chapter two")
    before = story.sessions.get(address)

    after = story.sessions.configure(
        address, plugins=["memory"], settings={"author_note": "dark", "player": {"name": "Mira"}}
    )

    assert (after.title, after.plugins, after.settings["player"]) == ("Chapter two", ("memory",), {"name": "Mira"})
    assert (after.locale, after.preset) == (before.locale, before.preset)
    assert after.revision > before.revision


def test_a_workspace_has_a_title_that_can_be_changed(story: Story, address: Address) -> None:
    story.workspaces.rename("w", "Winter campaign")

    assert story.workspaces.create("w").title == "Winter campaign"
    with pytest.raises(NotFound):
        story.workspaces.rename("nowhere", "x")


@pytest.mark.parametrize(
    "name", ["", "W1", "../w", "w'; drop table x", "w/x", "-w", "w.x", "é", "w\0", "x" * 64, "w ", "con:"]
)
def test_a_workspace_that_could_not_be_a_folder_everywhere_is_refused(story: Story, name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        story.sessions.create(name)

    assert caught.value.field == "workspace"
    assert story.workspaces.all() == []


@pytest.mark.parametrize("name", ["", " s", "s\n", "x" * 201, "s\u202e", "s\0", "\ud800"])
def test_a_session_id_is_one_visible_line(story: Story, name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        story.sessions.create("w", session_id=name)

    assert caught.value.field == "session"


def test_ids_are_exact(story: Story) -> None:
    names = ["W1", "w1", "é", "e\u0301", "s'; drop table session; --", "../s", "a%", "a_", "ab"]
    for name in names:
        story.messages.append(story.sessions.create("w", session_id=name).address, [Draft("player", name)])

    assert sorted(session.id for session in story.sessions.all("w")) == sorted(names)
    assert [story.messages.read(Address("w", name))[0].text for name in names] == names


def counts(tx: Tx) -> dict[str, int]:
    names = [row[0] for row in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {name: tx.rows(f"SELECT count(*) FROM {name}")[0][0] for name in names}


def fill(story: Story, address: Address, facts: Namespace) -> None:
    for number in range(20):
        messages = story.messages.append(
            address, [Draft("player", f"ask {number}"), Draft("narrator", f"answer {number}")]
        )
        story.records.add(facts, Scope(address.workspace, session=address.session), {"text": f"fact {number}"})
        story.jobs.enqueue(address, "memory", "extract", messages[-1].coordinate, start=0)
        story.messages.edit(address, messages[0].id, "edited")
    story.tree.retry(address)
    story.messages.append(address, [Draft("narrator", "other")])


def test_deleting_a_session_leaves_nothing_of_it_and_all_of_the_rest(
    story: Story, db: Database, address: Address, facts: Namespace
) -> None:
    fill(story, address, facts)
    before = db.read(counts)
    other = story.sessions.create("w", session_id="other").address
    fill(story, other, facts)

    story.sessions.delete(other)

    after = db.read(counts)
    assert {name for name in before if before[name] != after[name]} <= {"search_counter", "posting", "segment"}
    assert [session.id for session in story.sessions.all("w")] == ["s"]
    with pytest.raises(NotFound):
        story.sessions.get(other)
    with pytest.raises(NotFound):
        story.sessions.delete(other)
    assert story.index.check() == []
    assert story.sessions.create("w", session_id="other").messages == 0


def test_deleting_a_workspace_leaves_nothing_of_it(
    story: Story, db: Database, facts: Namespace, lore: Namespace
) -> None:
    empty = db.read(counts)
    address = story.sessions.create("v", session_id="s").address
    fill(story, address, facts)
    story.records.put(lore, Scope("v"), "k", {"body": "a door"})

    story.workspaces.delete("v")

    after = db.read(counts)
    assert {name for name in empty if empty[name] != after[name]} <= {"search_counter"}
    assert story.workspaces.all() == []


def test_a_deletion_that_was_interrupted_is_gone_at_once_and_finished_later(
    story: Story, db: Database, address: Address, facts: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(story, address, facts)
    with monkeypatch.context() as patch:
        patch.setattr(story.index, "maintain", lambda: None)
        story.sessions.delete(address)

    assert story.sessions.all("w") == []
    assert db.read(counts)["message"] > 0
    story.index.maintain()
    assert db.read(counts)["message"] == 0


@pytest.mark.parametrize(("channel", "owned"), [("local", True), ("discord", False)])
def test_who_has_the_home_owns_its_local_sessions_and_no_others(story: Story, channel: str, owned: bool) -> None:
    session = story.sessions.create("w", channel=channel)

    assert story.read(lambda tx: is_owner(tx, session.address)) == owned


def test_a_session_that_is_not_there_is_nobodys(story: Story, address: Address) -> None:
    story.sessions.delete(address)

    assert not story.read(lambda tx: is_owner(tx, address))
