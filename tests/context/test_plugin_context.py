from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from talekeeper.context import Rooms, run_command
from talekeeper.errors import (
    ContextClosed,
    LimitReached,
    NotFound,
    ParameterError,
    PermissionDenied,
    PluginError,
    Retry,
    Skip,
    UserError,
)
from talekeeper.plugins import Host, State
from talekeeper.story import Address, Draft, Scope, Session

Plug = Callable[..., None]
Start = Callable[..., Session]
Tell = Callable[..., list[str]]
Do = Callable[..., Any]

S = Address("w", "s")
COMMAND = """
    [[contributes.commands]]
    id = "do"
    parameters = "do.schema.json"
"""
REGISTER = "\n\n@hookimpl\ndef talekeeper_register(registry):\n    registry.command('do', do)\n"


@pytest.fixture
def do(rooms: Rooms, plug: Plug, start: Start) -> Do:
    """Runs the body of a command `do(ctx, arguments)` of plugin `lore` in session `s` and gives what it gives."""

    def run(body: str, *, arguments: dict[str, Any] | None = None, keyword: str = "def", **options: Any) -> Any:
        code = "from talekeeper.api import *\n\nkept = []\n\n" + f"{keyword} do(ctx, arguments):\n"
        code += textwrap.indent(textwrap.dedent(body), "    ") + REGISTER
        more = COMMAND + textwrap.dedent(options.pop("more", ""))
        plug("lore", code, more=more, files={"do.schema.json": '{"type": "object"}'}, **options)
        if not rooms.story.workspaces():
            start(preset="noir", title="A night", locale="zh")
        try:
            return run_command(rooms, S, "lore/do", arguments or {})
        finally:
            rooms.host.disable("lore")

    return run


def test_a_command_reads_its_arguments_and_gives_json(do: Do) -> None:
    assert do("return {'got': arguments['n'] + 1, 'list': (1, 2)}", arguments={"n": 1}) == {"got": 2, "list": [1, 2]}


def test_a_command_may_be_a_coroutine(do: Do) -> None:
    assert do("return arguments['n']", arguments={"n": 1}, keyword="async def") == 1


def test_the_session_and_its_player_are_described(do: Do, tell: Tell) -> None:
    body = "s = ctx.session\nreturn [s.id, s.workspace, s.preset, s.locale, s.title, dict(s.player)]"
    before = do(body)
    tell("you: I wait.", "Narrator: Rain.")

    after = do(body)

    assert before == ["s", "w", "noir", "zh", "A night", {}]
    assert after[-1] == {"name": "you"}


def test_records_written_in_a_batch_are_read_back(do: Do) -> None:
    body = """
        with ctx.data.batch() as batch:
            batch.put("entries", "a", {"body": "one", "tags": ["x"]})
            batch.put("lore/entries", "b", {"body": "two"})
            batch.add("entries", {"body": "three"}, dedupe="d")
            batch.add("entries", {"body": "three"}, dedupe="d")
        entries = ctx.data["entries"]
        listed = entries.list(limit=2)
        rest = entries.list(after=listed[-1].key)
        return [
            dict(entries.get("a").value), entries.get("gone"), entries.count(),
            [record.value["body"] for record in (*listed, *rest)],
        ]
    """
    assert do(body) == [{"body": "one", "tags": ["x"]}, None, 3, ["one", "two", "three"]]


def test_what_a_person_runs_writes_on_every_branch(do: Do, rooms: Rooms, tell: Tell) -> None:
    do("return None")
    tell("you: one", "Narrator: 1", "you: two", "Narrator: 2")

    do('with ctx.data.batch() as batch: batch.put("entries", "a", {"body": "one"})')
    rooms.story.undo(S)
    rooms.story.undo(S)

    namespace = rooms.host.namespace("lore/entries")
    record = rooms.story.records.get(namespace, Scope("w", "s"), "a")
    assert record is not None
    assert record.person


