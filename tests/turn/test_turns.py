"""The turn from the player's message to the commit, as a person meets it."""

from __future__ import annotations

from typing import Any

import pytest
from talekeeper.db import Tx
from talekeeper.errors import NoModel, NotFound, ParameterError
from talekeeper.models import NO_MODELS
from talekeeper.story import Draft
from talekeeper.testing import call_tool, say
from talekeeper.turn import Narrator, Preset, turn_decisions
from talekeeper.turn.prompt import wording

Stage = Any
"""The one of conftest.py, which cannot be imported."""
ENGLISH = wording("en")


def test_a_message_is_answered_and_both_stand_in_the_story(stage: Stage) -> None:
    result = stage.narrator([say("It creaks.")]).turn(stage.address, "I open the door.", kind="do", speaker="Mara")

    player, narration = result.messages
    assert stage.told() == ["I open the door.", "It creaks."]
    assert (player.role, player.kind, player.speaker, player.turn) == ("player", "do", "Mara", 1)
    assert (narration.role, narration.kind, narration.origin, narration.turn) == (
        "narrator", "narration", "generated", 1,
    )  # fmt: skip


def test_the_text_comes_in_pieces_that_make_the_narration(stage: Stage) -> None:
    pieces: list[str] = []
    script = [call_tool("memory-search", {"query": "door"}, text="You listen."), say("Nothing stirs.", piece=4)]

    result = stage.narrator(script).turn(stage.address, "Hush.", on_text=pieces.append)

    assert "".join(pieces) == result.narration.text == "You listen.\n\nNothing stirs."


def test_the_prompt_is_system_text_and_history_in_turns(stage: Stage) -> None:
    stage.play("One.", "Two.")

    told = [(message["role"], message["content"]) for message in stage.prompt()]

    assert told == [("system", ENGLISH.system), ("user", "One."), ("assistant", "re: One."), ("user", "Two.")]


def test_without_a_text_the_story_goes_on_by_itself_in_a_turn_of_its_own(stage: Stage) -> None:
    stage.play("One.")

    result = stage.narrator([say("And then?")]).turn(stage.address, None)

    (narration,) = result.messages
    assert (narration.turn, narration.kind) == (2, "continue")
    assert stage.prompt()[-1]["content"] == ENGLISH.go_on
    stage.story.tree.undo(stage.address)
    assert stage.told() == ["One.", "re: One."]


def test_a_story_may_begin_with_the_narrator(stage: Stage) -> None:
    result = stage.narrator([say("Rain.")]).turn(stage.address, None)
    following = stage.narrator([say("Yes.")]).turn(stage.address, "Hello?")

    assert result.narration.turn == 0
    assert following.narration.turn == 1
    assert [message["content"] for message in stage.prompt()[1:]] == [ENGLISH.opening, "Rain.", "Hello?"]


@pytest.mark.parametrize("again", ["One.", None], ids=["the same text", "no text"])
def test_an_unanswered_message_is_resumed_and_not_repeated(stage: Stage, again: str | None) -> None:
    stage.append(Draft("player", "One.", origin="typed"))

    stage.narrator([say("re")]).turn(stage.address, again)

    assert stage.told() == ["One.", "re"]


def test_another_text_joins_the_turn_that_waits(stage: Stage) -> None:
    stage.append(Draft("player", "One.", origin="typed"))

    result = stage.narrator([say("re")]).turn(stage.address, "And two.")

    assert [message.text for message in result.messages] == ["One.", "And two.", "re"]
    assert {message.turn for message in result.messages} == {1}
    assert stage.prompt()[-1]["content"] == "One.\n\nAnd two."


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_message_is_refused_before_anything_is_written(stage: Stage, text: str) -> None:
    with pytest.raises(ParameterError, match="it is empty"):
        stage.narrator().turn(stage.address, text)

    assert stage.told() == []


