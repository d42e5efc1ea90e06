"""How a prompt's room is shared, and that it is a function of the lineage alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as effort
from hypothesis import strategies as st
from talekeeper.db import Tx
from talekeeper.errors import NotFound
from talekeeper.story import Draft
from talekeeper.testing import ScriptedServer, call_tool, overflow, say
from talekeeper.text import estimate_tokens
from talekeeper.turn import turn_decisions
from talekeeper.turn.prompt import MESSAGE_TOKENS

Stage = Any
"""The one of conftest.py, which cannot be imported."""

SEGMENT = '[[contributes.prompt]]\nid = "{id}"\nposition = "{position}"\nbudget = {budget}\norder = {order}\n'
REGISTER = """
    @hookimpl
    def talekeeper_register(registry):
"""


def plug(stage: Stage, code: str, *segments: tuple[str, str, int, int]) -> None:
    """A plugin `memo` whose segments (id, position, budget, order) are functions of the code."""
    manifest = "".join(SEGMENT.format(id=s[0], position=s[1], budget=s[2], order=s[3]) for s in segments)
    register = "".join(f'        registry.prompt("{s[0]}", {s[0]})\n' for s in segments)
    stage.plug("memo", code + REGISTER + register, manifest)


def tokens(messages: list[dict[str, Any]]) -> int:
    return sum(estimate_tokens(message["content"]) + MESSAGE_TOKENS for message in messages)


FILL = """
    def full(ctx, turn):
        return [Line(f"{number} filler words here.") for number in range(400)]

    def seen(ctx, turn):
        return [Line(f"from {turn.history_from}, number {turn.number}, dry {turn.dry_run}")]