@pytest.mark.parametrize(
    ("step", "error"),
    [
        pytest.param('batch.put("entries", "b", {"bdy": "x"})', PluginError, id="misfit"),
        pytest.param('batch.put("entries", "b", {"body": float("nan")})', PluginError, id="NaN"),
        pytest.param('batch.withdraw("entries", "gone")', PluginError, id="withdraws nothing"),
        pytest.param('batch.forget("entries", "gone")', PluginError, id="forgets nothing"),
        pytest.param('batch.put("other", "b", {"body": "x"})', PermissionDenied, id="undeclared"),
        pytest.param('batch.put("memory/facts", "b", {"body": "x"})', PermissionDenied, id="another's"),
        pytest.param("raise Skip('enough')", Skip, id="raises"),
        pytest.param(
            'batch.put("entries", "b", {"body": "x"}); batch.put("entries", "c", {"body": "x"})',
            LimitReached,
            id="full",
        ),
    ],
)
def test_a_batch_is_all_or_nothing(do: Do, rooms: Rooms, step: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        do(
            f"with ctx.data.batch() as batch:\n    batch.put('entries', 'a', {{'body': 'one'}})\n    {step}",
            data="limit = 2",
        )

    assert rooms.story.records.count(rooms.host.namespace("lore/entries"), Scope("w", "s")) == 0


def test_withdrawing_and_forgetting(do: Do, rooms: Rooms) -> None:
    do(
        """
        with ctx.data.batch() as batch:
            batch.put("entries", "a", {"body": "one"})
            batch.put("entries", "b", {"body": "two"})
        with ctx.data.batch() as batch:
            batch.withdraw("entries", "a")
            batch.forget("entries", "b")
        """
    )

    namespace = rooms.host.namespace("lore/entries")
    assert rooms.story.records.count(namespace, Scope("w", "s")) == 0
    assert [one.forgotten for one in rooms.story.records.history(namespace, Scope("w", "s"), "b")] == [True]


def test_what_a_plugin_does_to_its_value_afterwards_changes_nothing(do: Do) -> None:
    body = """
        value = {"body": "one", "tags": ["x"]}
        with ctx.data.batch() as batch:
            batch.put("entries", "a", value)
            value["body"] = "two"
            value["tags"].append(object())
        return dict(ctx.data["entries"].get("a").value)
    """
    assert do(body) == {"body": "one", "tags": ["x"]}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("facts", r"lore: it uses the namespace 'facts'; declare \[contributes.data.facts\] in plugin.toml"),
        ("memory/facts", r'lore: it reads memory/facts; add "memory/facts" to read under \[permissions\]'),
    ],
)
def test_an_undeclared_read_is_denied_with_what_to_declare(do: Do, name: str, told: str) -> None:
    with pytest.raises(PermissionDenied, match=told):
        do(f"return ctx.data[{name!r}].count()")


READING = '[permissions]\nread = ["atlas/entries"]\n'


def test_a_declared_read_of_another_plugin_is_allowed_and_writing_it_is_not(do: Do, plug: Plug, rooms: Rooms) -> None:
    plug("atlas")
    options = {"head": 'optional = ["atlas"]', "more": READING}
    do("return None", **options)
    rooms.story.records.put(rooms.host.namespace("atlas/entries"), Scope("w", "s"), "k", {"body": "a map"}, person=True)

    read = do('return ctx.data["atlas/entries"].get("k").value["body"]', **options)

    assert read == "a map"
    with pytest.raises(PermissionDenied, match="a plugin writes its own namespaces alone"):
        do('with ctx.data.batch() as batch: batch.put("atlas/entries", "k", {"body": "x"})', **options)


def test_a_declared_read_of_a_plugin_that_does_not_work_here_is_told(do: Do) -> None:
    with pytest.raises(PluginError, match="plugin 'atlas' does not work in this session"):
        do('return ctx.data["atlas/entries"].count()', head='optional = ["atlas"]', more=READING)


def test_anothers_owner_visible_data_is_denied_where_nobody_is_the_owner(do: Do, plug: Plug, start: Start) -> None:
    plug("atlas", data='search = { text = "body", visibility = "owner" }')
    plug("lore", enable=False)
    start(channel="discord", plugins=("atlas", "lore"))

    with pytest.raises(PermissionDenied, match="only the owner may see that"):
        do('return ctx.data["atlas/entries"].count()', head='optional = ["atlas"]', more=READING)


def test_preset_records_need_a_session_with_a_preset(do: Do, start: Start, plug: Plug) -> None:
    plug("lore", enable=False)
    start(plugins=("lore",))

    with pytest.raises(PluginError, match="belongs to a preset, and this session has none"):
        do('return ctx.data["entries"].count()', data='scope = "preset"')


def test_history_is_the_lineage_without_what_is_hidden(do: Do, rooms: Rooms, tell: Tell) -> None:
    do("return None")
    ids = tell("Narrator: opening", "you: one", "Narrator: 1", "you: two", "Narrator: 2")
    rooms.story.hide(S, ids[2])
    body = f"""
        h = ctx.history
        asked = [h.message(one) for one in ({ids[3]!r}, {ids[2]!r}, "gone")]
        return [
            [m.text for m in h.messages()],
            [m.text for m in h.messages(last=2)],
            [(m.turn, m.role) for m in h.messages(turns=(0, 1))],
            [m and m.text for m in asked],
            h.speakers(),
        ]
    """

    seen = do(body)
    rooms.story.undo(S)
    after = do(body)

    assert seen == [
        ["opening", "one", "two", "2"],
        ["two", "2"],
        [[0, "narrator"], [1, "player"]],
        ["two", None, None],
        ["Narrator", "you"],
    ]
    assert after[0] == ["opening", "one"]
    assert after[3] == [None, None, None]


