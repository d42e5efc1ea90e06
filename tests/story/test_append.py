"""Adding messages: turns, origins, references, compare-and-set, takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from talekeeper.db import Tx
from talekeeper.errors import Conflict, NotFound, ParameterError
from talekeeper.story import ROOT, Address, Coordinate, Draft, Message, Role, Story

Say = Callable[..., list[Message]]
Told = Callable[[], list[str]]


def roles(letters: str) -> list[Draft]:
    """`p`layer, `n`arrator, `t`ool, `s`ystem."""
    names: dict[str, Role] = {"p": "player", "n": "narrator", "t": "tool", "s": "system"}
    return [Draft(names[letter], f"text {place}") for place, letter in enumerate(letters)]


@pytest.mark.parametrize(
    ("letters", "turns"),
    [
        pytest.param("pnpn", [1, 1, 2, 2], id="player and narrator"),
        pytest.param("nsnpn", [0, 0, 0, 1, 1], id="text before the first player message is turn 0"),
        pytest.param("pntnpn", [1, 1, 1, 1, 2, 2], id="what answers belongs to the turn"),
        pytest.param("pp", [1, 2], id="each player message opens a turn"),
        pytest.param("nnn", [0, 0, 0], id="no player"),
    ],
)
@pytest.mark.parametrize("at_once", [True, False], ids=["together", "one by one"])
def test_messages_are_numbered_by_turn(
    story: Story, address: Address, letters: str, turns: list[int], at_once: bool
) -> None:
    drafts = roles(letters)

    if at_once:
        made = story.messages.append(address, drafts)
    else:
        made = [message for draft in drafts for message in story.messages.append(address, [draft])]

    assert [message.turn for message in made] == turns


def test_a_turn_given_in_the_file_is_kept_and_counted_on_from(story: Story, address: Address) -> None:
    drafts = [
        Draft("narrator", "a", turn=7),
        Draft("narrator", "b"),
        Draft("player", "c"),
        Draft("player", "d", turn=0),
    ]

    made = story.messages.append(address, drafts)

    assert [message.turn for message in made] == [7, 7, 8, 0]


def test_messages_come_back_as_they_were_given(story: Story, address: Address) -> None:
    draft = Draft(
        "player",
        "The DROP TABLE message; -- '\"%_ 北塔\u2028\r\n\t👩‍👩‍👧",
        speaker="Mira O'Hara",
        kind="do",
        ref="file:1",
        turn=3,
        time="1:56 pm on 8 May, 2023",
        origin="typed",
        caption="a silver key",
        extra='{"swipes":3}',
    )

    (made,) = story.messages.append(address, [draft])

    assert story.messages.read(address) == [made]
    assert story.messages.get(address, made.id) == made
    kept = {name: getattr(made, name) for name in Draft.__dataclass_fields__ if name != "takes"}
    assert Draft(**kept) == draft
    assert (made.coordinate, made.seq, made.revision, made.hidden, made.deleted) == (
        Coordinate(0, 0),
        0,
        0,
        False,
        False,
    )
    assert made.created == "2024-05-08T13:56:00.000Z"


def test_depth_and_append_number_rise(story: Story, address: Address, say: Say) -> None:
    say("> a", "b")
    say("> c")

    messages = story.messages.read(address)

    assert [message.coordinate for message in messages] == [Coordinate(0, 0), Coordinate(0, 1), Coordinate(0, 2)]
    assert [message.seq for message in messages] == [0, 1, 2]
    assert story.sessions.get(address).messages == 3


def test_appending_nothing_changes_nothing(story: Story, address: Address) -> None:
    before = story.sessions.get(address)

    assert story.messages.append(address, []) == []
    assert story.sessions.get(address) == before


def test_a_head_that_moved_is_a_conflict(story: Story, address: Address, say: Say, told: Told) -> None:
    say("> a")
    story.messages.append(address, [Draft("narrator", "b")], Coordinate(0, 0))

    with pytest.raises(Conflict, match="moved on to 0:1") as caught:
        story.messages.append(address, [Draft("narrator", "c")], Coordinate(0, 0))

    assert caught.value.data["head"] == Coordinate(0, 1)
    assert told() == ["a", "b"]


def test_a_batch_is_all_or_nothing(story: Story, address: Address, told: Told) -> None:
    with pytest.raises(ParameterError):
        story.messages.append(address, [Draft("player", "a"), Draft("player", "b\0")])

    assert told() == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"text": "a\0b"}, "text", id="NUL"),
        pytest.param({"text": "\ud800"}, "text", id="lone surrogate"),
        pytest.param({"speaker": "\udfff"}, "speaker", id="speaker"),
        pytest.param({"ref": "\0"}, "ref", id="ref"),
        pytest.param({"caption": "\0"}, "caption", id="caption"),
        pytest.param({"extra": "\0"}, "extra", id="extra"),
        pytest.param({"time": "\0"}, "time", id="time"),
        pytest.param({"role": "dragon"}, "role", id="role"),
        pytest.param({"origin": "heaven"}, "origin", id="origin"),
        pytest.param({"turn": -1}, "turn", id="turn"),
        pytest.param({"kind": "a\nb"}, "kind", id="kind"),
        pytest.param({"takes": (Draft("player", "\0"),)}, "text", id="a take"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_field(
    story: Story, address: Address, change: dict[str, Any], field: str
) -> None:
    draft = replace(Draft("player", "text"), **change)

    with pytest.raises(ParameterError) as caught:
        story.messages.append(address, [draft])

    assert caught.value.field == field


@pytest.mark.parametrize(
    ("role", "text", "origin"),
    [
        pytest.param("player", "I open the door.", "typed", id="short"),
        pytest.param("player", "x" * 2_000, "typed", id="as long as it may be"),
        pytest.param("player", "x" * 2_001, "pasted", id="long"),
        pytest.param("player", "line\n" * 19 + "line", "typed", id="twenty lines"),
        pytest.param("player", "line\n" * 20 + "line", "pasted", id="more lines"),
        pytest.param("narrator", "The door opens.", "generated", id="narrator"),
    ],
)
def test_where_an_unmarked_text_comes_from_is_told_by_its_size(
    story: Story, address: Address, role: Role, text: str, origin: str
) -> None:
    (made,) = story.messages.append(address, [Draft(role, text, origin="")])

    assert made.origin == origin


def with_refs(*pairs: tuple[str, str]) -> Sequence[Draft]:
    return [Draft("narrator", text, ref=ref) for ref, text in pairs]


def test_a_reference_seen_before_is_skipped(story: Story, address: Address, told: Told) -> None:
    story.messages.append(address, with_refs(("1", "a"), ("2", "b")))

    made = story.messages.append(address, with_refs(("1", "a"), ("2", "b"), ("3", "c"), ("3", "c")))

    assert [message.ref for message in made] == ["3"]
    assert told() == ["a", "b", "c"]


@pytest.mark.parametrize("where", ["stored", "in the same batch"])
def test_a_reference_with_another_text_is_an_error(story: Story, address: Address, told: Told, where: str) -> None:
    first, second = with_refs(("1", "a")), with_refs(("2", "b"), ("1", "other"))

    if where == "stored":
        story.messages.append(address, first)
    else:
        second = [*first, *second]

    with pytest.raises(Conflict, match="'1' is already there with another text") as caught:
        story.messages.append(address, second)

    assert caught.value.data["ref"] == "1"
    assert "b" not in told()


def test_an_edit_does_not_make_the_file_unreadable(story: Story, address: Address) -> None:
    (made,) = story.messages.append(address, with_refs(("1", "a")))
    story.messages.edit(address, made.id, "better")

    assert story.messages.append(address, with_refs(("1", "a"))) == []
    assert story.messages.append(address, with_refs(("1", "better"))) == []


def test_the_same_reference_in_another_session_is_another_message(story: Story, address: Address) -> None:
    other = story.sessions.create("w", session_id="t").address
    story.messages.append(address, with_refs(("1", "a")))

    assert [message.text for message in story.messages.append(other, with_refs(("1", "z")))] == ["z"]


def test_takes_stand_beside_their_message(story: Story, address: Address, told: Told) -> None:
    chosen = Draft("narrator", "chosen", ref="2", takes=(Draft("narrator", "first"), Draft("narrator", "second")))

    made = story.messages.append(address, [Draft("player", "ask"), chosen, Draft("player", "next")])

    assert told() == ["ask", "chosen", "next"]
    assert {message.text: (message.coordinate.depth, message.turn) for message in made} == {
        "ask": (0, 1),
        "chosen": (1, 1),
        "first": (1, 1),
        "second": (1, 1),
        "next": (2, 2),
    }
    assert len({message.coordinate for message in made}) == 5


def test_the_first_message_of_a_story_can_have_takes(story: Story, address: Address) -> None:
    story.messages.append(address, [Draft("narrator", "hello", takes=(Draft("narrator", "good day"),))])

    takes = story.tree.takes(address)

    assert [take.current for take in takes] == [True, False]
    assert story.tree.switch_take(address, 2).head == Coordinate(1, 0)


def test_an_answer_follows_its_question_while_the_head_waits_there(
    story: Story, address: Address, say: Say, told: Told
) -> None:
    (ask,) = say("> ask")

    story.messages.answer(address, ask.coordinate, [Draft("narrator", "answer")])

    assert told() == ["ask", "answer"]


def test_a_late_answer_becomes_a_take_and_leaves_the_head_alone(
    story: Story, address: Address, say: Say, told: Told
) -> None:
    ask, *_ = say("> ask", "answer", "> next")
    head = story.sessions.get(address).head

    (late,) = story.messages.answer(address, ask.coordinate, [Draft("narrator", "late")])

    assert told() == ["ask", "answer", "next"]
    assert story.sessions.get(address).head == head
    assert late.turn == 1
    story.tree.undo(address)
    assert [take.first for take in story.tree.takes(address)] == [Coordinate(0, 1), late.coordinate]


def test_a_session_that_is_not_there_is_named(story: Story) -> None:
    with pytest.raises(NotFound, match="no session 'nowhere'"):
        story.messages.append(Address("w", "nowhere"), [Draft("player", "a")])


def test_several_calls_share_one_transaction(story: Story, address: Address, told: Told) -> None:
    def turn(tx: Tx) -> None:
        story.messages.append(address, [Draft("player", "a")], ROOT, tx=tx)
        assert [message.text for message in story.messages.read(address, tx=tx)] == ["a"]
        raise KeyError

    with pytest.raises(KeyError):
        story.write(turn, name="turn")

    assert told() == []
