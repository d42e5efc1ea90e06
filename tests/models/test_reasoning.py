"""What a reasoning model thinks before it answers is no part of the answer, however it is cut into pieces."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.models import Request
from talekeeper.models.client import Client
from talekeeper.models.reasoning import Thoughts, without_thoughts
from talekeeper.models.secrets import MASK, EnvironmentKey
from talekeeper.testing import ScriptedServer, say

MakeClient = Callable[..., Client]

ANSWERS = {
    "<think>She lies.</think>\n\nThe door opens.": "The door opens.",
    "\n <think>\nOne.\n</think>\n<think>Two.</think> The door opens.": "The door opens.",
    "<think></think>The door opens.": "The door opens.",
    "\ufeff<think>She lies.</think>\u200bThe door opens.": "The door opens.",
    "\u200b\u2060The door opens.": "\u200b\u2060The door opens.",
    "[THINK]She lies.[/THINK]The door opens.": "The door opens.",
    "<Thinking>a </think> b</Thinking>The door opens.": "The door opens.",
    "<reasoning>She lies.</reasoning>The <think>door</think> opens.": "The <think>door</think> opens.",
    "<think>Cut off before": "",
    "<think>All of it</think>": "",
    "<thin air> fills the room.": "<thin air> fills the room.",
    " \n The door opens. ": " \n The door opens. ",
    "<think": "<think",
    "": "",
    "   ": "   ",
}


@given(st.sampled_from(sorted(ANSWERS)), st.lists(st.integers(1, 9), max_size=40))
def test_the_answer_is_the_same_however_it_is_cut(text: str, cuts: list[int]) -> None:
    thoughts, shown, rest = Thoughts(), "", text
    for size in [*cuts, len(text) or 1]:
        shown += thoughts.feed(rest[:size])
        rest = rest[size:]

    assert shown + thoughts.end() == ANSWERS[text]


@given(st.text(alphabet="<>[]/think \n", max_size=60))
def test_one_piece_or_many_make_no_difference(text: str) -> None:
    whole, many = Thoughts(), Thoughts()

    at_once = whole.feed(text) + whole.end()

    assert "".join([*map(many.feed, text), many.end()]) == at_once
    assert text.endswith(at_once)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("piece", [1, 3, 8, 100])
def test_thoughts_are_neither_shown_nor_in_the_reply(
    make_client: MakeClient, question: Request, piece: int, stream: bool
) -> None:
    script = [say("<think>The player wants the key.</think>\n\nThe drawer is empty.", piece=piece)]

    with ScriptedServer(script) as server, make_client(server, stream=stream).stream(question) as answer:
        shown = "".join(answer)

    assert shown == answer.reply.text == "The drawer is empty."


def test_thoughts_whose_opening_the_template_wrote_are_not_kept(make_client: MakeClient, question: Request) -> None:
    with ScriptedServer([say("The player wants the key.\n</think>\n\nThe drawer is empty.")]) as server:
        reply = make_client(server).complete(question)

    assert reply.text == "The drawer is empty."


EXPECTED = {
    "She lies.</think>\n\nThe door opens.": "The door opens.",
    "<think>She lies.</think>The door opens.": "The door opens.",
    "She lies.</think><think>Or not.</think>The </think>door opens.": "The </think>door opens.",
    "</think>The door opens.": "The door opens.",
    "The door opens. </thin": "The door opens. </thin",
    "All of it</think>": "",
    "": "",
}


@given(st.sampled_from(sorted(EXPECTED)), st.lists(st.integers(1, 9), max_size=40))
def test_an_answer_that_begins_inside_thoughts_is_what_stands_behind_them(text: str, cuts: list[int]) -> None:
    thoughts, shown, rest = Thoughts(expected=True), "", text
    for size in [*cuts, len(text) or 1]:
        shown += thoughts.feed(rest[:size])
        rest = rest[size:]

    assert shown + thoughts.end() == EXPECTED[text]


@pytest.mark.parametrize("thinks", [True, False], ids=["configured", "learnt"])
def test_what_a_slot_thinks_aloud_is_shown_once_at_most(
    make_client: MakeClient, question: Request, thinks: bool
) -> None:
    script = [say(f"Hm.\n</think>\nAnswer {number}.", piece=5) for number in (1, 2)] + [say("No thought.", piece=5)]
    shown: list[str] = []

    with ScriptedServer(script) as server:
        client = make_client(server, thinks=thinks)
        for _ in script:
            with client.stream(question) as answer:
                shown.append("".join(answer))

    assert shown == ["Answer 1." if thinks else "Hm.\n</think>\nAnswer 1.", "Answer 2.", "No thought."]


def test_a_slot_that_once_thought_aloud_is_shown_as_it_comes_once_it_does_not(
    make_client: MakeClient, question: Request
) -> None:
    script = [say("Hm.\n</think>\nOne."), say("Two, at once.", piece=4), say("Three, at once.", piece=4)]
    pieces: list[list[str]] = []

    with ScriptedServer(script) as server:
        client = make_client(server)
        for _ in script:
            with client.stream(question) as answer:
                pieces.append([piece for piece in answer if piece])

    assert [len(one) > 1 for one in pieces[1:]] == [False, True]
    assert pieces[1] == ["Two, at once."]


def test_thoughts_that_were_cut_off_are_no_answer(make_client: MakeClient, question: Request) -> None:
    script = [say("She wants the key, and", finish="length"), say("The door opens.", finish="stop")]

    with ScriptedServer(script) as server:
        client = make_client(server, thinks=True)
        replies = [client.complete(question) for _ in script]

    assert [(reply.text, reply.finish) for reply in replies] == [("", "length"), ("The door opens.", "stop")]


@pytest.mark.parametrize(
    "text", ['"What is </think>?" you ask.', "A scroll: <think>write</think>\nand so on."], ids=["spoken", "closed"]
)
def test_a_tag_in_the_story_stays(text: str) -> None:
    assert without_thoughts(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "One.\n</think>\n\nTwo.\n</think>\nYes.",
        "<think>One.</think>Two.\n</think>\n\ufeffYes.",
        "\u6211\u60f3\u3002\r\n</think>\r\nYes.",
    ],
    ids=["twice", "opened once", "chinese"],
)
def test_the_answer_stands_behind_the_last_tag_that_ends_its_line(text: str) -> None:
    assert without_thoughts(text) == "Yes."


def test_a_key_right_behind_the_thoughts_is_masked(make_client: MakeClient, question: Request) -> None:
    key = "tk-canary-9f8e7d6c5b4a"
    script = [say(f"<think>k</think>{key} it is.", piece=5)]

    with ScriptedServer(script) as server:
        client = make_client(server, key=EnvironmentKey("MY_KEY", {"MY_KEY": key}))
        with client.stream(question) as answer:
            shown = "".join(answer)

    assert shown == answer.reply.text == f"{MASK} it is."
