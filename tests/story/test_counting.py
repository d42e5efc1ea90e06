"""The terms of a text are counted while nobody waits: before the write that stores them is open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from talekeeper.db import ensure_outside_write
from talekeeper.errors import HeldAcrossCall
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.story import Address, Message, Scope, Story
from talekeeper.story.indexing import passages
from talekeeper.text import Terms, document_terms

NAMESPACE = Namespace("lore", "entries", search=SearchTable(text=("body",), title="name", time="when"))
VALUE = {"body": "a long text about silver", "name": "Silver", "when": "2024-05-08"}


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Texts that are counted while a write is open."""
    seen: list[tuple[str, ...]] = []

    def watched(*texts: str) -> Terms:
        try:
            ensure_outside_write("counting")
        except HeldAcrossCall:
            seen.append(texts)
        return document_terms(*texts)

    monkeypatch.setattr(passages, "document_terms", watched)
    return seen


def test_messages_are_counted_before_the_write(
    story: Story, address: Address, say: Callable[..., list[Message]], inside: list[tuple[str, ...]]
) -> None:
    (message,) = say("a bridge of silver")

    story.messages.edit(address, message.id, "a bridge of gold")
    story.messages.hide(address, message.id)
    story.messages.unhide(address, message.id)

    assert inside == []
    assert story.index.check() == []


@pytest.mark.parametrize("person", [True, False])
def test_records_are_counted_before_the_write(
    story: Story, scope: Scope, inside: list[tuple[str, ...]], *, person: bool
) -> None:
    story.records.put(NAMESPACE, scope, "k", VALUE, person=person)
    story.records.put(NAMESPACE, scope, "k", {**VALUE, "body": "another"}, person=person)
    story.records.add(NAMESPACE, scope, VALUE, person=person)
    story.records.withdraw(NAMESPACE, scope, "k", person=person)
    story.records.restore(NAMESPACE, scope, "k", person=person)

    assert inside == []
    assert story.index.check() == []


def test_a_workspace_with_another_search_table_is_counted_by_that(story: Story, scope: Scope) -> None:
    story.index.declare(scope.workspace, Namespace("lore", "entries", search=SearchTable(text=("name",))))

    story.records.put(NAMESPACE, scope, "k", VALUE)

    assert story.index.check() == []