def test_a_retry_is_another_take_of_the_newest_turn(stage: Stage) -> None:
    stage.play("One.", "Two.")

    stage.narrator([say("otherwise")]).retry(stage.address)

    assert stage.told() == ["One.", "re: One.", "Two.", "otherwise"]
    assert [take.current for take in stage.story.tree.takes(stage.address)] == [False, True]
    assert [message["content"] for message in stage.prompt()[1:]] == ["One.", "re: One.", "Two."]


def test_a_turn_that_went_on_by_itself_can_be_retried(stage: Stage) -> None:
    stage.play("One.")
    stage.narrator([say("a")]).turn(stage.address, None)

    result = stage.narrator([say("b")]).retry(stage.address)

    assert stage.told() == ["One.", "re: One.", "b"]
    assert result.narration.turn == 2
    assert len(stage.story.tree.takes(stage.address)) == 2


def test_a_retry_of_an_unanswered_turn_answers_it(stage: Stage) -> None:
    stage.append(Draft("player", "One.", origin="typed"))

    stage.narrator([say("re")]).retry(stage.address)

    assert stage.told() == ["One.", "re"]


def test_there_is_nothing_to_retry_in_an_empty_story(stage: Stage) -> None:
    with pytest.raises(NotFound, match="there is no turn to retry"):
        stage.narrator().retry(stage.address)


def test_hidden_deleted_and_system_messages_are_not_in_the_prompt(stage: Stage) -> None:
    messages = stage.append(
        Draft("player", "seen"),
        Draft("narrator", "hidden"),
        Draft("system", "a note"),
        Draft("tool", "a result"),
        Draft("narrator", "gone"),
        Draft("narrator", "also seen"),
    )
    stage.story.messages.hide(stage.address, messages[1].id)
    stage.story.messages.delete(stage.address, messages[4].id)

    stage.narrator([say("x")]).turn(stage.address, "now")

    assert [message["content"] for message in stage.prompt()[1:]] == ["seen", "also seen", "now"]


def test_speakers_are_named_where_several_speak(stage: Stage) -> None:
    stage.append(
        Draft("player", "Who?", speaker="Ann"),
        Draft("narrator", "I.", speaker="Bo"),
        Draft("narrator", "And I.", speaker="Cy"),
    )

    stage.narrator([say("x")]).turn(stage.address, "Come in.", speaker="Ann")

    assert [message["content"] for message in stage.prompt()[1:]] == ["Who?", "Bo: I.\n\nCy: And I.", "Come in."]


def test_persona_and_note_are_the_sessions_and_stand_where_they_work(stage: Stage) -> None:
    settings = {"persona": "Mara, a smuggler.", "author_note": "Cold and slow."}
    stage.story.sessions.configure(stage.address, settings=settings)

    stage.narrator([say("x")]).turn(stage.address, "Go.")

    system, last = stage.prompt()
    assert system["content"].endswith("The player's character: Mara, a smuggler.")
    assert last["content"] == "Author's note: Cold and slow.\n\nGo."


def test_a_setting_that_is_no_text_is_named(stage: Stage) -> None:
    stage.story.sessions.configure(stage.address, settings={"persona": 3})

    with pytest.raises(ParameterError, match="session s: persona: this setting is text"):
        stage.narrator([say("x")]).turn(stage.address, "Go.")


def test_the_session_names_the_slot_that_speaks_and_usage_says_which(stage: Stage) -> None:
    stage.play("One.")
    stage.story.sessions.configure(stage.address, settings={"narrator": "other"})

    stage.narrator([say("x")], name="other", model="big").turn(stage.address, "Two.")

    assert [(use.slot, use.model, use.turn) for use in stage.story.turn_log.spent(stage.address)] == [
        ("narrator", "m", 1),
        ("other", "big", 2),
    ]


def test_the_preset_gives_system_text_sampling_and_the_length_of_the_reply(stage: Stage) -> None:
    preset = Preset("noir", system="You are terse.", reply=77, sampling={"temperature": 0.5})

    stage.narrator([say("x")], preset=preset).turn(stage.address, "Go.")

    body = stage.model.requests[0].body
    assert body["messages"][0]["content"] == "You are terse."
    assert (body["max_tokens"], body["temperature"]) == (77, 0.5)


