"""An export imports again as it was, and a line that was touched shows."""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.db import Leases, Tx
from talekeeper.errors import Busy, StoreUnusable
from talekeeper.exchange import ARCHIVE, Options, Report, Source, detect_format, restore_archive, write_archive
from talekeeper.exchange import export as export_module
from talekeeper.exchange.archive import TABLES, Chain
from talekeeper.exchange.archive import restore as restore_module
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.story import Address, Draft, ModelUse, Scope, Story

# What is made anew from the rows, belongs to the home, or is of the moment.
NOT_KEPT = {
    "dead", "doc", "lease", "part", "part_source", "plugin_fault", "plugin_sound_seed", "posting", "retired",
    "search_counter", "segment", "tail", "tally", "upkeep", "vector", "vector_space",
}  # fmt: skip
MADE_ANEW = {"deleting", "workspace"}
LORE = Namespace("lore", "entries", search=SearchTable(text=("body",)))
RULES = Namespace("lore", "rules", scope="workspace", search=SearchTable(text=("body",)))
HARBOUR = Address("default", "harbour")

MakeStory = Callable[..., Story]
Restore = Callable[..., Report]


def fill(story: Story) -> None:
    """Two sessions with branches, takes, an edit, a hidden and a deleted message, and records in three states."""
    for name in ("harbour", "castle"):
        address = Address("default", name)
        story.sessions.create("default", session_id=name, title=name.title())
        for turn in range(4):
            story.messages.append(
                address, [Draft("player", f"{name} asks {turn}"), Draft("narrator", f"{name} bridge {turn}")]
            )
            story.records.add(LORE, Scope("default", name), {"body": f"{name} fact {turn}"})
        story.tree.undo(address)
        story.messages.append(address, [Draft("player", "another way", takes=(Draft("player", "a third way"),))])
        story.tree.fork(address, name="checkpoint")
        messages = story.messages.read(address)
        story.messages.edit(address, messages[0].id, f"{name} asked anew")
        story.messages.hide(address, messages[1].id)
        story.messages.delete(address, messages[2].id)
        turn_over(story, address)
        story.records.put(LORE, Scope("default", name), "by-hand", {"body": "a person wrote this"}, person=True)
        story.records.put(LORE, Scope("default", name), "gone", {"body": "to be forgotten"})
        story.records.forget(LORE, Scope("default", name), "gone")
    story.records.put(RULES, Scope("default"), "one", {"body": "no running"}, person=True)


def turn_over(story: Story, address: Address) -> None:
    """What a narrated turn leaves beside its messages."""
    head = story.sessions.get(address).head

    def told(tx: Tx) -> None:
        story.turn_log.show(address, head, 4, [("lore", "entries", "by-hand")], tx)
        story.turn_log.decide(address, head, 4, [("lore", "recalled", {"query": {"terms": ["bridge"]}})], tx)

    story.write(told, name="tell")
    story.turn_log.spend(
        address,
        [
            ModelUse("narrator", "m", 10, 2, 4, cost=6_500, currency="USD"),
            ModelUse("extract", "m", None, None, 4, "lore"),
        ],
    )


def export(story: Story, *names: str) -> str:
    lines: list[str] = []
    sessions = [one for one in story.sessions.all("default") if one.id in names or not names]
    write_archive(story, lines.append, "default", sessions, written="2024-03-05T00:00:00.000Z", progress=lambda _: None)
    return "".join(lines)


@pytest.fixture
def restore(leases: Leases) -> Restore:
    def run(story: Story, text: str, workspace: str | None = None, **options: Any) -> Report:
        source = Source(io.BytesIO(text.encode()), "x.jsonl")
        return restore_archive(story, leases, source, Options(**options), lambda _: None, workspace)

    return run


def rows(story: Story) -> dict[str, list[tuple[Any, ...]]]:
    """Every row an archive can hold, and the counters."""

    def read(tx: Tx) -> dict[str, list[tuple[Any, ...]]]:
        found = {name: tx.rows(f"SELECT * FROM {name}") for name in (*TABLES, "tally")}
        return {name: sorted(each, key=repr) for name, each in found.items() if name != "workspace"}

    return story.read(read)


def test_archives_hold_every_column_of_every_table_that_is_kept(story: Story) -> None:
    def columns(tx: Tx) -> dict[str, set[str]]:
        names = [row[0] for row in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: {row[1] for row in tx.rows(f"PRAGMA table_info({name})")} - MADE_ANEW for name in names}

    found = story.read(columns)

    assert set(found) - NOT_KEPT == set(TABLES)
    assert {name: set(table.columns) for name, table in TABLES.items()} == {name: found[name] for name in TABLES}


