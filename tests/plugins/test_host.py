from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from talekeeper.errors import NotFound, PluginError
from talekeeper.plugins import Call, Deadlines, Host, Overrides, State, read_overrides
from talekeeper.story import Address, Session, Story

MakePlugin = Callable[..., Path]
OpenHost = Callable[..., Host]

CHECK = """
    [[contributes.commands]]
    id = "check"
"""
CODE = """
    from talekeeper.api import hookimpl

    @hookimpl
    def talekeeper_register(registry):
        registry.command("check", lambda ctx, arguments: "new")
"""


def _states(host: Host, workspace: str = "", session: Session | None = None) -> dict[str, State]:
    return {plugin.id: plugin.state for plugin in host.roster(workspace, session).plugins}


def test_a_found_plugin_waits_to_be_enabled(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin("lore")

    plugin = open_host().roster().by_id["lore"]

    assert plugin.state is State.DISABLED
    assert "talekeeper plugins enable lore" in plugin.reason


def test_enabling_lasts_and_a_plugin_without_code_is_active_at_once(
    make_plugin: MakePlugin, open_host: OpenHost
) -> None:
    make_plugin("lore")

    open_host().enable("lore")

    assert _states(open_host()) == {"lore": State.ACTIVE}


def test_a_plugin_given_by_its_own_path_is_enabled(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    root = make_plugin("lore")

    host = open_host(folder=None, overrides=Overrides(paths=(root,)))

    assert _states(host) == {"lore": State.ACTIVE}


def test_a_plugin_given_by_its_own_path_stands_before_a_copy_found_elsewhere(
    make_plugin: MakePlugin, open_host: OpenHost, tmp_path: Path
) -> None:
    make_plugin("lore", version="1.0.0")
    named = make_plugin("lore", version="2.0.0", folder=tmp_path / "work")

    roster = open_host(overrides=Overrides(paths=(named,))).roster()

    lore, copy = roster.plugins
    assert (lore.declared.version, lore.state) == ("2.0.0", State.ACTIVE)
    assert copy.state is State.BLOCKED
    assert f"{named}, which counts" in copy.reason


def test_a_found_plugin_is_enabled_when_its_own_path_is_given_too(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    root = make_plugin("lore")

    host = open_host(overrides=Overrides(paths=(root,)))

    assert _states(host) == {"lore": State.ACTIVE}


def test_listing_imports_no_plugin_and_the_first_call_does(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin("lore", CODE, more=CHECK)
    host = open_host()
    host.enable("lore")
    before = set(sys.modules)

    listed = host.roster().by_id["lore"]
    explained = host.explain("lore")

    assert listed.state is State.ENABLED
    assert "loaded when" in explained.reason
    assert [name for name in set(sys.modules) - before if not name.startswith("talekeeper.")] == []
    assert host.functions(listed)["commands", "check"](None, {}) == "new"
    assert _states(host) == {"lore": State.ACTIVE}
    host.disable("lore")


@pytest.mark.parametrize(
    ("rows", "state"),
    [
        pytest.param([("", True)], State.ACTIVE, id="home on"),
        pytest.param([("", True), ("w", False)], State.DISABLED, id="workspace off over home on"),
        pytest.param([("w", True)], State.ACTIVE, id="workspace alone"),
        pytest.param([("", False), ("w", True)], State.ACTIVE, id="workspace on over home off"),
        pytest.param([("other", True)], State.DISABLED, id="another workspace"),
        pytest.param([("", True), ("", False)], State.DISABLED, id="the later counts"),
    ],
)
def test_the_narrower_scope_counts(
    make_plugin: MakePlugin, open_host: OpenHost, rows: list[tuple[str, bool]], state: State
) -> None:
    make_plugin("lore")
    host = open_host()

    for workspace, on in rows:
        (host.enable if on else host.disable)("lore", workspace)

    assert _states(host, "w") == {"lore": state}


def test_a_session_has_the_plugins_it_recorded_whatever_is_enabled_later(
    make_plugin: MakePlugin, open_host: OpenHost, story: Story
) -> None:
    make_plugin("early")
    make_plugin("late")
    host = open_host()
    host.enable("early")
    session = story.sessions.create("w", session_id="s", plugins=host.enabled("w"))

    host.enable("late")

    assert _states(host, session=session) == {"early": State.ACTIVE, "late": State.DISABLED}
    assert "+late" in host.roster(session=session).by_id["late"].reason


def test_a_sessions_own_choice_counts_over_home_and_workspace(
    make_plugin: MakePlugin, open_host: OpenHost, story: Story
) -> None:
    for name in ("one", "two"):
        make_plugin(name)
    host = open_host()
    host.enable("one")
    other = story.sessions.create("w", session_id="other", plugins=host.enabled("w"))
    story.sessions.create("w", session_id="s", plugins=host.enabled("w"))

    session = host.change_session(Address("w", "s"), add=["two"], remove=["one"])

    assert session.plugins == ("two",)
    assert _states(host, session=session) == {"two": State.ACTIVE, "one": State.DISABLED}
    assert _states(host, session=other) == {"one": State.ACTIVE, "two": State.DISABLED}


def test_a_plugin_disabled_in_the_home_is_off_in_sessions_that_recorded_it(
    make_plugin: MakePlugin, open_host: OpenHost, story: Story
) -> None:
    make_plugin("lore")
    host = open_host()
    host.enable("lore")
    session = story.sessions.create("w", session_id="s", plugins=host.enabled("w"))

    host.disable("lore")

    assert _states(host, session=session) == {"lore": State.DISABLED}
    host.enable("lore")
    assert _states(host, session=session) == {"lore": State.ACTIVE}


@pytest.mark.parametrize(
    ("chosen", "states"),
    [
        (read_overrides({}, without=""), {"one": State.DISABLED, "two": State.DISABLED}),
        (read_overrides({}, without="one"), {"one": State.DISABLED, "two": State.ACTIVE}),
        (read_overrides({"TALEKEEPER_PLUGINS": "one"}), {"one": State.ACTIVE, "two": State.DISABLED}),
    ],
    ids=["all off", "one off", "only one"],
)
def test_this_runs_options_count_over_everything_and_change_nothing(
    make_plugin: MakePlugin, open_host: OpenHost, chosen: Overrides, states: dict[str, State]
) -> None:
    for name in ("one", "two"):
        make_plugin(name)
        open_host().enable(name)

    host = open_host(overrides=chosen)

    assert _states(host) == states
    assert host.enabled() == ("one", "two")
    assert _states(open_host()) == {"one": State.ACTIVE, "two": State.ACTIVE}


def _bundled(name: str, package: str) -> EntryPoint:
    entry = EntryPoint(name, package, "talekeeper.plugins")
    vars(entry)["dist"] = SimpleNamespace(name="talekeeper")
    return entry


def test_bundled_plugins_are_on_in_a_new_home_and_stay_off_once_disabled(
    make_plugin: MakePlugin, open_host: OpenHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_plugin("bundled", folder=tmp_path / "site")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    options: dict[str, Any] = {"entries": lambda: (_bundled("bundled", "bundled"),)}

    assert _states(open_host(**options)) == {"bundled": State.ACTIVE}

    open_host(**options).disable("bundled")
    assert _states(open_host(**options)) == {"bundled": State.DISABLED}


def test_an_installed_plugin_does_not_come_on_by_itself_even_in_a_new_home(
    make_plugin: MakePlugin, open_host: OpenHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_plugin("installed", folder=tmp_path / "site")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    entry = EntryPoint("installed", "installed", "talekeeper.plugins")

    assert _states(open_host(entries=lambda: (entry,))) == {"installed": State.DISABLED}


def test_requirements_order_plugins_and_block_what_lacks_one(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    host = open_host()
    make_plugin("a", plugin='requires = ["b"]')
    make_plugin("b", plugin='optional = ["c", "gone"]')
    make_plugin("c")
    make_plugin("d", plugin='requires = ["gone"]')
    make_plugin("e", plugin='requires = ["f"]')
    make_plugin("f", plugin='requires = ["e"]')
    make_plugin("g", plugin='requires = ["d"]')
    for name in "abcdefg":
        host.enable(name)

    roster = host.roster()

    assert [plugin.id for plugin in roster.working] == ["c", "b", "a"]
    reasons = {plugin.id: plugin.reason for plugin in roster.plugins if plugin.state is State.BLOCKED}
    assert reasons == {
        "d": "it requires plugin 'gone', which is not there; install it",
        "e": "it requires itself in a circle: e → f → e",
        "f": "it requires itself in a circle: f → e → f",
        "g": "it requires plugin 'd', which is blocked: it requires plugin 'gone', which is not there; install it",
    }


def test_a_plugin_whose_requirement_is_disabled_is_blocked(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin("a", plugin='requires = ["b"]')
    make_plugin("b")
    host = open_host()

    blocked = host.enable("a")

    assert blocked.state is State.BLOCKED
    assert "requires plugin 'b', which is disabled" in blocked.reason
    host.enable("b")
    assert _states(host) == {"a": State.ACTIVE, "b": State.ACTIVE}


def _tool(name: str) -> str:
    return f"""
        [[contributes.tools]]
        name = "{name}"
        description = "Rolls dice."
        parameters = "entries.schema.json"
    """


def test_code_that_does_not_load_is_failed_here_and_in_the_next_process(
    make_plugin: MakePlugin, open_host: OpenHost
) -> None:
    make_plugin("lore", "1 / 0", more=CHECK)
    make_plugin("good", CODE, more=CHECK)
    host = open_host()
    for name in ("lore", "good"):
        host.enable(name)

    with pytest.raises(PluginError, match="ZeroDivisionError"):
        host.functions(host.plugin("lore"))

    for each in (host, open_host()):
        assert each.roster().by_id["lore"].state is State.FAILED
        assert "ZeroDivisionError" in each.roster().by_id["lore"].reason
    assert host.functions(host.plugin("good"))
    host.disable("good")


def test_a_failed_plugin_is_tried_again_once_its_files_change(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin("lore", "1 / 0", more=CHECK)
    host = open_host()
    host.enable("lore")
    with pytest.raises(PluginError):
        host.functions(host.plugin("lore"))

    make_plugin("lore", CODE, more=CHECK)
    later = open_host()

    assert later.roster().by_id["lore"].state is State.ENABLED
    assert later.functions(later.plugin("lore"))
    assert later.roster().by_id["lore"].state is State.ACTIVE
    later.disable("lore")


def test_enabling_again_tries_a_failed_plugin_in_the_same_process(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin("lore", "1 / 0", more=CHECK)
    host = open_host()
    host.enable("lore")
    with pytest.raises(PluginError):
        host.functions(host.plugin("lore"))
    make_plugin("lore", CODE, more=CHECK)

    again = host.enable("lore")

    assert again.state is State.ENABLED
    assert host.functions(again)
    host.disable("lore")


def test_a_suspended_plugin_is_failed_and_its_data_still_searched(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin("lore", CODE, more=CHECK)
    host = open_host(deadlines=Deadlines())
    host.enable("lore")

    def fail() -> None:
        raise ValueError("bad luck")

    for _ in range(3):
        with pytest.raises(PluginError):
            host.guard.call(Call("lore", "command check", 10), fail)

    plugin = host.roster().by_id["lore"]
    assert (plugin.state, plugin.suspended, plugin.works) == (State.FAILED, True, True)
    assert "suspended after 3 failures" in plugin.reason


def test_an_invalid_plugin_cannot_be_enabled_and_says_why(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin("lore", plugin="summry = 1")

    with pytest.raises(PluginError, match="lore: it is invalid"):
        open_host().enable("lore")


def test_an_unknown_plugin_is_told_with_those_there_are(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin("lore")

    with pytest.raises(NotFound, match=r"no plugin 'lor'; did you mean 'lore'\?"):
        open_host().enable("lor")


def test_explain_says_what_feeds_what_and_what_nothing_runs(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin(
        "lore",
        CODE,
        more=CHECK
        + _tool("roll")
        + """
        [[contributes.jobs]]
        id = "extract"
        on = "manual"
        [contributes.data.notes]
        schema = "entries.schema.json"
        """,
        data='limit = 7\nsearch = { text = "body", title = "name", weight = 2 }',
    )
    host = open_host()
    host.enable("lore")

    text = "\n".join(host.explain("lore").lines())

    assert "lore/entries: feeds memory-search with body, name as archival:plugin_data, weight 2" in text
    assert "at most 7 records" in text
    assert "lore/notes: feeds nothing: it has no search table" in text
    assert "commands check: talekeeper run lore/check" in text
    assert "tools roll: offered to the narrator in turns" in text
    assert "jobs extract: when asked: talekeeper jobs run" in text


def test_strict_raises_the_plugins_own_exception(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin("lore", "1 / 0", more=CHECK)
    host = open_host(overrides=read_overrides({"TALEKEEPER_STRICT": "1"}))
    host.enable("lore")

    with pytest.raises(ZeroDivisionError):
        host.functions(host.plugin("lore"))
