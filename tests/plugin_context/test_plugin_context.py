from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.errors import (
    ContextClosed,
    LimitReached,
    PermissionDenied,
    PluginError,
    Skip,
)
from talekeeper.plugin_context import run_command
from talekeeper.services import Services
from talekeeper.story import Address, Draft, Scope, Session

Plug = Callable[..., None]
Start = Callable[..., Session]
Tell = Callable[..., list[str]]
Do = Callable[..., Any]

S = Address("w", "s")


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


def test_what_a_person_runs_writes_on_every_branch(do: Do, services: Services, tell: Tell) -> None:
    do("return None")
    tell("you: one", "Narrator: 1", "you: two", "Narrator: 2")

    do('with ctx.data.batch() as batch: batch.put("entries", "a", {"body": "one"})')
    services.story.tree.undo(S)
    services.story.tree.undo(S)

    namespace = services.host.namespace("lore/entries")
    record = services.story.records.get(namespace, Scope("w", "s"), "a")
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
def test_a_batch_is_all_or_nothing(do: Do, services: Services, step: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        do(
            f"with ctx.data.batch() as batch:\n    batch.put('entries', 'a', {{'body': 'one'}})\n    {step}",
            data="limit = 2",
        )

    assert services.story.records.count(services.host.namespace("lore/entries"), Scope("w", "s")) == 0


def test_withdrawing_and_forgetting(do: Do, services: Services) -> None:
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

    namespace = services.host.namespace("lore/entries")
    assert services.story.records.count(namespace, Scope("w", "s")) == 0
    assert [one.forgotten for one in services.story.records.history(namespace, Scope("w", "s"), "b")] == [True]


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


def test_a_declared_read_of_another_plugin_is_allowed_and_writing_it_is_not(
    do: Do, plug: Plug, services: Services
) -> None:
    plug("atlas")
    options = {"head": 'optional = ["atlas"]', "more": READING}
    do("return None", **options)
    services.story.records.put(
        services.host.namespace("atlas/entries"), Scope("w", "s"), "k", {"body": "a map"}, person=True
    )

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


def test_history_is_the_lineage_without_what_is_hidden(do: Do, services: Services, tell: Tell) -> None:
    do("return None")
    ids = tell("Narrator: opening", "you: one", "Narrator: 1", "you: two", "Narrator: 2")
    services.story.messages.hide(S, ids[2])
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
    services.story.tree.undo(S)
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


def test_of_many_records_the_best_are_scored_and_all_are_counted(do: Do) -> None:
    body = """
        with ctx.data.batch() as batch:
            for number in range(30):
                batch.put("entries", f"k{number:02}", {"body": "a key " + ("of brass " if number == 7 else "of iron")})
            batch.put("entries", "map", {"body": "a map"})
        every = ctx.search.score("entries", [("the brass key", 1.0)])
        best = ctx.search.score("entries", [("the brass key", 1.0)], limit=3)
        summed = ctx.search.score("entries", [("brass", 1.0), ("key", 1.0)], limit=3)
        held = ctx.search.holding("entries", "the brass key of nobody")
        return {
            "every": [(one.key, one.lexical) for one in every],
            "best": [(one.key, one.lexical) for one in best],
            "summed": [one.key for one in summed],
            "held": (held.records, dict(held.terms)),
        }
    """

    seen = do(body)

    assert len(seen["every"]) == 30
    assert seen["best"] == seen["every"][:3]
    assert seen["summed"] == [key for key, _ in seen["best"]]
    assert seen["held"] == [31, {"brass": 1, "key": 30, "nobodi": 0}]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ('ctx.search.memory_search("")', "query: it is empty"),
        ('ctx.search.memory_search("x", limit=50)', "limit: it lies between 1 and 20"),
        ('ctx.search.score("entries", [("x", 1)])', "lore/entries is not searched"),
        ('ctx.search.holding("entries", "x")', "lore/entries is not searched"),
        ('ctx.data["entries"].list(limit=0)', "limit"),
    ],
)
def test_a_wrong_use_is_the_plugins_fault_and_names_it(do: Do, call: str, told: str) -> None:
    with pytest.raises(PluginError, match=told):
        do(f"return {call}", data="")


def test_settings_are_typed_and_frozen(do: Do, services: Services) -> None:
    options = {"more": '[[contributes.settings]]\nkey = "size"\ntype = "integer"\ndefault = 3\nlabel = "Size"\n'}
    do("return None", **options)
    services.host.configure("lore", "size", 7, "w")

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
def test_a_context_is_closed_after_its_call(services: Services, plug: Plug, start: Start, late: str) -> None:
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
    run_command(services, S, "lore/do", {})

    with pytest.raises(ContextClosed, match="after the call had ended"):
        run_command(services, S, "lore/again", {})

    assert services.story.records.count(services.host.namespace("lore/entries"), Scope("w", "s")) == 0
    services.host.disable("lore")


def test_the_player_is_the_one_the_session_names(do: Do, services: Services, tell: Tell) -> None:
    do("return None")
    tell("you: hello")
    services.story.sessions.configure(S, settings={"player": {"name": "Nan", "class": "ferryman"}})

    assert do("return dict(ctx.session.player)") == {"name": "Nan", "class": "ferryman"}


def test_a_tool_message_is_no_player(do: Do, services: Services) -> None:
    do("return None")
    services.story.messages.append(S, [Draft("tool", "3", speaker="dice")])

    assert do("return dict(ctx.session.player)") == {}
