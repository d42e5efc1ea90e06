"""Whatever way a story is gone: a prompt holds what belongs to its own messages, and coming back finds it all again."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talekeeper.api import NotFound
from talekeeper.testing import Recorded, Step, say

Make = Callable[..., Any]
TAG = re.compile(r"\b[pn]x\d+\b")
FRAMES = re.compile(r"<records .*?</records>", re.DOTALL)
# A story is made for each example and closed with the test.
MANY = settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
SMALL = {"memory_messages": 3, "memory_after": 4, "summary_messages": 4, "recall_skip_turns": 0}


def tags(text: str) -> list[str]:
    return TAG.findall(text)


def tagged(kind: str) -> Callable[[Recorded], str]:
    """Says the tags of what it was asked about: of messages, memories and summaries alike."""

    def answer(request: Recorded) -> str:
        material = str(request.body["messages"][1]["content"])
        return f"{kind} {' '.join(tags(material))}."

    return answer


def extracted(request: Recorded) -> dict[str, Any]:
    material = str(request.body["messages"][1]["content"])
    told = " ".join(tags(material[material.index("<turn>") :]))
    return {"scene": f"Scene {told}.", "new_facts": [f"Fact {told}."]}


class Walk:
    """Goes through a story and looks at every prompt on the way: the narrator's own, and a dry run's at each place.

    A place is known by its messages. The first look at it is kept, and every later one has to be the same to the
    letter, ids and order included, wherever one has been meanwhile.
    """

    def __init__(self, story: Any) -> None:
        self.story = story
        self.number = 0
        self.asked: dict[tuple[str, ...], str] = {}
        self.dry: dict[tuple[str, ...], str] = {}
        self.back = 0

    def turn(self) -> None:
        self.number += 1
        self.story.host.turn(f"I call px{self.number}, the scene and the fact.", narrator=self.look)

    def retry(self) -> None:
        self.story.host.retry(narrator=self.look)

    def undo(self) -> None:
        self.story.host.undo()

    def redo(self) -> None:
        self.story.host.redo()

    def take(self, number: str) -> None:
        self.story.host.switch_take(int(number))

    def fork(self) -> None:
        """Goes on anew from the first half of the story."""
        messages = self.story.host.messages()
        if messages:
            self.story.host.fork(messages[len(messages) // 2].id)

    def look(self, request: Recorded) -> Step:
        frames, history = FRAMES.findall(request.prompt), tags(FRAMES.sub("", request.prompt))
        assert {tag for frame in frames for tag in tags(frame)} <= set(history)
        self.same(self.asked, tuple(history), "\n".join(frames))
        self.number += 1
        return say(f"Then nx{self.number} happens.")

    def arrive(self) -> None:
        """The jobs of where one is run, then what a prompt would hold there is looked at."""
        self.story.work()
        place = tuple(message.id for message in self.story.host.messages())
        self.same(self.dry, place, self.story.prompt("I call the scene, the fact and the memory."))

    def same(self, seen: dict[tuple[str, ...], str], place: tuple[str, ...], now: str) -> None:
        self.back += place in seen
        assert now == seen.setdefault(place, now)


STEPS = ["turn", "turn", "turn", "retry", "undo", "redo", "take 1", "take 2", "fork"]


@MANY
@given(st.lists(st.sampled_from(STEPS), max_size=14))
def test_a_prompt_is_a_function_of_its_lineage_alone(make_story: Make, steps: list[str]) -> None:
    story = make_story(extract=extracted, memory=tagged("Memory"), summary=tagged("Summary"))
    for key, value in SMALL.items():
        story.host.configure(f"memory/{key}", value)
    walk = Walk(story)

    for step in ["turn", "turn", *steps, "turn", "undo", "redo", *["undo"] * 6]:
        name, *arguments = step.split()
        with suppress(NotFound):
            getattr(walk, name)(*arguments)
        walk.arrive()

    assert walk.back > 0


@MANY
@given(st.lists(st.integers(0, 3), min_size=10, max_size=40))
def test_once_the_model_answers_everything_is_there_and_nothing_twice(make_story: Make, moods: list[int]) -> None:
    calm = False
    mood = itertools.cycle(moods)

    def unreliable(good: Callable[[Recorded], Any]) -> Callable[[Recorded], Any]:
        def answer(request: Recorded) -> Any:
            answers: list[Any] = [good(request), "", "no", {"scene": " "}]
            return answers[0 if calm else next(mood)]

        return answer

    story = make_story(
        extract=unreliable(extracted), memory=unreliable(tagged("Memory")), summary=unreliable(tagged("Summary"))
    )
    for key, value in SMALL.items():
        story.host.configure(f"memory/{key}", value)
    story.host.configure("memory/repeat_share", 1.0)

    for turn in range(6):
        story.play(f"I call px{turn}.", reply=f"Then nx{turn} happens.")
    calm = True
    for _ in range(8):
        story.host.clock.advance(7200)
        story.work()

    facts = [one["text"] for one in story.values("facts")]
    assert sorted(facts) == sorted(f"Fact px{turn} nx{turn}." for turn in range(6))
    bank = [(one["from"], one["to"]) for one in story.values("bank")]
    assert len(set(bank)) == len(bank)
    assert [one["text"] for one in story.values("blocks")][-1:] == ["Scene px5 nx5."]