def test_search_is_the_kernels_own(do: Do, tell: Tell) -> None:
    do("return None")
    (key, _) = tell("you: the silver key", "Narrator: a door")
    body = """
        with ctx.data.batch() as batch:
            batch.put("entries", "a", {"body": "a key of brass", "name": "Brass"})
            batch.put("entries", "b", {"body": "a key of brass"})
            batch.put("entries", "c", {"body": "a map"})
        s = ctx.search
        answer = s.memory_search("silver key", scope="recall")
        return {
            "terms": s.terms("The keys of Mira"),
            "ranked": [r.index for r in s.rank_texts("key", ["door", "key", "keys"])],
            "excerpt": s.excerpt("x " * 400 + "the key", "key", 50)[-8:],
            "found": [hit.id for hit in answer.results],
            "wordings": len(s.memory_search(wordings=["key", "door"]).results),
            "scored": [(r.key, r.matched, r.share) for r in s.score("entries", [("brass key", 1.0), ("map", 0.5)])],
        }
    """

    seen = do(body)

    assert seen["terms"] == ["key", "mira"]
    assert seen["ranked"] == [1, 2]
    assert seen["excerpt"].endswith("the key")
    assert seen["found"][0] == key
    assert seen["wordings"] == 3
    assert [one[0] for one in seen["scored"]] == ["a", "b", "c"]
    assert [one[1:] for one in seen["scored"][1:]] == [[["brass", "key"], 2 / 3], [["map"], 1 / 3]]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ('ctx.search.memory_search("")', "query: it is empty"),
        ('ctx.search.memory_search("x", limit=50)', "limit: it lies between 1 and 20"),
        ('ctx.search.score("entries", [("x", 1)])', "lore/entries is not searched"),
        ('ctx.data["entries"].list(limit=0)', "limit"),
    ],
)
def test_a_wrong_use_is_the_plugins_fault_and_names_it(do: Do, call: str, told: str) -> None:
    with pytest.raises(PluginError, match=told):
        do(f"return {call}", data="")


def test_settings_are_typed_and_frozen(do: Do, rooms: Rooms) -> None:
    options = {"more": '[[contributes.settings]]\nkey = "size"\ntype = "integer"\ndefault = 3\nlabel = "Size"\n'}
    do("return None", **options)
    rooms.host.configure("lore", "size", 7, "w")

    assert do("return ctx.settings['size']", **options) == 7
    with pytest.raises(PluginError, match="frozen"):
        do("ctx.settings['size'] = 8", **options)


def test_clock_and_log_are_the_kernels(do: Do, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="talekeeper.plugin.lore"):
        now = do("ctx.log.info('hello'); ctx.check(); return ctx.clock.now().isoformat()")

    assert now == "2026-03-01T00:00:00+00:00"
    assert ("talekeeper.plugin.lore", 20, "hello") in caplog.record_tuples


@pytest.mark.parametrize(
    "late",
    [
        "ctx.check",
        "ctx.data.batch().__enter__",
        "lambda: ctx.data['entries']",
        "entries.count",
        "lambda: entries.get('a')",
        "ctx.history.messages",
        "lambda: ctx.search.terms('x')",
        "lambda: open_batch.put('entries', 'a', {'body': 'x'})",
        "open_batch.apply",
    ],
)
def test_a_context_is_closed_after_its_call(rooms: Rooms, plug: Plug, start: Start, late: str) -> None:
    plug(
        "lore",
        f"""
        from talekeeper.api import hookimpl

        kept = []

        def do(ctx, arguments):
            entries = ctx.data["entries"]
            open_batch = ctx.data.batch().__enter__()
            open_batch.put("entries", "early", {{"body": "x"}})
            kept.append({late})

        def again(ctx, arguments):
            kept[0]()

        @hookimpl
        def talekeeper_register(registry):
            registry.command("do", do)
            registry.command("again", again)
        """,
        more='[[contributes.commands]]\nid = "do"\n[[contributes.commands]]\nid = "again"\n',
    )
    start()
    run_command(rooms, S, "lore/do", {})

    with pytest.raises(ContextClosed, match="after the call had ended"):
        run_command(rooms, S, "lore/again", {})

    assert rooms.story.records.count(rooms.host.namespace("lore/entries"), Scope("w", "s")) == 0
    rooms.host.disable("lore")


