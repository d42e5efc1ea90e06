"""What a turn writes is read in the turn, refused where the store would refuse it, and stands at the narration."""

from __future__ import annotations

import json
from typing import Any

import pytest
from talekeeper.testing import call_tool, say
from talekeeper.turn import turn_decisions

Stage = Any
"""The one of conftest.py, which cannot be imported."""

MANIFEST = """
    [[contributes.tools]]
    name = "do"
    description = "Runs what a test wants to be run."
    parameters = "any.json"
    effects = "write"

    [[contributes.prompt]]
    id = "seen"
    position = "system"
    budget = 2000
"""
CODE = """
    def view(ctx):
        facts = ctx.data["facts"]
        return {
            "oldest": [one.key for one in facts.list()],
            "newest": [one.key for one in facts.list(order="newest")],
            "key": [one.key for one in facts.list(order="key")],
            "after": [one.key for one in facts.list(after="b", order="key")],
            "first": [one.value["text"] for one in facts.list(limit=1)],
            "count": facts.count(),
            "c": None if facts.get("c") is None else facts.get("c").value["text"],
        }

    def do(ctx, arguments):
        with ctx.data.batch() as batch:
            for step, *values in arguments.get("steps", ()):
                if step == "put":
                    batch.put("facts", values[0], {"text": values[1]})
                elif step == "add":
                    batch.add("facts", {"text": values[0]}, dedupe=values[1])
                else:
                    getattr(batch, step)("facts", values[0])
        return view(ctx)

    def seen(ctx, turn):
        return [Line(one.value["text"], id=one.key, source="facts") for one in ctx.data["facts"].list()]

    @hookimpl
    def talekeeper_register(registry):
        registry.tool("do", do)
        registry.prompt("seen", seen)
"""


@pytest.fixture
def keeping(stage: Stage) -> Stage:
    """A stage whose plugin holds the facts b and c already, told in turn 1."""
    stage.plug("memo", CODE, MANIFEST)
    do(stage, ["put", "b", "B"], ["put", "c", "C"])
    return stage


def do(stage: Stage, *steps: list[str], more: tuple[list[list[str]], ...] = ()) -> list[Any]:
    """A turn whose tool runs the steps, and further calls theirs; what each told the narrator."""
    calls = [call_tool("do", {"steps": each}) for each in ([*steps], *more)]
    stage.narrator([*calls, say("Done.")]).turn(stage.address, "Go.")
    return [json.loads(message["content"]) for message in stage.prompt() if message["role"] == "tool"]


def test_reads_of_the_turn_see_its_writes_as_the_store_will_show_them(keeping: Stage) -> None:
    (during,) = do(keeping, ["put", "c", "C2"], ["put", "a", "A"], ["withdraw", "b"])

    (after,) = do(keeping)
    assert during == after
    assert after["oldest"] == ["c", "a"]
    assert (after["c"], after["count"], after["key"]) == ("C2", 2, ["a", "c"])


def test_a_later_call_builds_on_an_earlier_ones_writes(keeping: Stage) -> None:
    _, second = do(keeping, ["put", "d", "D"], more=([["withdraw", "d"], ["put", "e", "E"]],))

    assert second["key"] == ["b", "c", "e"]
    assert [fact.key for fact in keeping.facts("memo")] == ["b", "c", "e"]


def test_added_with_the_same_dedupe_is_written_once_within_a_turn_and_across(keeping: Stage) -> None:
    for _ in range(2):
        do(keeping, ["add", "X", "x"], more=([["add", "X", "x"]],))

    assert [fact.value["text"] for fact in keeping.facts("memo")] == ["B", "C", "X"]


@pytest.mark.parametrize(
    ("data", "steps", "fault"),
    [
        pytest.param("limit = 2", [["put", "d", "D"]], "it holds 2 records", id="limit"),
        pytest.param("append-only = true", [["put", "b", "B2"]], "append-only", id="append-only"),
        pytest.param("", [["put", "d", "D"], ["withdraw", "nobody"]], "there is no record 'nobody'", id="not there"),
        pytest.param("", [["put", "d", 3]], "memo/facts/text", id="schema"),
    ],
)
def test_what_the_store_refuses_is_refused_to_the_tool_and_all_of_the_batch_with_it(
    keeping: Stage, data: str, steps: list[list[str]], fault: str
) -> None:
    manifest = keeping.folder / "plugins" / "memo" / "plugin.toml"
    manifest.write_text(manifest.read_text().replace('schema = "facts.json"', f'schema = "facts.json"\n{data}'))
    keeping.services.host.look_again()

    refused, after = do(keeping, *steps, more=([],))

    assert fault in refused["error"]
    assert after["key"] == ["b", "c"]
    assert [fact.key for fact in keeping.facts("memo")] == ["b", "c"]


def test_the_oldest_gives_way_to_a_write_of_the_turn_and_the_turn_sees_it(keeping: Stage) -> None:
    manifest = keeping.folder / "plugins" / "memo" / "plugin.toml"
    text = manifest.read_text().replace(
        'schema = "facts.json"', 'schema = "facts.json"\nlimit = 2\non-limit = "oldest"'
    )
    manifest.write_text(text)
    keeping.services.host.look_again()

    (during,) = do(keeping, ["put", "d", "D"])

    assert during["key"] == ["c", "d"]
    assert [fact.key for fact in keeping.facts("memo")] == ["c", "d"]


def test_a_forgotten_record_is_gone_from_the_turn_and_for_good(keeping: Stage) -> None:
    (during,) = do(keeping, ["forget", "b"])

    assert during["key"] == ["c"]
    versions = keeping.story.records.history(keeping.namespace("memo"), keeping.facts("memo")[0].scope, "b")
    assert [version.value for version in versions] == [None]


def test_a_batch_that_no_longer_fits_at_the_commit_is_left_out_and_said_so(keeping: Stage) -> None:
    """Somebody withdraws by hand what the turn is about to withdraw."""
    namespace, scope = keeping.namespace("memo"), keeping.facts("memo")[0].scope

    def meanwhile(request: Any) -> Any:
        if len(keeping.model.requests) == 1:
            return call_tool("do", {"steps": [["withdraw", "b"]]})
        keeping.story.records.withdraw(namespace, scope, "b", person=True)
        return say("Done.")

    keeping.narrator(meanwhile).turn(keeping.address, "Go.")

    assert keeping.told()[-1] == "Done."
    own = turn_decisions(keeping.story, keeping.address, 2)[0]
    (fault,) = own.document["faults"]
    assert fault.startswith("a batch of memo was left out: memo/facts: ")


def test_a_withdrawal_in_a_turn_holds_on_its_branch_alone(keeping: Stage) -> None:
    do(keeping, ["withdraw", "b"])
    gone = [fact.key for fact in keeping.facts("memo")]

    keeping.story.tree.undo(keeping.address)

    assert gone == ["c"]
    assert [fact.key for fact in keeping.facts("memo")] == ["b", "c"]
