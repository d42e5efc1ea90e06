"""Random stories told to the store and to a plain in-memory model must look the same at every place."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from talekeeper.clock import FixedClock
from talekeeper.db import Database
from talekeeper.errors import NotFound
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.search import Index
from talekeeper.story import ROOT, Address, Coordinate, Derived, Draft, Role, Scope, Story

FACTS = Namespace("memory", "facts", search=SearchTable(("text",)))
SCOPE = Scope("w", session="s")
ADDRESS = Address("w", "s")
WORDS = ["harbour", "lantern", "Mira", "the silver key", "北塔", "storm", "bell", "", "  "]
KEYS = ["a", "b", "c"]


@dataclass
class Node:
    """A message of the model; the tree is its parents."""

    at: Coordinate
    parent: Node | None
    role: str
    turn: int
    text: str
    deleted: bool = False
    hidden: bool = False
    is_start: bool = False
    """The start of a branch before its first message: records can stand there, nothing is told there."""

    def line(self) -> list[Node]:
        return [*(self.parent.line() if self.parent else []), self]


def above(node: Node) -> Node | None:
    """The message before, past the start of a branch."""
    return node.parent.parent if node.parent and node.parent.is_start else node.parent


@dataclass
class Version:
    """A record version of the model, written at a node (None: the root)."""

    key: str
    node: Node | None
    revision: int
    value: str | None
    person: bool
    end: Node | None = None


class StoryMachine(RuleBasedStateMachine):
    """The head of the model is a node and a pair of numbers for the branch's start it may stand at."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = FixedClock(datetime(2024, 1, 1, tzinfo=UTC))
        self.db = Database.open(self.folder / "talekeeper.sqlite", clock=self.clock, synchronous="OFF")
        self.numbers = count()
        self.story = Story(self.db, Index(), self.clock, self)
        self.nodes: list[Node] = []
        self.versions: list[Version] = []
        self.head: Node | None = None
        self.tip: Node | None = None
        self.revisions: dict[str, int] = {}

    def new(self) -> str:
        return f"id{next(self.numbers):05}"

    @initialize()
    def begin(self) -> None:
        self.story.sessions.create("w", session_id="s")

    def teardown(self) -> None:
        try:
            assert self.story.index.check() == []
            self.story.settle()
            assert self.story.index.check() == []
            assert self.db.integrity() == []
        finally:
            self.db.close()
            shutil.rmtree(self.folder)

    # The tree

    @rule(
        role=st.sampled_from(["player", "narrator", "narrator", "tool"]),
        text=st.sampled_from(WORDS),
        takes=st.integers(0, 2),
    )
    def append(self, role: Role, text: str, takes: int) -> None:
        beside = tuple(Draft(role, f"{text} {number}") for number in range(takes))
        made = self.story.messages.append(ADDRESS, [Draft(role, text, takes=beside)])

        parent = self.head
        turn = (parent.turn if parent else 0) + (role == "player")
        # A take grows from the message before, and so leaves a branch that had only been begun.
        beginning = parent.parent if parent and parent.is_start else parent
        nodes = [Node(message.coordinate, beginning, role, turn, message.text) for message in made]
        nodes[0].parent = parent
        assert [message.turn for message in made] == [turn] * len(made)
        self.nodes += nodes
        self.head, self.tip = nodes[0], None

    @precondition(lambda self: self.nodes)
    @rule(data=st.data())
    def answer_anywhere(self, data: st.DataObject) -> None:
        under = data.draw(st.sampled_from(self.nodes))
        head = self.head
        (made,) = self.story.messages.answer(ADDRESS, under.at, [Draft("narrator", "late answer")])

        self.nodes.append(Node(made.coordinate, under, "narrator", under.turn, made.text))
        if under is head and self.session_head() == made.coordinate:
            self.head, self.tip = self.nodes[-1], None

    @rule()
    def undo(self) -> None:
        line = self.told(self.head)
        if not line:
            with pytest.raises(NotFound):
                self.story.tree.undo(ADDRESS)
            return
        while len(line) > 1 and line[-2].turn == line[-1].turn:
            line.pop()
        self.story.tree.undo(ADDRESS)
        self.leave(above(line[-1]))

    @rule()
    def retry(self) -> None:
        line = self.told(self.head)
        if not line:
            with pytest.raises(NotFound):
                self.story.tree.retry(ADDRESS)
            return
        first = len(line) - 1
        while first and line[first - 1].turn == line[-1].turn:
            first -= 1
        asked = next((node for node in reversed(line[first:]) if node.role == "player"), above(line[first]))
        self.story.tree.retry(ADDRESS)
        self.leave(asked)

    def leave(self, to: Node | None) -> None:
        tip = self.tip or self.head
        self.head = to
        self.tip = tip if tip is not to else None

    @rule()
    def redo(self) -> None:
        if self.tip is None:
            with pytest.raises(NotFound):
                self.story.tree.redo(ADDRESS)
            return
        self.story.tree.redo(ADDRESS)
        self.head, self.tip = self.tip, None

    @precondition(lambda self: self.nodes)
    @rule(data=st.data())
    def go(self, data: st.DataObject) -> None:
        self.head, self.tip = data.draw(st.sampled_from(self.nodes)), None
        self.story.tree.go(ADDRESS, self.head.at)

    @rule(data=st.data())
    def fork(self, data: st.DataObject) -> None:
        node = data.draw(st.sampled_from([None, *self.nodes]))
        head = self.story.tree.fork(ADDRESS, ROOT if node is None else node.at).head
        turn = node.turn if node else 0
        self.head, self.tip = Node(head, node, "", turn, "", is_start=True), None

    @rule(data=st.data())
    def switch_take(self, data: st.DataObject) -> None:
        takes = self.story.tree.takes(ADDRESS)
        if not takes:
            return
        take = data.draw(st.sampled_from(takes))
        self.story.tree.switch_take(ADDRESS, take.number)
        self.head, self.tip = self.node_at(take.tip), None

    # Changes

    @precondition(lambda self: self.alive())
    @rule(data=st.data(), text=st.sampled_from(WORDS))
    def edit(self, data: st.DataObject, text: str) -> None:
        node = data.draw(st.sampled_from(self.alive()))
        self.story.messages.edit(ADDRESS, self.id_of(node), text)
        if node.text != text:
            node.text = text
            self.source_changed(node)

    @precondition(lambda self: self.alive())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        node = data.draw(st.sampled_from(self.alive()))
        self.story.messages.delete(ADDRESS, self.id_of(node))
        node.deleted = True
        self.source_changed(node)

    @precondition(lambda self: self.alive())
    @rule(data=st.data(), hidden=st.booleans())
    def hide(self, data: st.DataObject, hidden: bool) -> None:
        node = data.draw(st.sampled_from(self.alive()))
        (self.story.messages.hide if hidden else self.story.messages.unhide)(ADDRESS, self.id_of(node))
        node.hidden = hidden

    def source_changed(self, node: Node) -> None:
        for version in list(self.versions):
            if version.end is node and version.value is not None and self.stands_somewhere(version):
                self.write(version.key, version.node, None, person=False)

    # Records

    @rule(key=st.sampled_from(KEYS), text=st.sampled_from(WORDS), person=st.booleans(), derived=st.booleans())
    def put(self, key: str, text: str, person: bool, derived: bool) -> None:
        last = self.head.parent if self.head is not None and self.head.is_start else self.head
        end = last if derived and not person else None
        before = self.standing(key, self.head)
        made = self.story.records.put(
            FACTS, SCOPE, key, {"text": text}, person=person, derived=Derived(0, end.at.depth) if end else None
        )
        if end is None and not person and before is not None and before.value is not None:
            end = before.end
        self.write(key, None if person else self.head, text, person=person, end=end)
        assert made.revision == self.versions[-1].revision

    @precondition(lambda self: self.nodes)
    @rule(data=st.data(), key=st.sampled_from(KEYS))
    def put_late(self, data: st.DataObject, key: str) -> None:
        node = data.draw(st.sampled_from(self.nodes))
        before = self.standing(key, node)
        self.story.records.put(FACTS, SCOPE, key, {"text": "late"}, at=node.at)
        end = before.end if before is not None and before.value is not None else None
        self.write(key, node, "late", person=False, end=end)

    @rule(key=st.sampled_from(KEYS), person=st.booleans())
    def withdraw(self, key: str, person: bool) -> None:
        before = self.standing(key, self.head)
        if before is None or before.value is None:
            with pytest.raises(NotFound):
                self.story.records.withdraw(FACTS, SCOPE, key, person=person)
            return
        self.story.records.withdraw(FACTS, SCOPE, key, person=person)
        self.write(key, None if person else self.head, None, person=person)

    @rule(key=st.sampled_from(KEYS), person=st.booleans())
    def restore(self, key: str, person: bool) -> None:
        now = self.standing(key, self.head)
        said = [each for each in self.on_line(key, self.head) if each.value is not None]
        if now is None or now.value is not None or not said:
            return
        self.story.records.restore(FACTS, SCOPE, key, person=person)
        end = None if person else said[-1].end
        self.write(key, None if person else self.head, said[-1].value, person=person, end=end)

    @rule(key=st.sampled_from(KEYS))
    def forget(self, key: str) -> None:
        count = sum(version.key == key for version in self.versions)
        if not count:
            with pytest.raises(NotFound):
                self.story.records.forget(FACTS, SCOPE, key)
            return
        self.story.records.forget(FACTS, SCOPE, key)
        self.revisions[key] = max(version.revision for version in self.versions if version.key == key)
        self.versions = [version for version in self.versions if version.key != key]

    def write(self, key: str, node: Node | None, value: str | None, *, person: bool, end: Node | None = None) -> None:
        self.revisions[key] = self.revisions.get(key, 0) + 1
        self.versions.append(Version(key, node, self.revisions[key], value, person, end))

    # The model's answers

    def told(self, head: Node | None) -> list[Node]:
        return [node for node in (head.line() if head else []) if not node.deleted and not node.is_start]

    def alive(self) -> list[Node]:
        return [node for node in self.nodes if not node.deleted]

    def id_of(self, node: Node) -> str:
        message = self.story.messages.at(ADDRESS, node.at)
        assert message is not None
        return message.id

    def node_at(self, at: Coordinate) -> Node:
        return next(node for node in self.nodes if node.at == at)

    def session_head(self) -> Coordinate:
        return self.story.sessions.get(ADDRESS).head

    def on_line(self, key: str, head: Node | None) -> list[Version]:
        line = head.line() if head else []
        return [each for each in self.versions if each.key == key and (each.node is None or each.node in line)]

    def standing(self, key: str, head: Node | None) -> Version | None:
        found = self.on_line(key, head)
        floor = max((each.revision for each in found if each.person), default=0)
        return max(
            (each for each in found if each.revision >= floor),
            key=lambda each: (each.node.at.depth if each.node else -1, each.revision),
            default=None,
        )

    def stands_somewhere(self, version: Version) -> bool:
        return not any(
            later.key == version.key
            and later.revision > version.revision
            and (later.person or later.node is version.node)
            for later in self.versions
        )

    # What must hold

    @invariant()
    def the_story_reads_the_same(self) -> None:
        line = [node.text for node in self.told(self.head)]
        session = self.story.sessions.get(ADDRESS)

        assert [message.text for message in self.story.messages.read(ADDRESS)] == line
        assert [message.text for message in self.story.messages.read(ADDRESS, last=3)] == line[-3:]
        assert [message.text for message in self.story.messages.read(ADDRESS, at=session.head)] == line
        assert self.story.tree.lineage(ADDRESS) == self.story.tree.lineage(ADDRESS, session.head)
        assert session.head.depth == (self.head.at.depth if self.head else -1)
        assert session.messages == len(self.nodes)

    @invariant()
    def the_records_read_the_same(self) -> None:
        standing = {key: self.standing(key, self.head) for key in KEYS}
        live = {key: each.value for key, each in standing.items() if each is not None and each.value is not None}

        assert {r.key: r.value["text"] for r in self.story.records.list(FACTS, SCOPE)} == live
        assert self.story.records.count(FACTS, SCOPE) == len(live)
        for key in KEYS:
            record = self.story.records.get(FACTS, SCOPE, key)
            assert (record.value["text"] if record else None) == live.get(key)

    @precondition(lambda self: self.nodes)
    @rule(data=st.data())
    def anywhere_reads_the_same(self, data: st.DataObject) -> None:
        node = data.draw(st.sampled_from(self.nodes))
        line = [each.text for each in self.told(node)]

        assert [message.text for message in self.story.messages.read(ADDRESS, at=node.at)] == line
        assert [message.text for message in self.story.messages.read(ADDRESS, at=node.at, last=2)] == line[-2:]
        for key in KEYS:
            expected = self.standing(key, node)
            record = self.story.records.get(FACTS, SCOPE, key, at=node.at)
            assert (record.value["text"] if record else None) == (expected.value if expected else None)

    @rule()
    def the_index_agrees(self) -> None:
        assert self.story.index.check(ADDRESS) == []

    @rule()
    def maintain(self) -> None:
        self.story.index.maintain()


TestStory = StoryMachine.TestCase
TestStory.settings = settings(max_examples=12, stateful_step_count=40)


TestLongStories: Any = pytest.mark.slow(type("TestLongStories", (StoryMachine.TestCase,), {}))
TestLongStories.settings = settings(max_examples=300, stateful_step_count=120)
