"""A narration that a person writes stands where a model's would, and is followed by the same jobs."""

from __future__ import annotations

from typing import Any

import pytest
from talekeeper.errors import NoModel, ParameterError
from talekeeper.models import NO_MODELS
from talekeeper.turn import Narrator

Stage = Any
"""The one of conftest.py, which cannot be imported."""

JOBS = """
def tidy(ctx, job):
    return JobResult()

@hookimpl
def talekeeper_register(registry):
    registry.job("tidy", tidy)
"""


@pytest.fixture
def narrator(stage: Stage) -> Narrator:
    return Narrator(stage.services, NO_MODELS, stage.leases)


def test_it_answers_every_message_that_waits(stage: Stage, narrator: Narrator) -> None:
    stage.plug("keeper", JOBS, '[[contributes.jobs]]\nid = "tidy"\non = "turn-committed"\n')
    for text in ("I knock.", "I knock again."):
        with pytest.raises(NoModel):
            narrator.turn(stage.address, text)

    result = narrator.by_hand(stage.address, "Nobody opens.", speaker="The wind")

    assert [(one.role, one.turn, one.text) for one in result.messages] == [
        ("player", 1, "I knock."),
        ("player", 1, "I knock again."),
        ("narrator", 1, "Nobody opens."),
    ]
    assert (result.narration.kind, result.narration.origin, result.narration.speaker) == (
        *("narration", "typed", "The wind"),
    )
    assert [(job.kind, job.start, job.end) for job in result.jobs] == [("tidy", 0, 2)]


def test_with_nothing_waiting_it_continues_the_story(stage: Stage, narrator: Narrator) -> None:
    stage.play("One.")

    result = narrator.by_hand(stage.address, "Night falls.")

    assert (result.narration.turn, result.narration.kind) == (2, "continue")
    assert stage.told() == ["One.", "re: One.", "Night falls."]


def test_after_a_step_back_it_is_another_take(stage: Stage, narrator: Narrator) -> None:
    stage.play("One.")
    stage.story.tree.retry(stage.address)

    narrator.by_hand(stage.address, "By hand.")

    assert stage.told() == ["One.", "By hand."]
    assert len(stage.story.tree.takes(stage.address)) == 2


def test_a_blank_one_is_refused_and_writes_nothing(stage: Stage, narrator: Narrator) -> None:
    with pytest.raises(ParameterError):
        narrator.by_hand(stage.address, " \n")

    assert stage.told() == []
