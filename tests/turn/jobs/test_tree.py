"""Jobs and what they write follow the story through edits, deletions, undos, retries and forks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talekeeper.errors import NotFound
from talekeeper.story import Coordinate, Message, Scope

Start = Callable[..., Any]
Until = Callable[[Callable[[], bool]], None]

NOTE = """
with ctx.data.batch() as batch:
    for message in job.messages():
        batch.add("notes", {"text": message.text}, dedupe=message.id)
return JobResult(covered=job.range)
"""
BLOCKS = """
done = None
while len(block := job.uncovered()[len(done or ()):][:3]) == 3:
    done = (done or []) + list(block)
    first, last = block[0].coordinate.depth, block[-1].coordinate.depth
    with ctx.data.batch() as batch:
        text = "+".join(message.text for message in block)
        batch.put("notes", f"block-{first}", {"text": text}, covers=(first, last))
if not done:
    return JobResult(skipped="not enough yet")
return JobResult(covered=(done[0].coordinate.depth, done[-1].coordinate.depth))
"""
SETTLED = """
block = job.unsettled()[:3]
if len(block) < 3:
    return JobResult(skipped="not enough yet")
first, last = block[0].coordinate.depth, block[-1].coordinate.depth
made = ctx.data["notes"].get(f"block-{first}")
if made is None:
    with ctx.data.batch() as batch:
        text = "+".join(message.text for message in block)
        batch.put("notes", f"block-{first}", {"text": text}, covers=(first, last))
return JobResult(made is None, covered=(first, last))
"""
LAST = """
with ctx.data.batch() as batch:
    batch.put("notes", "last", {"text": " ".join(message.text for message in job.messages())})