def test_an_archive_restores_every_row_and_the_index(make_story: MakeStory, restore: Restore) -> None:
    old, new = make_story("old"), make_story("new")
    fill(old)

    report = restore(new, export(old))

    assert report.error is None
    assert {name: one.created for name, one in report.sessions.items()} == {"harbour": True, "castle": True}
    assert rows(new) == rows(old)
    assert new.index.check() == []


def test_a_restored_session_can_be_moved_about_in_and_goes_on(make_story: MakeStory, restore: Restore) -> None:
    old, new = make_story("old"), make_story("new")
    fill(old)

    restore(new, export(old, "harbour"))
    moved = [(story.tree.undo(HARBOUR).head, [m.text for m in story.messages.read(HARBOUR)]) for story in (old, new)]
    new.messages.append(HARBOUR, [Draft("player", "and on")])

    assert moved[0] == moved[1]
    assert new.messages.read(HARBOUR)[-1].text == "and on"
    assert new.index.check() == []


def test_an_archive_of_one_session_holds_nothing_of_another(make_story: MakeStory) -> None:
    old = make_story("old")
    fill(old)

    text = export(old, "harbour")

    assert "castle" not in text
    assert "harbour bridge 0" in text


def test_importing_again_changes_nothing(make_story: MakeStory, restore: Restore) -> None:
    old, new = make_story("old"), make_story("new")
    fill(old)
    restore(new, export(old))
    before = rows(new)

    report = restore(new, export(old))

    assert (report.imported, report.error) == (0, None)
    assert report.already_there > 0
    assert rows(new) == before


def test_a_session_can_come_in_under_another_name_and_workspace(make_story: MakeStory, restore: Restore) -> None:
    story = make_story()
    fill(story)

    report = restore(story, export(story, "harbour"), session="copy")
    elsewhere = restore(story, export(story, "castle"), "other")

    assert (report.error, elsewhere.error) == (None, None)
    copy = [m.text for m in story.messages.read(Address("default", "copy"))]
    assert copy == [m.text for m in story.messages.read(HARBOUR)]
    assert [one.id for one in story.sessions.all("other")] == ["castle"]
    assert story.index.check() == []


def test_another_session_of_the_same_name_is_not_touched(make_story: MakeStory, restore: Restore) -> None:
    old, new = make_story("old"), make_story("new")
    fill(old)
    new.sessions.create("default", session_id="harbour")

    report = restore(new, export(old, "harbour"))

    assert re.fullmatch(
        r"x\.jsonl:\d+: there is already another session 'harbour'; import it under another name with --session NAME",
        str(report.error),
    )
    assert new.messages.read(HARBOUR) == []


def test_a_line_that_was_changed_lost_moved_or_added_shows(make_story: MakeStory, restore: Restore) -> None:
    old, new = make_story("old"), make_story("new")
    fill(old)
    lines = export(old).splitlines(keepends=True)

    for place in range(len(lines) - 1):
        before, line, after = lines[:place], lines[place], lines[place + 1 :]
        changed = line.replace('": "', '": "x', 1)
        for touched in ([changed, *after], after, [after[0], line, *after[1:]], [line, line, *after]):
            error = restore(new, "".join([*before, *touched]), dry_run=True).error
            assert error is not None, (place, touched[:2])


def test_nothing_may_stand_after_the_end(make_story: MakeStory, restore: Restore) -> None:
    story = make_story()
    fill(story)

    report = restore(story, export(story, "harbour") + export(story, "castle"), dry_run=True)

    assert "lines stand after the end of the archive" in str(report.error)