"""


def chapters(stage: Stage, count: int, words: int = 60) -> None:
    stage.append(
        *(Draft("narrator" if n % 2 else "player", f"{n} " + "word " * words, origin="typed") for n in range(count))
    )


@pytest.mark.parametrize("context", [1500, 2048, 4096, 8192])
@pytest.mark.parametrize("locale", ["en", "zh"])
def test_a_prompt_holds_to_the_context_less_the_reply(stage: Stage, context: int, locale: str) -> None:
    plug(stage, FILL, ("full", "system", 3000, 1), ("seen", "after-history", 300, 1))
    stage.story.sessions.configure(stage.address, locale=locale)
    chapters(stage, 200)

    stage.narrator([say("x")], context=context, reply=400).turn(stage.address, "Go.")

    body = stage.model.requests[0].body
    offered = estimate_tokens(json.dumps(body["tools"], ensure_ascii=False))
    assert tokens(body["messages"]) + offered <= context - 400 + 60
    assert body["messages"][-1]["content"].endswith("Go.")


def test_a_segments_budget_is_held_to_the_character(stage: Stage) -> None:
    plug(stage, FILL, ("full", "before-history", 1234, 1))

    stage.play("One.")

    frame = stage.prompt()[0]["content"].rpartition("\n\n")[2]
    assert 1234 - 80 < len(frame) <= 1234


def test_a_chinese_story_has_its_segments_budgets_in_characters_whatever_its_locale(stage: Stage) -> None:
    code = "    def full(ctx, turn):\n        return [Line('灯塔的灯在雾里闪着。') for _ in range(400)]\n"
    plug(stage, code, ("full", "before-history", 1500, 1))

    stage.play("我推开灯塔的门，往里面看。")

    frame = stage.prompt()[0]["content"].rpartition("\n\n")[2]
    assert 1500 - 80 < len(frame) <= 1500


def test_segments_leave_half_of_a_small_context_to_the_story(stage: Stage) -> None:
    plug(stage, FILL, ("full", "system", 90_000, 1), ("seen", "system", 400, 2))
    chapters(stage, 100)

    stage.narrator([say("x")], context=4096).turn(stage.address, "Go.")

    told = stage.prompt()[1:]
    assert tokens(told) > 1000
    assert "memo/seen" in stage.prompt()[0]["content"] or "memo/full" in stage.prompt()[0]["content"]


def test_what_a_segment_does_not_use_goes_to_those_behind_it(stage: Stage) -> None:
    code = FILL + "\n    def none(ctx, turn):\n        return []\n"
    plug(stage, code, ("none", "system", 20_000, 1), ("full", "system", 2_000, 2))
    chapters(stage, 100)

    stage.narrator([say("x")], context=4096).turn(stage.address, "Go.")

    frame = stage.prompt()[0]["content"].partition("\n\n")[2]
    assert 2_000 - 80 < len(frame) <= 2_000


def test_segments_stand_by_position_then_order_then_name(stage: Stage) -> None:
    code = "".join(f"    def s{n}(ctx, turn):\n        return [Line('line of s{n}')]\n" for n in range(5))
    plug(
        stage,
        code,
        ("s0", "after-history", 400, 1),
        ("s1", "before-history", 400, 5),
        ("s2", "system", 400, 2),
        ("s3", "system", 400, 1),
        ("s4", "system", 400, 2),
    )

    stage.play("One.")

    whole = "\n".join(message["content"] for message in stage.prompt())
    places = [whole.index(f"line of {name}") for name in ("s3", "s2", "s4", "s1", "s0")]
    assert places == sorted(places)


def test_a_segment_knows_from_which_turn_on_the_story_is_shown(stage: Stage) -> None:
    plug(stage, FILL, ("seen", "system", 400, 1))
    chapters(stage, 200)

    stage.narrator([say("x")], context=4096).turn(stage.address, "Go.")

    (own, _) = turn_decisions(stage.story, stage.address, 101)
    since = own.document["history_from"]
    assert f"from {since}, number 101, dry False" in stage.prompt()[0]["content"]
    told = [message["content"].split()[0] for message in stage.prompt()[1:]]
    first = int(next(number for number in told if number.isdecimal()))
    assert since == first // 2 + 1 + first % 2


def test_a_story_shown_whole_is_shown_from_the_beginning(stage: Stage) -> None:
    plug(stage, FILL, ("seen", "system", 400, 1))

    stage.play("One.")

    assert "from 0, number 1" in stage.prompt()[0]["content"]


BAD = {
    "raises": "raise RuntimeError('no')",
    "gives no lines": "return 'a text'",
    "gives other things": "return [object()]",
    "gives a bad line": "return [Line(3)]",
    "gives a NUL": "return [Line('a\\0b')]",
    "gives a bad authority": "return [Line('x', authority='god')]",
    "gives half a surrogate": "return [Line('\\ud800')]",
    "gives scores that are none": "return Recalled((), (Considered('a', 'facts', {'s': float('nan')}),))",
    "sleeps": "import threading; threading.Event().wait(30)",
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_a_segment_that_fails_is_left_out_and_the_others_are_not(stage: Stage, body: str) -> None:

    plug(
        stage,
        f"{FILL}\n    def bad(ctx, turn):\n        {body}\n",
        ("bad", "system", 400, 1),
        ("seen", "system", 400, 2),
    )
    guard = stage.services.host.guard
    guard.deadlines = replace(guard.deadlines, segment=0.5 if "sleep" in body or "Event" in body else 20)

    result = stage.narrator([say("x")]).turn(stage.address, "Go.")

    assert "number 1" in stage.prompt()[0]["content"]
    bad = next(one for one in turn_decisions(stage.story, stage.address, 1) if one.segment == "bad")
    assert bad.document["fault"]
    assert result.narration.text == "x"


def test_what_a_segment_writes_is_committed_and_a_second_asking_writes_it_once(stage: Stage) -> None:
    code = """
    def keep(ctx, turn):
        with ctx.data.batch() as batch:
            batch.add("facts", {"text": f"shown from {turn.history_from}"})
        return [Line(one.value["text"]) for one in ctx.data["facts"].list()]
    """
    plug(stage, code, ("keep", "system", 2000, 1))
    chapters(stage, 200)
    with ScriptedServer([overflow(), say("x")]) as server:
        stage.at_server(server, context=8192).turn(stage.address, "Go.")

        last = server.chats[-1].body["messages"][0]["content"]
    (fact,) = stage.facts("memo")
    assert fact.value["text"] in last


def test_an_owners_records_are_shown_to_nobody_else(stage: Stage) -> None:
    plug(
        stage,
        "    def seen(ctx, turn):\n        return [Line('secret', id='k', source='facts'), Line('plain')]\n",
        ("seen", "system", 400, 1),
    )
    manifest = stage.folder / "plugins" / "memo" / "plugin.toml"
    manifest.write_text(manifest.read_text().replace('{ text = "text" }', '{ text = "text", visibility = "owner" }'))
    stage.services.host.look_again()
    stage.play("One.")
    shown = stage.prompt()[0]["content"]

    def move(tx: Tx) -> None:
        tx.run("UPDATE session SET channel = 'discord' WHERE workspace = 'w'")

    stage.story.write(move, name="move")

    stage.play("Two.")

    assert "secret" in shown
    assert "secret" not in stage.prompt()[0]["content"]
    assert "plain" in stage.prompt()[0]["content"]
    recall = turn_decisions(stage.story, stage.address, 2)[1]
    assert {"id": "k", "source": "facts", "used": False, "reason": "not the owner"} in recall.document["considered"]


def test_the_record_of_a_recall_keeps_what_was_used_and_counts_the_rest(stage: Stage) -> None:
    code = """
    def seen(ctx, turn):
        weak = [Considered(f"k{n}", "facts", {"share": 0.1}, reason="0.1 is below 0.2") for n in range(200)]
        best = Considered("last", "facts", {"share": 0.9})
        return Recalled((Line("shown", id="last", source="facts"),), (*weak, best))
    """
    plug(stage, code, ("seen", "system", 400, 1))

    stage.play("One.")

    document = turn_decisions(stage.story, stage.address, 1)[1].document
    best = document["considered"][0]
    assert best == {"id": "last", "source": "facts", "used": True, "reason": "", "scores": {"share": 0.9}}
    assert len(document["considered"]) + document["more"] == 201
    assert len(json.dumps(document)) < 10_000


# The prompt is a function of the lineage

REMEMBER = """
    def seen(ctx, turn):
        uses = {key: (use.count, use.last_turn) for key, use in sorted(ctx.data["facts"].uses().items())}
        lines = [Line(one.value["text"], id=one.key, source="facts") for one in ctx.data["facts"].list(limit=1000)]
        told = f"number {turn.number}, player {ctx.session.player}, uses {sorted(uses.values())}"
        return [Line(told), *lines]

    def keep(ctx, arguments):
        with ctx.data.batch() as batch:
            batch.add("facts", {"text": arguments["text"]})

    @hookimpl
    def talekeeper_register(registry):
        registry.prompt("seen", seen)
        registry.tool("keep", keep)