@pytest.mark.parametrize("error", [UserError("give a name"), Skip("nothing to do"), Retry("later", after=2.0)])
def test_what_a_command_raises_on_purpose_passes_through(do: Do, error: Exception) -> None:
    code = {
        "UserError": "UserError('give a name')",
        "Skip": "Skip('nothing to do')",
        "Retry": "Retry('later', after=2.0)",
    }

    with pytest.raises(type(error), match=str(error)):
        do(f"raise {code[type(error).__name__]}")


def test_arguments_are_held_against_the_declared_schema(rooms: Rooms, plug: Plug, start: Start) -> None:
    schema = (
        '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}'
    )
    plug(
        "lore",
        "from talekeeper.api import *" + "\n\ndef do(ctx, arguments):\n    return arguments['n']" + REGISTER,
        more=COMMAND,
        files={"do.schema.json": schema},
    )
    start()

    assert run_command(rooms, S, "lore/do", {"n": 3}) == 3
    for arguments, field in (({}, "arguments"), ({"n": "3"}, "n"), ({"n": 3, "m": 4}, "arguments")):
        with pytest.raises(ParameterError) as caught:
            run_command(rooms, S, "lore/do", arguments)
        assert caught.value.field == field
    rooms.host.disable("lore")


def test_a_command_without_parameters_takes_none(rooms: Rooms, plug: Plug, start: Start) -> None:
    plug(
        "lore",
        "from talekeeper.api import *" + "\n\ndef do(ctx, arguments):\n    return 1" + REGISTER,
        more='[[contributes.commands]]\nid = "do"\n',
    )
    start()

    with pytest.raises(ParameterError, match="n: this command takes no arguments"):
        run_command(rooms, S, "lore/do", {"n": 3})


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("gone/do", "no plugin 'gone'; found are lore"),
        ("lore/undo", "plugin 'lore' has no command 'undo'; it has lore/do"),
        ("lore", "plugin 'lore' has no command ''"),
    ],
)
def test_an_unknown_command_is_told_with_those_there_are(do: Do, rooms: Rooms, path: str, told: str) -> None:
    do("return None")

    with pytest.raises(NotFound, match=told):
        run_command(rooms, S, path, {})


def test_a_plugin_that_is_off_runs_nothing(rooms: Rooms, plug: Plug, start: Start) -> None:
    plug("lore", "raise AssertionError('imported')", more='[[contributes.commands]]\nid = "do"\n', enable=False)
    start()

    with pytest.raises(PluginError, match="lore: it is disabled"):
        run_command(rooms, S, "lore/do", {})


def test_the_player_is_the_one_the_session_names(do: Do, rooms: Rooms, tell: Tell) -> None:
    do("return None")
    tell("you: hello")
    rooms.story.configure_session(S, settings={"player": {"name": "Nan", "class": "ferryman"}})

    assert do("return dict(ctx.session.player)") == {"name": "Nan", "class": "ferryman"}


def test_a_tool_message_is_no_player(do: Do, rooms: Rooms) -> None:
    do("return None")
    rooms.story.append(S, [Draft("tool", "3", speaker="dice")])

    assert do("return dict(ctx.session.player)") == {}


@pytest.mark.parametrize("value", [float("nan"), "\ud800", object()], ids=["NaN", "surrogate", "object"])
def test_arguments_that_json_cannot_hold_are_refused(do: Do, value: object) -> None:
    with pytest.raises(ParameterError, match="arguments: /n"):
        do("return 1", arguments={"n": value})


def test_code_that_failed_for_want_of_something_else_is_tried_again_by_the_next_process(
    rooms: Rooms, plug: Plug, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import talekeeper_missing_helper\nfrom talekeeper.api import *\n\ndef do(ctx, arguments):\n    return 1"
    plug("lore", code + REGISTER, more='[[contributes.commands]]\nid = "do"\n')
    session = start()
    with pytest.raises(PluginError, match="talekeeper_missing_helper"):
        run_command(rooms, S, "lore/do", {})
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "talekeeper_missing_helper.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    host = Host(rooms.story, rooms.clock, folder=tmp_path / "plugins", entries=tuple)
    before = host.roster(session=session).by_id["lore"]

    given = run_command(replace(rooms, host=host), S, "lore/do", {})

    assert before.state is State.FAILED
    assert "talekeeper plugins enable lore tries it again" in before.reason
    assert given == 1
    assert host.roster(session=session).by_id["lore"].state is State.ACTIVE
    host.disable("lore")