def test_a_file_that_is_cut_off_says_so_and_shows_no_half_session(make_story: MakeStory, restore: Restore) -> None:
    old, new = make_story("old"), make_story("new")
    fill(old)
    text = export(old)
    lines = text.splitlines(keepends=True)
    half = "".join(lines[: len(lines) // 2])

    report = restore(new, half)
    shown = [one.id for one in new.sessions.all("default")]
    complete = restore(new, text)

    assert "the archive is cut off" in str(report.error)
    assert len(shown) < 2
    assert complete.error is None
    assert rows(new) == rows(old)


def test_a_dry_run_writes_nothing(make_story: MakeStory, restore: Restore) -> None:
    old, new = make_story("old"), make_story("new")
    fill(old)

    report = restore(new, export(old), dry_run=True)

    assert (report.error, len(report.sessions)) == (None, 2)
    assert new.workspaces.all() == []


def test_an_archive_of_a_later_version_is_refused(make_story: MakeStory, story: Story, restore: Restore) -> None:
    head = {ARCHIVE: "archive", "version": 3, "workspace": "default", "written": ""}
    text = json.dumps({**head, "hash": Chain().add(head)})

    report = restore(story, text)

    assert str(report.error).startswith("x.jsonl:1: the archive is of version 3, this Talekeeper reads versions 1 to 2")


def test_an_archive_is_known_by_its_first_line(story: Story) -> None:
    fill(story)

    assert detect_format(Source(io.BytesIO(export(story).encode()), "x")) == ARCHIVE


def test_pages_of_any_size_give_the_same_archive(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(story)
    whole = export(story)

    for size in random.Random(1).sample(range(1, 20), 5):
        monkeypatch.setattr(export_module, "_PAGE", size)
        assert export(story) == whole


def test_a_store_that_fails_in_the_middle_keeps_whole_sessions_and_counts_only_those(
    make_story: MakeStory, restore: Restore, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = make_story("old"), make_story("new")
    fill(old)
    rebuild, done = new.index.rebuild, list[object]()

    def full_at_the_second(scope: Address | Scope | None = None) -> None:
        if done:
            raise StoreUnusable("the disk is full")
        done.append(rebuild(scope))

    monkeypatch.setattr(new.index, "rebuild", full_at_the_second)
    with pytest.raises(StoreUnusable):
        restore(new, export(old))
    monkeypatch.undo()
    left = {name: len(new.messages.read(Address("default", name))) for name in sessions(new)}
    again = restore(new, export(old))

    assert len(left) == 1
    assert again.error is None
    assert rows(new) == rows(old)


def sessions(story: Story) -> list[str]:
    """Every session of the store, hidden ones too."""
    return [row[0] for row in story.read(lambda tx: tx.rows("SELECT id FROM session"))]


def test_a_row_that_does_not_fit_the_store_names_its_line_and_leaves_nothing(
    make_story: MakeStory, restore: Restore
) -> None:
    old, new = make_story("old"), make_story("new")
    fill(old)
    end = old.messages.read(HARBOUR)[1].coordinate
    old.jobs.enqueue(HARBOUR, "lore", "extract", end, start=0)
    old.jobs.enqueue(HARBOUR, "lore", "other", end, start=0)
    lines = [json.loads(line) for line in export(old, "harbour").splitlines()]
    first, second = (line["row"] for line in lines if line.get("table") == "job")
    second["seq"] = first["seq"]

    report = restore(new, hashed(lines))

    line = next(n for n, line in enumerate(lines, start=1) if line.get("row") is second)
    assert str(report.error).startswith(f"x.jsonl:{line}: the row does not fit those before it: ")
    assert (report.imported, sessions(new)) == (0, [])


def hashed(lines: list[dict[str, Any]]) -> str:
    chain = Chain()
    bare = [{key: value for key, value in line.items() if key != "hash"} for line in lines]
    return "".join(json.dumps({**line, "hash": chain.add(line)}) + "\n" for line in bare)


def test_a_dry_run_of_a_file_with_a_fault_counts_nothing(make_story: MakeStory, restore: Restore) -> None:
    old, new = make_story("old"), make_story("new")
    fill(old)
    lines = export(old).splitlines(keepends=True)

    report = restore(new, "".join(lines[:-3]), dry_run=True)

    assert (report.imported, report.sessions) == (0, {})


def test_a_workspace_can_be_deleted_while_a_session_in_it_is_unfinished(make_story: MakeStory) -> None:
    story = make_story()
    fill(story)
    story.write(lambda tx: tx.run("UPDATE session SET deleting = 1 WHERE id = 'harbour'"), name="as a killed restore")

    story.workspaces.delete("default")

    assert (story.workspaces.all(), sessions(story)) == ([], [])
    assert not any(rows(story).values())


def test_only_one_restores_into_a_workspace_at_a_time(
    make_story: MakeStory, restore: Restore, leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = make_story("old"), make_story("new")
    fill(old)
    monkeypatch.setattr(restore_module, "_WAIT", 0.0)

    with leases.hold("default", "restore"), pytest.raises(Busy, match="'restore' is held by process"):
        restore(new, export(old))

    assert new.workspaces.all() == []