"""
REMEMBER_MANIFEST = (
    SEGMENT.format(id="seen", position="after-history", budget=20_000, order=1)
    + '[[contributes.tools]]\nname = "keep"\ndescription = "Keeps a fact for later use."\nparameters = "any.json"\n'
    + 'effects = "write"\n'
)
ACTS = st.lists(
    st.sampled_from(["turn", "turn", "turn", "continue", "retry", "undo", "redo", "fork", "take", "fail"]), max_size=14
)


def act(stage: Stage, name: str, number: int) -> None:
    """One step of a history; what cannot be done there is not."""

    address, story = stage.address, stage.story
    script = [call_tool("keep", {"text": f"fact {number}"}), say(f"answer {number}")]
    try:
        match name:
            case "turn":
                stage.narrator(script).turn(address, f"text {number}", speaker="Ann" if number % 2 else "")
            case "continue":
                stage.narrator(script).turn(address, None)
            case "retry":
                stage.narrator(script).retry(address)
            case "fail":
                stage.narrator([script[0], say("")]).turn(address, f"lost {number}")
            case "fork":
                depth = max(0, story.sessions.get(address).head.depth - number % 3)
                places = [message.coordinate for message in story.messages.read(address)]
                story.tree.fork(address, next(place for place in places if place.depth == depth))
            case "take":
                story.tree.switch_take(address, number % 3 + 1)
            case _:
                getattr(story.tree, name)(address)
    except (NotFound, StopIteration):
        pass
    except Exception as fault:
        if name != "fail":
            raise
        assert "without a word" in str(fault)  # noqa: PT017 - the fault that was planted, and no other


def shown(stage: Stage) -> str:
    """The whole prompt a next message would be answered with."""
    dry = stage.narrator().recall(stage.address, "What now?")
    return json.dumps([[one.plugin, one.text, one.document] for one in dry.decided], sort_keys=True)


def values(tx: Tx) -> set[str]:
    return {str(value) for (value,) in tx.rows("SELECT value FROM record")}


@effort(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(ACTS, ACTS)
def test_going_away_and_coming_back_restores_the_prompt_exactly(
    set_up: Any, tmp_path_factory: pytest.TempPathFactory, before: list[str], after: list[str]
) -> None:
    stage = set_up(tmp_path_factory.mktemp("lineage"))
    stage.plug("memo", REMEMBER, REMEMBER_MANIFEST)
    for number, name in enumerate(before):
        act(stage, name, number)
    head = stage.story.sessions.get(stage.address).head
    here, facts = shown(stage), [fact.key for fact in stage.facts("memo")]
    there = head

    for number, name in enumerate(after, start=100):
        act(stage, name, number)
    everywhere: set[str] = stage.story.read(values)
    stage.story.tree.go(stage.address, there)

    assert shown(stage) == here
    assert [fact.key for fact in stage.facts("memo")] == facts
    assert all("lost" not in value for value in everywhere)


def test_the_same_lineage_in_another_session_gives_the_same_prompt(stage: Stage) -> None:
    stage.plug("memo", REMEMBER, REMEMBER_MANIFEST)
    for number, name in enumerate(["turn", "turn", "retry", "turn", "undo", "turn"]):
        act(stage, name, number)
    crooked = [message["content"] for message in stage.prompt(0)]
    texts = stage.told()
    stage.story.sessions.create("w", session_id="straight", plugins=["memo"])
    other = type(stage)(stage.folder, stage.db, stage.services, stage.leases)
    other.address = type(stage.address)("w", "straight")

    facts = [fact.value["text"] for fact in stage.facts("memo")]
    for place, text in enumerate(texts[::2]):
        script = [call_tool("keep", {"text": facts[place]}), say(texts[2 * place + 1])]
        other.narrator(script).turn(other.address, text, speaker="Ann" if int(text[-1]) % 2 else "")

    def without_ids(contents: list[str]) -> list[str]:

        return [re.sub(r'"id": "\w+", ', "", content) for content in contents]

    assert without_ids([message["content"] for message in other.prompt(0)]) == without_ids(crooked)


def test_a_hedged_fact_is_shown_as_inferred_and_the_budget_is_held(stage: Stage) -> None:
    code = """
        def recalled(ctx, turn):
            return [Line("Perhaps he lied. " * 200, authority="inferred", turn=3), Line("x" * 5000)]

        @hookimpl
        def talekeeper_register(registry):
            registry.prompt("recalled", recalled)
    """
    stage.plug("memo", code, '[[contributes.prompt]]\nid = "recalled"\nposition = "system"\nbudget = 2500\n')

    stage.play("One.")

    frame = stage.prompt()[0]["content"].partition("\n\n")[2]
    assert len(frame) <= 2500
    line = json.loads(frame.split("\n")[2])
    assert (line["authority"], line["turn"]) == ("inferred", 3)
    assert line["text"].endswith("lied.")
    (_, recall) = turn_decisions(stage.story, stage.address, 1)
    assert recall.document["cut"] == ["turn 3"]
