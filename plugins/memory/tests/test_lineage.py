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
MANY = settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
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
    """Goes through a story and looks at every prompt on the way."""

    def __init__(self, story: Any) -> None:
        self.story = story
        self.number = 0
        self.seen: dict[tuple[str, ...], dict[str, list[Any]]] = {}

    def turn(self) -> None:
        before = self.held()
        self.number += 1
        own = f"px{self.number}"

        def narrator(request: Recorded) -> Step:
            return self.look(request, own, before)

        self.story.host.turn(f"I call {own}, the scene and the fact.", narrator=narrator)
        self.story.work()

    def retry(self) -> None:
        def narrator(request: Recorded) -> Step:
            return self.look(request, "", None)

        self.story.host.retry(narrator=narrator)
        self.story.work()

    def look(self, request: Recorded, own: str, before: dict[str, list[Any]] | None) -> Step:
        frames = tags(" ".join(FRAMES.findall(request.prompt)))
        history = tags(FRAMES.sub("", request.prompt))
        assert set(frames) <= set(history)
        if before is not None:
            self.come_back(tuple(one for one in history if one != own), before)
        self.number += 1
        return say(f"Then nx{self.number} happens.")

    def come_back(self, place: tuple[str, ...], now: dict[str, list[Any]]) -> None:
        then = self.seen.setdefault(place, now)
        for namespace in ("blocks", "facts"):
            assert now[namespace] == then[namespace]
        # A memory that was settled by what came later stands at its own messages and stays with them.
        assert [one for one in then["bank"] if one not in now["bank"]] == []
        for told in now.values():
            assert {tag for text in told for tag in tags(text)} <= set(place)

    def held(self) -> dict[str, list[Any]]:
        return {
            namespace: [str(value["text"]) for value in self.story.values(namespace)]
            for namespace in ("blocks", "facts", "bank", "summaries")
        }


@MANY
@given(st.lists(st.sampled_from(["turn", "turn", "turn", "retry", "undo", "redo", "take 1", "take 2"]), max_size=14))
def test_a_prompt_holds_only_what_its_own_lineage_made(make_story: Make, steps: list[str]) -> None:
    story = make_story(extract=extracted, memory=tagged("Memory"), summary=tagged("Summary"))
    for key, value in SMALL.items():
        story.host.configure(f"memory/{key}", value)
    walk = Walk(story)

    for step in ["turn", "turn", *steps, "turn"]:
        with suppress(NotFound):
            match step.split():
                case ["take", number]:
                    story.host.switch_take(int(number))
                    story.work()
                case ["undo"] | ["redo"]:
                    getattr(story.host, step)()
                    story.work()
                case _:
                    getattr(walk, step)()


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
