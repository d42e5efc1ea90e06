"""Two who change the same at once, as two processes would: what is accepted is there, what is not is said."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from talekeeper.clock import SystemClock
from talekeeper.db import Database, Gate
from talekeeper.errors import Conflict, LimitReached, NotFound, TalekeeperError
from talekeeper.ids import SortableIds
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.search import Index
from talekeeper.story import Address, Draft, Scope, Story

_ROUNDS = 12
TABLE = SearchTable(text=("body",))


@dataclass
class Racer:
    """One of two; `accepted` and `refused` are what became of its tries."""

    story: Story
    name: str
    accepted: list[str] = field(default_factory=list[str])
    refused: list[TalekeeperError] = field(default_factory=list[TalekeeperError])

    def tries(self, what: str, act: Callable[..., object], *arguments: object, **named: object) -> None:
        try:
            act(*arguments, **named)
        except TalekeeperError as fault:
            self.refused.append(fault)
        else:
            self.accepted.append(what)


@pytest.fixture
def racers(open_database: Callable[[], Database], monkeypatch: pytest.MonkeyPatch) -> list[Racer]:
    """Each with a connection and a gate of its own, so that SQLite's lock alone keeps them apart."""

    def own_gate(_: Path) -> Gate:
        return Gate()

    monkeypatch.setattr("talekeeper.db.database.gate_for", own_gate)
    clock = SystemClock()
    return [Racer(Story(open_database(), Index(), clock, SortableIds(clock)), name) for name in ("one", "two")]


def race(racers: Sequence[Racer], run: Callable[[Racer], None]) -> None:
    """Lets both begin at the same moment and waits for them."""
    start = threading.Barrier(len(racers))
    faults: list[BaseException] = []

    def go(racer: Racer) -> None:
        start.wait()
        try:
            run(racer)
        except BaseException as fault:  # noqa: BLE001 -- raised again by the test's own thread
            faults.append(fault)

    threads = [threading.Thread(target=go, args=(racer,)) for racer in racers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


@pytest.mark.parametrize("limit", [1, 5, 17])
def test_a_limit_reached_by_two_at_once_is_kept(story: Story, scope: Scope, racers: list[Racer], limit: int) -> None:
    namespace = Namespace("lore", "entries", limit=limit, search=TABLE)

    def fill(racer: Racer) -> None:
        for number in range(_ROUNDS):
            key = f"{racer.name}{number}"
            racer.tries(key, racer.story.records.put, namespace, scope, key, {"body": key})

    race(racers, fill)

    kept = {record.key for record in story.records.list(namespace, scope)}
    assert kept == {key for racer in racers for key in racer.accepted}
    assert len(kept) == limit
    assert {type(fault) for racer in racers for fault in racer.refused} == {LimitReached}
    assert story.index.check() == []


def test_the_oldest_makes_room_for_two_at_once(story: Story, scope: Scope, racers: list[Racer]) -> None:
    namespace = Namespace("lore", "entries", limit=5, on_limit="oldest", search=TABLE)

    def fill(racer: Racer) -> None:
        for number in range(_ROUNDS):
            key = f"{racer.name}{number}"
            racer.tries(key, racer.story.records.put, namespace, scope, key, {"body": key})

    race(racers, fill)

    live = story.records.count(namespace, scope)
    withdrawn = story.records.list(namespace, scope, withdrawn=True)
    assert (live, [racer.refused for racer in racers]) == (5, [[], []])
    assert {key for racer in racers for key in racer.accepted} >= {record.key for record in withdrawn}
    assert story.index.check() == []


@pytest.mark.parametrize("person", [True, False])
def test_both_versions_of_a_key_written_at_once_are_kept(
    story: Story, scope: Scope, racers: list[Racer], *, person: bool
) -> None:
    namespace = Namespace("lore", "entries", search=TABLE)

    def write(racer: Racer) -> None:
        for number in range(_ROUNDS):
            body = f"{racer.name}{number}"
            racer.tries(body, racer.story.records.put, namespace, scope, "k", {"body": body}, person=person)

    race(racers, write)

    history = story.records.history(namespace, scope, "k")
    standing = story.records.get(namespace, scope, "k")
    assert [record.revision for record in history] == list(range(1, 2 * _ROUNDS + 1))
    assert sorted(record.value["body"] for record in history) == sorted(b for racer in racers for b in racer.accepted)
    assert standing == history[-1]
    assert [racer.refused for racer in racers] == [[], []]
    assert story.index.check() == []


def test_an_append_only_key_goes_to_one_of_two(story: Story, scope: Scope, racers: list[Racer]) -> None:
    namespace = Namespace("lore", "entries", append_only=True)

    race(
        racers,
        lambda racer: racer.tries("k", lambda: racer.story.records.put(namespace, scope, "k", {"by": racer.name})),
    )

    winner = story.records.get(namespace, scope, "k")
    assert winner is not None
    assert [racer.name for racer in racers if racer.accepted] == [winner.value["by"]]
    assert [type(fault) for racer in racers for fault in racer.refused] == [Conflict]


def test_edits_of_one_message_at_once_are_all_kept(
    story: Story, address: Address, say: Callable[..., list[object]], racers: list[Racer]
) -> None:
    say("It is raining.")
    (message,) = story.messages.read(address)

    def edit(racer: Racer) -> None:
        for number in range(_ROUNDS):
            text = f"{racer.name} {number}"
            racer.tries(text, racer.story.messages.edit, address, message.id, text)

    race(racers, edit)

    texts = [revision.text for revision in story.messages.texts(address, message.id)]
    assert sorted(texts) == sorted(["It is raining.", *(text for racer in racers for text in racer.accepted)])
    assert texts[-1] == story.messages.get(address, message.id).text
    assert story.index.check() == []


def test_of_two_who_append_at_the_same_place_one_is_told(story: Story, address: Address, racers: list[Racer]) -> None:
    head = story.sessions.get(address).head

    race(
        racers,
        lambda racer: racer.tries(
            racer.name, lambda: racer.story.messages.append(address, [Draft("player", racer.name)], head)
        ),
    )

    assert [message.text for message in story.messages.read(address)] == [n for racer in racers for n in racer.accepted]
    assert [type(fault) for racer in racers for fault in racer.refused] == [Conflict]


@pytest.mark.parametrize("what", ["workspace", "session"])
def test_what_is_deleted_while_another_writes_into_it_is_gone_whole_or_new(
    story: Story, address: Address, racers: list[Racer], what: str
) -> None:
    writer, remover = racers
    scope = Scope(address.workspace, session=address.session)
    namespace = Namespace("lore", "entries", search=TABLE)
    half = threading.Event()

    def write() -> None:
        for number in range(4 * _ROUNDS):
            if number == _ROUNDS:
                half.set()
            text = f"silver {number}"
            writer.tries(text, writer.story.messages.append, address, [Draft("narrator", text)])
            writer.tries(text, writer.story.records.put, namespace, scope, text, {"body": text})
        half.set()

    def remove() -> None:
        half.wait()
        if what == "workspace":
            remover.story.workspaces.delete(address.workspace)
        else:
            remover.story.sessions.delete(address)

    race(racers, lambda racer: write() if racer is writer else remove())

    assert {type(fault) for fault in writer.refused} <= {NotFound}
    assert story.index.check() == []
    with pytest.raises(NotFound):
        story.sessions.get(address)
    left = story.read(lambda tx: [tx.one(f"SELECT count(*) FROM {t}") for t in ("message", "record", "part", "tail")])
    assert left == [(0,)] * 4
