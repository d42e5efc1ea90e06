"""`ctx.search.score` of a plugin, where something embeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from talekeeper.embedding.encoders import Encoder as Meant
from talekeeper.embedding.semantics import Semantics
from talekeeper.models import Cancel
from talekeeper.plugin_context import run_command
from talekeeper.services import Services
from talekeeper.story import Scope

CONCEPTS = (("doctor", "physician"), ("ship", "vessel"), ("bread", "cheese"))


def encode(texts: Sequence[str], cancel: Cancel | None) -> list[list[float]]:
    return [[*(float(any(word in text for word in words)) for words in CONCEPTS), 0.1] for text in texts]


SCORING = """
from talekeeper.api import hookimpl

def do(ctx, arguments):
    scored = ctx.search.score("entries", [("Which doctor?", 2.0)])
    return [[one.key, one.lexical, one.semantic, one.share, list(one.matched)] for one in scored]

@hookimpl
def talekeeper_register(registry):
    registry.command("do", do)
"""
COMMAND = """
    [[contributes.commands]]
    id = "do"
    parameters = "do.schema.json"
"""


def test_scores_of_records_say_how_near_they_are_in_meaning(
    services: Services, plug: Callable[..., None], start: Callable[..., Any]
) -> None:
    plug("lore", SCORING, more=COMMAND, files={"do.schema.json": '{"type": "object"}'})
    address = start().address
    entries, scope = services.host.namespace("lore/entries"), Scope(address.workspace, session=address.session)
    for key, body in {"a": "The physician.", "b": "A vessel.", "c": "Some bread.", "d": "A doctor."}.items():
        services.story.records.put(entries, scope, key, {"body": body}, person=True)
    concepts = Meant("concepts", "concepts/1", 8, encode, encode)
    semantics = Semantics(services.story, lambda: concepts)

    by_words = run_command(replace(services, semantics=semantics), address, "lore/do", {})
    semantics.embed()
    by_both = run_command(replace(services, semantics=semantics), address, "lore/do", {})

    assert [(key, semantic) for key, _, semantic, *_ in by_words] == [("d", None)]
    assert [key for key, *_ in by_both] == ["d", "a"]
    assert by_both[0][1] == pytest.approx(by_words[0][1])
    assert by_both[0][2] == pytest.approx(2.0, abs=0.02)
    assert by_both[1][1:] == [0.0, pytest.approx(2.0, abs=0.02), 0.0, []]