def test_a_chinese_session_gets_chinese_words(stage: Stage) -> None:
    stage.story.sessions.configure(stage.address, locale="zh-CN")

    stage.narrator([say("雨。")]).turn(stage.address, None)

    assert [message["content"] for message in stage.prompt()] == [wording("zh").system, wording("zh").go_on]


def test_without_a_model_the_message_stays_and_what_to_do_is_said(stage: Stage) -> None:
    narrator = Narrator(stage.services, NO_MODELS, stage.leases)

    with pytest.raises(NoModel, match=r"no model is configured; write \[models.narrator\]"):
        narrator.turn(stage.address, "Hello?")

    assert stage.told() == ["Hello?"]


def test_usage_is_kept_and_summed(stage: Stage) -> None:
    script = [call_tool("memory-search", {"query": "x"}), say("y")]

    result = stage.narrator(script).turn(stage.address, "Go.")

    spent = stage.story.turn_log.spent(stage.address, turn=1)
    assert result.usage is not None
    assert result.usage.prompt == sum(use.prompt for use in spent)
    assert [use.plugin for use in spent] == ["", ""]


def test_what_was_shown_is_used_where_the_narration_stands(recalling: Stage) -> None:
    recalling.fact("memo", "lamp", "The lamp is cracked.")

    recalling.play("One.", "Two.")
    uses = recalling.story.turn_log.uses(recalling.address, "memo", "facts")
    recalling.story.tree.undo(recalling.address)
    before = recalling.story.turn_log.uses(recalling.address, "memo", "facts")

    assert (uses["lamp"].count, uses["lamp"].last_turn) == (2, 2)
    assert (before["lamp"].count, before["lamp"].last_turn) == (1, 1)


def test_why_tells_what_was_shown_and_never_what_it_said(recalling: Stage) -> None:
    recalling.fact("memo", "lamp", "The lamp is cracked.")

    recalling.play("One.")

    own, recall = turn_decisions(recalling.story, recalling.address, 1)
    assert own.document["history_from"] == 0
    assert recall.document["considered"] == [{"id": "lamp", "source": "facts", "used": True, "reason": ""}]
    assert "cracked" not in str(recall.document)
    with pytest.raises(NotFound, match="there is no record of a prompt of turn 9"):
        turn_decisions(recalling.story, recalling.address, 9)


def test_a_dry_run_shows_the_same_and_leaves_no_trace(recalling: Stage) -> None:
    recalling.fact("memo", "lamp", "The lamp is cracked.")
    recalling.play("One.")
    before = recalling.story.read(rows)

    dry = recalling.narrator().recall(recalling.address, "Two.")

    assert recalling.story.read(rows) == before
    assert dry.turn == 2
    recalling.narrator([say("x")]).turn(recalling.address, "Two.")
    assert dry.decided[1].text in recalling.prompt()[-1]["content"]


def test_a_dry_run_needs_no_model(recalling: Stage) -> None:
    recalling.fact("memo", "lamp", "The lamp is cracked.")

    dry = Narrator(recalling.services, NO_MODELS, recalling.leases).recall(recalling.address, "Two.")

    assert "cracked" in dry.decided[1].text


def rows(tx: Tx) -> dict[str, int]:
    return {
        table: tx.rows(f"SELECT count(*) FROM {table}")[0][0]
        for table in ("message", "record", "use", "usage", "decision", "job", "lease")
    }


def test_records_stand_between_the_history_and_the_players_words(recalling: Stage) -> None:
    recalling.fact("memo", "lamp", "The lamp is cracked.")

    recalling.play("One.")

    last = recalling.prompt()[-1]
    assert last["role"] == "user"
    assert last["content"].startswith('<records segment="memo/recalled">')
    assert last["content"].endswith("</records>\n\nOne.")
