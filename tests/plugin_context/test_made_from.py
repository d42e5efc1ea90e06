"""What a command's writes are made from, which records were shown, and what its models give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from talekeeper.db import Tx
from talekeeper.errors import NoModel, PluginError
from talekeeper.models import BaseUrl, Models, Slot
from talekeeper.plugin_context import run_command
from talekeeper.services import Services
from talekeeper.story import Address, Coordinate, ModelUse, Scope
from talekeeper.testing import ScriptedServer, say

Do = Callable[..., Any]
Tell = Callable[..., list[str]]
S = Address("w", "s")
PUT = 'with ctx.data.batch() as batch: batch.put("entries", "k", {{"body": "x"}}, covers={})'
ASK = 'return ctx.models.complete("extract", [("user", "Who?")]).text'
PERMITS = '\n[permissions]\nmodels = ["extract"]\n'


@pytest.mark.parametrize("covers", ['"job"', "None"])
def test_what_a_person_writes_is_made_from_nothing(do: Do, services: Services, tell: Tell, covers: str) -> None:
    do("return None")
    tell("you: one", "Narrator: 1")

    do(PUT.format(covers))

    record = services.story.records.get(services.host.namespace("lore/entries"), Scope("w", session="s"), "k")
    assert record is not None
    assert record.person
    assert record.derived is None


@pytest.mark.parametrize(
    ("covers", "why"),
    [("(0, 1)", "what a person writes follows no message"), ("(1, 0)", "what a person"), ('"all"', "what a person")],
)
def test_a_person_gives_no_range(do: Do, tell: Tell, covers: str, why: str) -> None:
    with pytest.raises(PluginError, match=why):
        do(PUT.format(covers))


def test_uses_are_counted_on_the_lineage(do: Do, services: Services, tell: Tell) -> None:
    body = 'return {key: [use.count, use.last_turn] for key, use in ctx.data["entries"].uses().items()}'
    nothing = do(body)
    tell("you: one", "Narrator: 1", "you: two", "Narrator: 2")

    def show(tx: Tx) -> None:
        shown = [("lore", "entries", "a"), ("lore", "entries", "b"), ("other", "entries", "a")]
        services.story.turn_log.show(S, Coordinate(0, 1), 1, shown, tx)
        services.story.turn_log.show(S, Coordinate(0, 3), 2, shown[:1], tx)

    services.story.write(show, name="count")
    both = do(body)
    services.story.tree.undo(S)

    assert (nothing, both, do(body)) == ({}, {"a": [2, 2], "b": [1, 1]}, {"a": [1, 1], "b": [1, 1]})


def test_there_is_no_turn_in_a_command(do: Do) -> None:
    assert do("return ctx.turn") is None


def test_a_command_asks_models_and_is_counted_at_the_newest_turn(do: Do, services: Services, tell: Tell) -> None:
    with pytest.raises(NoModel):
        do(ASK, more=PERMITS)
    tell("you: one", "Narrator: 1")
    services.host.enable("lore")

    with ScriptedServer([say("Mara.")]) as server:
        url = BaseUrl("http", "127.0.0.1", server.port, "/v1")
        models = Models("file", {"narrator": Slot("narrator", url, model="m", network="loopback")})
        answer = run_command(replace(services, models=models), S, "lore/do", {})

    (use,) = services.story.turn_log.spent(S)
    assert answer == "Mara."
    assert replace(use, model="", prompt=0, completion=0, created="") == ModelUse("extract", "", 0, 0, 1, "lore")