return JobResult(covered=job.range)
"""


def places(home: Any) -> dict[str, Coordinate]:
    found = home.story.records.list(home.host.namespace("notes/notes"), Scope("w", session="s"), limit=1000)
    return {record.value["text"]: record.coordinate for record in found}


def edit(home: Any, text: str, new: str | None) -> None:
    (message,) = [one for one in home.story.messages.read(home.address()) if one.text == text]
    if new is None:
        home.story.messages.delete(home.address(), message.id)
    else:
        home.story.messages.edit(home.address(), message.id, new)


def test_what_was_made_from_a_message_is_made_anew_after_an_edit(start: Start) -> None:
    home = start({"note": NOTE})
    home.turn("ask", "tell")
    home.turn("ask more", "tell more")
    home.run()

    edit(home, "tell", "tell otherwise")
    before = home.notes()
    (again,) = home.runner.run(home.address())

    assert before == ["ask more", "tell more"]
    assert (again.state, again.attempts) == ("succeeded", 1)
    assert sorted(home.notes()) == ["ask", "ask more", "tell more", "tell otherwise"]


def test_what_was_made_from_a_deleted_message_is_made_without_it(start: Start) -> None:
    home = start({"note": NOTE})
    home.turn("ask", "tell")
    home.run()

    edit(home, "tell", None)
    home.run()

    assert home.notes() == ["ask"]
    assert home.story.coverage.covered(home.address(), "notes", "note") == [(0, 1)]


def test_a_change_inside_a_range_keeps_the_record(start: Start) -> None:
    home = start({"note": NOTE})
    home.turn("ask", "tell")
    home.run()

    edit(home, "ask", "ask otherwise")

    assert home.notes() == ["ask", "tell"]
    assert home.run() == []


def test_why_a_job_runs_again_is_said(start: Start) -> None:
    home = start({"note": 'return JobResult(details={"why": job.reason})'})
    home.turn("ask", "tell")
    home.run()
    edit(home, "tell", "tell otherwise")

    (again,) = home.runner.run(home.address())

    assert again.details == {"why": "its source was edited"}


def test_blocks_stand_at_their_own_last_message(start: Start) -> None:
    home = start({"blocks": BLOCKS})
    for number in range(4):
        home.turn(f"a{number}", f"b{number}")
    home.story.tree.go(home.address(), Coordinate(0, 7))

    ended = home.run()

    assert ended == ["blocks skipped", "blocks succeeded", "blocks succeeded", "blocks skipped"]
    assert places(home) == {"a0+b0+a1": Coordinate(0, 2), "b1+a2+b2": Coordinate(0, 5)}


def test_a_block_done_by_a_take_that_lost_stays_done(start: Start) -> None:
    home = start({"blocks": BLOCKS})
    home.turn("a0", "b0")
    home.turn("a1", "b1")
    home.run()
    done = places(home)

    home.retry("b1 otherwise")
    ended = home.run()

    assert done == {"a0+b0+a1": Coordinate(0, 2)}
    assert (ended, places(home)) == (["blocks skipped"], done)
    assert home.story.coverage.covered(home.address(), "notes", "blocks") == [(0, 2)]


def settled(home: Any) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = home.story.coverage.settled(home.address(), "notes", "blocks")
    return found


def test_what_a_take_that_lost_has_covered_is_settled_by_a_job_of_the_take_that_stays(start: Start) -> None:
    home = start({"blocks": SETTLED})
    home.turn("a0", "b0")
    home.turn("a1", "b1")
    home.run()
    done, first = places(home), settled(home)

    home.retry("b1 otherwise")
    between = settled(home)
    (again,) = home.runner.run(home.address())

    assert (first, between, settled(home)) == ([(0, 2)], [], [(0, 2)])
    assert (again.did_work, places(home)) == (False, done)


def test_settled_is_what_turns_up_to_here_have_come_to(start: Start) -> None:
    home = start({"blocks": SETTLED})
    for number in range(2):
        home.turn(f"a{number}", f"b{number}")
        home.run()

    home.story.tree.undo(home.address())
    undone = settled(home)
    home.story.tree.redo(home.address())

    assert (undone, settled(home)) == ([], [(0, 2)])


@pytest.mark.parametrize("new", ["A1", None], ids=["edited", "deleted"])
def test_a_changed_block_is_made_anew_on_every_take_that_settled_it(start: Start, new: str | None) -> None:
    home = start({"blocks": SETTLED})
    home.turn("a0", "b0")
    home.turn("a1", "b1")
    home.run()
    home.retry("b1 otherwise")
    home.run()

    edit(home, "a1", new)
    meanwhile = settled(home), places(home)
    ended = home.run()

    assert meanwhile == ([(0, 2)], {})
    assert ended == ["blocks succeeded"]
    assert set(places(home)) == {"a0+b0+A1" if new else "a0+b0+b1 otherwise"}


def test_an_edited_block_is_made_anew_by_whoever_comes_next(start: Start) -> None:
    home = start({"blocks": BLOCKS})
    home.turn("a0", "b0")
    home.turn("a1", "b1")
    home.run()
    home.retry("b1 otherwise")

    edit(home, "a1", "A1")
    home.run()

    assert places(home) == {"a0+b0+A1": Coordinate(0, 2)}


def test_an_older_record_does_not_hide_a_newer_one(start: Start, clock: Any) -> None:
    home = start({"last": 'if job.attempt == 1 and job.turn == 1: raise Retry("down", after=5)\n' + LAST})
    home.turn("a0", "b0")
    home.turn("a1", "b1")
    home.run()
    clock.advance(5)

    late = home.run()

    assert late == ["last succeeded"]
    assert home.notes() == ["a1 b1"]
    home.story.tree.undo(home.address())
    assert home.notes() == ["a0 b0"]


def test_hidden_messages_are_not_shown_to_jobs(start: Start) -> None:
    home = start({"note": NOTE, "blocks": BLOCKS})
    home.turn("a0", "b0")
    home.turn("a1", "b1")
    home.story.messages.hide(home.address(), home.story.messages.read(home.address())[1].id)

    home.run()

    assert sorted(home.notes()) == ["a0", "a0+a1+b1", "a1", "b1"]


@pytest.mark.parametrize("new", ["b0 otherwise", None], ids=["edited", "deleted"])
def test_a_job_whose_story_changes_under_it_begins_again(
    start: Start, until: Until, tmp_path: Path, new: str | None
) -> None:
    body = """
    import time
    from pathlib import Path
    texts = [message.text for message in job.messages()]
    flag = Path(ctx.session.title)
    if not flag.exists():
        flag.touch()
        while not flag.with_name("go").exists():
            ctx.check()
            time.sleep(0.01)
    with ctx.data.batch() as batch:
        batch.put("notes", "all", {"text": " ".join(texts)})
    return JobResult()
    """
    home = start({"note": body})
    home.story.sessions.rename(home.address(), str(tmp_path / "flag"))
    home.turn("a0", "b0")
    ended: list[str] = []
    thread = threading.Thread(target=lambda: ended.extend(home.run()))
    thread.start()
    until((tmp_path / "flag").exists)

    edit(home, "b0", new)
    (tmp_path / "go").touch()
    thread.join()

    assert ended == ["note reopened", "note succeeded"]
    assert home.notes() == ["a0 b0 otherwise" if new else "a0"]


def test_a_person_who_takes_back_a_result_has_the_job_done_again(start: Start) -> None:
    home = start({"last": LAST})
    home.turn("a0", "b0")
    home.run()

    home.story.records.withdraw(home.host.namespace("notes/notes"), Scope("w", session="s"), "last", person=True)

    assert home.run() == ["last succeeded"]


def test_a_job_that_makes_room_does_not_reopen_what_made_it(start: Start) -> None:
    evict = 'with ctx.data.batch() as batch: batch.withdraw("notes", "last")\nreturn JobResult()'
    home = start({"last": LAST, "evict": evict})
    home.turn("a0", "b0")

    assert home.run() == ["last succeeded", "evict succeeded"]
    assert (home.notes(), home.run()) == ([], [])


# What a lineage shows is a function of the lineage, whenever its jobs were run.

STEP = st.sampled_from(["turn", "turn", "turn", "retry", "undo", "redo", "fork", "take", "run", "run one"])


def expected(texts: list[str]) -> set[str]:
    blocks = {"+".join(texts[n : n + 3]) for n in range(0, len(texts) - len(texts) % 3, 3)}
    return {*texts, *blocks, *([" ".join(texts[-2:])] if texts else [])}


FLAKY = 'if job.attempt == 1 and job.turn % 2: raise Retry("down", after=5)\n'


@pytest.mark.parametrize("first", ["", FLAKY], ids=["sound", "flaky"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(STEP, st.integers(0, 5)), max_size=25))
def test_what_a_lineage_shows_follows_from_its_messages(start: Start, first: str, steps: list[tuple[str, int]]) -> None:
    home = start({"note": first + NOTE, "blocks": first + BLOCKS, "last": first + LAST})
    name = f"s{len(home.story.sessions.all('w'))}"
    told = Telling(home, name)

    for number, (step, choice) in enumerate(steps):
        told.do(step, number, choice)
    seen = told.every_tip()
    again = told.every_tip()

    assert seen == again
    for texts, _, notes in seen:
        assert set(notes) == expected(texts)
        assert len(notes) == len(set(notes))


CHANGE = st.sampled_from(["turn", "turn", "retry", "undo", "redo", "fork", "run", "edit", "delete", "run one"])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(CHANGE, st.integers(0, 5)), max_size=25))
def test_edits_and_deletions_are_followed_on_every_lineage(start: Start, steps: list[tuple[str, int]]) -> None:
    home = start({"note": NOTE, "last": LAST})
    told = Telling(home, f"s{len(home.story.sessions.all('w'))}")

    for number, (step, choice) in enumerate(steps):
        told.do(step, number, choice)
    seen = told.every_tip()

    assert seen == told.every_tip()
    for texts, newest, notes in seen:
        assert sorted(notes) == sorted([*texts, " ".join(newest)])


class Telling:
    """A random history in a session of its own."""

    def __init__(self, home: Any, name: str) -> None:
        self.home, self.name = home, name
        self.address = home.address(name)

    def do(self, step: str, number: int, choice: int) -> None:
        story, address = self.home.story, self.address
        acts: dict[str, Callable[[], object]] = {
            "turn": lambda: self.home.turn(f"a{number}", f"b{number}", session=self.name),
            "retry": lambda: self._retry(number),
            "undo": lambda: story.tree.undo(address),
            "redo": lambda: story.tree.redo(address),
            "fork": lambda: story.tree.fork(address, self._turn_end(choice)),
            "take": lambda: story.tree.switch_take(address, choice % 2 + 1),
            "edit": lambda: story.messages.edit(address, self._told(choice).id, f"{self._told(choice).text} anew"),
            "delete": lambda: story.messages.delete(address, self._told(choice).id),
            "run": lambda: self.home.run(self.name),
            "run one": lambda: self.home.run(self.name, limit=1),
        }
        try:
            acts[step]()
        except (NotFound, IndexError):
            return

    def _retry(self, number: int) -> None:
        self.home.story.tree.retry(self.address)
        said = self.home.story.tree.newest_turn(self.address)[-1]
        self.home.answer(f"b{number}", [said], session=self.name)

    def _told(self, choice: int) -> Message:
        """One of the last narrations, which end their turns."""
        told: list[Message] = [one for one in self.home.story.messages.read(self.address) if one.role == "narrator"]
        return told[-1 - choice % 3]

    def _turn_end(self, choice: int) -> Coordinate | None:
        ends = [one.coordinate for one in self.home.story.messages.read(self.address) if one.role == "narrator"]
        return ends[choice % len(ends)] if ends else None

    def every_tip(self) -> list[tuple[list[str], list[str], list[str]]]:
        """Of every place a turn ends at, its jobs run: all texts, those of its last turn, and all notes."""
        story, address = self.home.story, self.address
        shown: list[tuple[list[str], list[str], list[str]]] = []
        for message in list(story.messages.all(address)):
            if message.role == "narrator":
                story.tree.go(address, message.coordinate)
                self.home.run(self.name)
                self.home.clock.advance(5)
                self.home.run(self.name)
                told = story.messages.read(address)
                newest = [one.text for one in told if one.turn == message.turn]
                shown.append(([one.text for one in told], newest, self.home.notes(session=self.name)))
        return shown
