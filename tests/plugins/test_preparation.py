from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.clock import FixedClock
from talekeeper.plugins import Host, State
from talekeeper.story import Address, Scope, Story

MakePlugin = Callable[..., Path]
OpenHost = Callable[..., Host]

S = Address("w", "s")
OWN = Scope("w", "s")
SEEDED = 'seed = "lore/*.jsonl"\nsearch = { text = "body" }'


def _seed(root: Path, **bodies: str) -> None:
    (root / "lore").mkdir(exist_ok=True)
    lines = [json.dumps({"id": key, "body": body}) for key, body in bodies.items()]
    (root / "lore" / "world.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def open_session(make_plugin: MakePlugin, open_host: OpenHost, story: Story) -> Callable[[], Host]:
    """A new process that opens session `s`, which has the plugin `lore`."""

    def open_again() -> Host:
        host = open_host()
        host.enable("lore")
        if not any(session.id == "s" for session in (story.sessions.all("w") if story.workspaces.all() else [])):
            story.sessions.create("w", session_id="s", plugins=("lore",))
        host.prepare(S)
        return host

    return open_again


def _entries(host: Host, story: Story, scope: Scope = OWN) -> dict[str, Any]:
    namespace = host.namespace("lore/entries")
    return {record.key: record.value["body"] for record in story.records.list(namespace, scope, limit=1000)}


def test_a_seed_is_given_at_the_first_activation_and_not_again(
    make_plugin: MakePlugin, open_session: Callable[[], Host], story: Story
) -> None:
    _seed(make_plugin("lore", data=SEEDED), tower="A bell tower.", gate="A gate.")

    host = open_session()
    story.records.withdraw(host.namespace("lore/entries"), Scope("w", "s"), "gate", person=True)
    again = open_session()

    assert _entries(again, story) == {"tower": "A bell tower."}


def test_an_upgrade_replaces_what_is_untouched_and_keeps_what_was_edited(
    make_plugin: MakePlugin, open_session: Callable[[], Host], story: Story
) -> None:
    root = make_plugin("lore", data=SEEDED)
    _seed(root, same="1", changed="1", edited="1", gone="1", gone_edited="1", forgotten="1", withdrawn="1")
    host = open_session()
    namespace, scope = host.namespace("lore/entries"), Scope("w", "s")
    for key in ("edited", "gone_edited"):
        story.records.put(namespace, scope, key, {"body": "mine"}, person=True)
    story.records.forget(namespace, scope, "forgotten")
    story.records.withdraw(namespace, scope, "withdrawn", person=True)
    story.records.put(namespace, scope, "taken", {"body": "mine"}, person=True)

    _seed(root, same="1", changed="2", edited="2", forgotten="2", withdrawn="2", taken="2", new="2")
    upgraded = open_session()

    assert _entries(upgraded, story) == {
        "same": "1",
        "changed": "2",
        "edited": "mine",
        "gone_edited": "mine",
        "taken": "mine",
        "new": "2",
    }


def test_upgrades_one_after_another_each_compare_with_the_seed_before(
    make_plugin: MakePlugin, open_session: Callable[[], Host], story: Story
) -> None:
    root = make_plugin("lore", data=SEEDED)
    for number in range(4):
        _seed(root, tower=f"version {number}")
        open_session()

    assert _entries(open_session(), story) == {"tower": "version 3"}


@pytest.mark.parametrize(
    ("declared", "scope"),
    [("workspace", Scope("w")), ("preset", Scope("w", preset="noir"))],
)
def test_a_shared_scope_is_seeded_once_for_all_its_sessions(
    make_plugin: MakePlugin, open_host: OpenHost, story: Story, declared: str, scope: Scope
) -> None:
    _seed(make_plugin("lore", data=f'scope = "{declared}"\n{SEEDED}'), tower="A bell tower.")
    host = open_host()
    host.enable("lore")
    for name in ("one", "two"):
        story.sessions.create("w", session_id=name, preset="noir", plugins=("lore",))
    host.prepare(Address("w", "one"))
    story.records.forget(host.namespace("lore/entries"), scope, "tower")

    host.prepare(Address("w", "two"))

    assert _entries(host, story, scope) == {}


def test_a_session_without_preset_needs_no_preset_seed(
    make_plugin: MakePlugin, open_session: Callable[[], Host]
) -> None:
    _seed(make_plugin("lore", data=f'scope = "preset"\n{SEEDED}'), tower="A bell tower.")

    host = open_session()

    assert host.roster("w").by_id["lore"].state is State.ACTIVE


def test_in_an_append_only_namespace_changed_seed_lines_stay_as_they_were(
    make_plugin: MakePlugin, open_session: Callable[[], Host], story: Story
) -> None:
    root = make_plugin("lore", data=f"append-only = true\n{SEEDED}")
    _seed(root, old="1", gone="1")
    open_session()

    _seed(root, old="2", new="2")
    host = open_session()

    assert _entries(host, story) == {"old": "1", "new": "2"}


def test_a_seed_stops_at_the_namespaces_limit(
    make_plugin: MakePlugin, open_session: Callable[[], Host], story: Story
) -> None:
    root = make_plugin("lore", data=f"limit = 2\n{SEEDED}")
    _seed(root, one="1")
    host = open_session()
    story.records.put(host.namespace("lore/entries"), Scope("w", "s"), "mine", {"body": "mine"}, person=True)

    _seed(root, one="1", two="2")
    again = open_session()

    assert _entries(again, story) == {"one": "1", "mine": "mine"}
    assert again.roster("w").by_id["lore"].state is State.ACTIVE


def test_seeds_are_found_by_search(make_plugin: MakePlugin, open_session: Callable[[], Host], story: Story) -> None:
    _seed(make_plugin("lore", data=SEEDED), tower="A bell tower.")

    open_session()

    assert story.index.check() == []


def test_a_seed_that_does_not_hold_is_the_plugins_fault(
    make_plugin: MakePlugin, open_host: OpenHost, story: Story
) -> None:
    root = make_plugin("lore", data=SEEDED)
    _seed(root, tower="A bell tower.")
    host = open_host()
    host.enable("lore")
    story.sessions.create("w", session_id="s", plugins=("lore",))
    (root / "lore" / "world.jsonl").write_text('{"id": "tower", "body": 3}\n')

    host.prepare(S)

    plugin = host.roster("w").by_id["lore"]
    assert plugin.state is State.FAILED
    assert "lore/entries/body" in plugin.reason


def test_a_prepared_session_is_written_to_no_more(
    make_plugin: MakePlugin, open_session: Callable[[], Host], open_host: OpenHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    _seed(make_plugin("lore", data=SEEDED), tower="A bell tower.")
    open_session()
    written: list[str] = []
    real = Story.write

    def write(story: Story, fn: Any, *, name: str) -> Any:
        written.append(name)
        return real(story, fn, name=name)

    monkeypatch.setattr(Story, "write", write)
    open_host().prepare(S)

    assert written == []


MIGRATING = """
    from talekeeper.api import hookimpl

    calls = []

    def migrate(value, version):
        calls.append(version)
        return {**value, "name": f"from {version}"}

    @hookimpl
    def talekeeper_register(registry):
        registry.migration("entries", migrate)
"""


def test_a_higher_version_migrates_every_record_on_every_branch_and_its_index(
    make_plugin: MakePlugin, open_session: Callable[[], Host], story: Story
) -> None:
    searched = 'search = { text = "body", title = "name" }'
    make_plugin("lore", data=searched)
    host = open_session()
    namespace, scope = host.namespace("lore/entries"), Scope("w", "s")
    for number in range(250):
        story.records.put(namespace, scope, f"k{number}", {"body": "words"})
    story.records.put(namespace, scope, "k0", {"body": "newer words"}, person=True)
    story.records.withdraw(namespace, scope, "k1", person=True)
    story.records.forget(namespace, scope, "k2")

    make_plugin("lore", MIGRATING, data=f"version = 2\n{searched}")
    later = open_session()
    story.index.maintain()

    new = later.namespace("lore/entries")
    live = story.records.list(new, scope, limit=1000)
    assert len(live) == 248
    assert {record.value["name"] for record in live} == {"from 1"}
    assert {version.value["body"] for version in story.records.history(new, scope, "k0")} == {"words", "newer words"}
    story.records.restore(new, scope, "k1", person=True)
    restored = story.records.get(new, scope, "k1")
    assert restored is not None
    assert restored.value["name"] == "from 1"
    assert story.index.check() == []
    assert later.roster("w").by_id["lore"].state is State.ACTIVE
    later.disable("lore")


def test_a_migration_is_not_run_without_need(
    make_plugin: MakePlugin, open_session: Callable[[], Host], story: Story
) -> None:
    make_plugin("lore", "raise AssertionError('imported')", data="version = 2\n")

    host = open_session()

    assert host.roster("w").by_id["lore"].state is State.ENABLED


@pytest.mark.parametrize(
    ("code", "told"),
    [
        pytest.param(MIGRATING.replace("return {", "return 1 / 0 or {"), "ZeroDivisionError", id="raises"),
        pytest.param(MIGRATING.replace("{**value, ", "{"), "'k' of version 1 does not fit version 2", id="misfit"),
        pytest.param(MIGRATING.replace("return {", "return value.update({}) or {"), "frozen", id="mutates"),
    ],
)
def test_a_migration_that_fails_leaves_the_records_as_they_are(
    make_plugin: MakePlugin, open_session: Callable[[], Host], story: Story, code: str, told: str
) -> None:
    make_plugin("lore")
    host = open_session()
    story.records.put(host.namespace("lore/entries"), Scope("w", "s"), "k", {"body": "words"})
    make_plugin("lore", code, data='version = 2\nsearch = { text = "body" }')

    later = open_session()

    plugin = later.roster("w").by_id["lore"]
    assert plugin.state is State.FAILED
    assert told in plugin.reason
    (kept,) = story.records.history(host.namespace("lore/entries"), Scope("w", "s"), "k")
    assert (kept.value, kept.version) == ({"body": "words"}, 1)


def test_a_plugin_without_code_has_its_records_held_against_the_new_schema(
    make_plugin: MakePlugin, open_session: Callable[[], Host], story: Story
) -> None:
    make_plugin("lore")
    host = open_session()
    story.records.put(host.namespace("lore/entries"), Scope("w", "s"), "k", {"body": "words"})

    make_plugin("lore", data='version = 2\nsearch = { text = "body" }')
    later = open_session()

    (kept,) = story.records.history(later.namespace("lore/entries"), Scope("w", "s"), "k")
    assert kept.version == 2


def test_a_plugin_older_than_its_records_is_incompatible_in_that_workspace_alone(
    make_plugin: MakePlugin, open_session: Callable[[], Host]
) -> None:
    make_plugin("lore", data="version = 3\n")
    open_session()

    make_plugin("lore", data="version = 2\n")
    host = open_session()

    plugin = host.roster("w").by_id["lore"]
    assert plugin.state is State.INCOMPATIBLE
    assert "of version 3, this plugin knows 2" in plugin.reason
    assert host.roster("other").by_id["lore"].state is State.ACTIVE


def test_a_changed_search_table_is_due_for_indexing_and_then_done(
    make_plugin: MakePlugin, open_session: Callable[[], Host], story: Story, clock: FixedClock
) -> None:
    make_plugin("lore")
    host = open_session()
    story.records.put(host.namespace("lore/entries"), Scope("w", "s"), "k", {"body": "words", "name": "Title"})

    make_plugin("lore", data='search = { text = ["body", "name"] }')
    later = open_session()
    before = later.roster("w").by_id["lore"]
    story.index.maintain()

    assert (before.state, before.reason) == (State.LOADED, "its records are being indexed again")
    assert later.roster("w").by_id["lore"].state is State.ACTIVE
    assert story.index.check() == []


def test_a_plugin_added_to_a_session_brings_its_seed_at_once(
    make_plugin: MakePlugin, open_host: OpenHost, story: Story
) -> None:
    _seed(make_plugin("lore", data=SEEDED), tower="A bell tower.")
    host = open_host()
    story.sessions.create("w", session_id="s")
    host.ready(S)

    host.change_session(S, add=["lore"])

    assert _entries(host, story) == {"tower": "A bell tower."}


class _Stopped(Exception):
    pass


def _stop_after(story: Story, monkeypatch: pytest.MonkeyPatch, writes: int) -> None:
    """Lets so many writes through, as a process killed then would have."""
    db = story._db  # pyright: ignore[reportPrivateUsage] -- the writes are stopped beneath the story
    real = db.write
    left = [writes]

    def write(fn: Any, *, name: str) -> Any:
        if not left[0]:
            raise _Stopped
        left[0] -= 1
        return real(fn, name=name)

    monkeypatch.setattr(db, "write", write)


@pytest.mark.parametrize("writes", range(5))
def test_a_seed_that_was_interrupted_is_finished_by_the_next_process(
    make_plugin: MakePlugin, open_host: OpenHost, story: Story, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    root = make_plugin("lore", data=f'scope = "workspace"\n{SEEDED}')
    _seed(root, **{f"k{number}": "words" for number in range(250)})
    host = open_host()
    host.enable("lore")
    story.sessions.create("w", session_id="s", plugins=("lore",))

    with monkeypatch.context() as patched:
        _stop_after(story, patched, writes)
        with pytest.raises(_Stopped):
            open_host().prepare(S)
    open_host().prepare(S)

    assert len(_entries(host, story, Scope("w"))) == 250
    assert story.index.check() == []


@pytest.mark.parametrize("writes", range(3))
def test_a_migration_that_was_interrupted_is_finished_by_the_next_process(
    make_plugin: MakePlugin, open_host: OpenHost, story: Story, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    make_plugin("lore")
    host = open_host()
    host.enable("lore")
    story.sessions.create("w", session_id="s", plugins=("lore",))
    host.prepare(S)
    for number in range(120):
        story.records.put(host.namespace("lore/entries"), OWN, f"k{number}", {"body": "words"})
    make_plugin("lore", MIGRATING, data='version = 2\nsearch = { text = ["body", "name"] }')

    with monkeypatch.context() as patched:
        _stop_after(story, patched, writes)
        with pytest.raises(_Stopped):
            open_host().prepare(S)
    last = open_host()
    last.prepare(S)
    story.index.maintain()

    live = story.records.list(last.namespace("lore/entries"), OWN, limit=1000)
    assert {record.value["name"] for record in live} == {"from 1"}
    assert story.index.check() == []
    last.disable("lore")
