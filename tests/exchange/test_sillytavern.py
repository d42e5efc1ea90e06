"""SillyTavern's chats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.errors import ImportFileError

HEADER = {"user_name": "Ann", "character_name": "Mira", "create_date": "2024-3-5@22h15m30s", "chat_metadata": {"x": 1}}
GREETING = {"name": "Mira", "is_user": False, "is_system": False, "send_date": "March 5, 2024 10:15pm", "mes": "Hi."}


def test_the_metadata_line_is_no_message(read: Callable[..., Any], lines_of: Callable[..., str]) -> None:
    reading = read("sillytavern", lines_of(HEADER, GREETING))

    (entry,) = reading.entries
    assert (entry.line, entry.draft.text, entry.draft.speaker, entry.draft.ref) == (2, "Hi.", "Mira", "#1")
    assert (entry.draft.role, entry.draft.time) == ("narrator", "March 5, 2024 10:15pm")
    assert reading.notes.taken == {}


def test_the_users_lines_are_the_players(read: Callable[..., Any], lines_of: Callable[..., str]) -> None:
    content = lines_of(HEADER, {"is_user": True, "mes": "Hello", "send_date": 1709676930123})

    draft = read("sillytavern", content).entries[0].draft

    assert (draft.role, draft.speaker, draft.time) == ("player", "Ann", "1709676930123")


def test_a_system_line_keeps_its_role(read: Callable[..., Any], lines_of: Callable[..., str]) -> None:
    reading = read("sillytavern", lines_of(HEADER, {**GREETING, "is_system": True}))

    assert reading.entries[0].draft.role == "system"
    assert reading.notes.taken == {"a message that SillyTavern hides is kept and not searched": (1, 2)}


def test_swipes_become_takes_and_the_chosen_one_is_the_message(
    read: Callable[..., Any], lines_of: Callable[..., str]
) -> None:
    swiped = {**GREETING, "mes": "two", "swipes": ["one", "two", "three"], "swipe_id": 1}

    draft = read("sillytavern", lines_of(HEADER, swiped)).entries[0].draft

    assert (draft.text, draft.ref) == ("two", "#1/1")
    assert [(take.text, take.ref) for take in draft.takes] == [("one", "#1"), ("three", "#1/2")]


@pytest.mark.parametrize("chosen", [None, -1, 7, "1"], ids=["absent", "negative", "too large", "text"])
def test_without_a_usable_swipe_id_the_swipe_like_the_text_is_chosen(
    read: Callable[..., Any], lines_of: Callable[..., str], chosen: object
) -> None:
    swiped = {**GREETING, "mes": "two", "swipes": ["one", "two"], "swipe_id": chosen}

    draft = read("sillytavern", lines_of(HEADER, swiped)).entries[0].draft

    assert (draft.text, draft.ref, [take.text for take in draft.takes]) == ("two", "#1/1", ["one"])


def test_an_edited_message_wins_over_its_swipe(read: Callable[..., Any], lines_of: Callable[..., str]) -> None:
    swiped = {**GREETING, "mes": "one, edited", "swipes": ["one", "", "two"], "swipe_id": 0}

    draft = read("sillytavern", lines_of(HEADER, swiped)).entries[0].draft

    assert (draft.text, [take.text for take in draft.takes]) == ("one, edited", ["two"])


def test_a_chat_that_has_grown_keeps_the_refs_it_had(read: Callable[..., Any], lines_of: Callable[..., str]) -> None:
    before = lines_of(HEADER, GREETING)
    swiped = {**GREETING, "mes": "Hey.", "swipes": ["Hi.", "Hey."], "swipe_id": 1}

    old = read("sillytavern", before).entries[0].draft
    new = read("sillytavern", lines_of(HEADER, swiped, GREETING)).entries[0].draft

    assert {old.ref: old.text}.items() <= {draft.ref: draft.text for draft in (new, *new.takes)}.items()


def test_a_line_that_is_neither_is_noted(read: Callable[..., Any], lines_of: Callable[..., str]) -> None:
    reading = read("sillytavern", lines_of(HEADER, GREETING, {"strange": 1}, {**GREETING, "mes": " "}))

    assert reading.notes.taken == {"neither a message nor metadata": (1, 3), "blank text": (1, 4)}


def test_a_bad_swipe_names_its_line(read: Callable[..., Any], lines_of: Callable[..., str]) -> None:
    with pytest.raises(ImportFileError, match=r"chat\.txt:2: `swipes` must be a list of texts"):
        read("sillytavern", lines_of(HEADER, {**GREETING, "swipes": [5]}))


def test_macros_are_filled_in_from_the_header_in_the_swipes_too(
    read: Callable[..., Any], lines_of: Callable[..., str]
) -> None:
    message = {
        **GREETING,
        "mes": "{{char}} waves at {{ User }}.",
        "swipes": ["{{user}}, sit!", "{{char}} waves at {{ User }}."],
        "swipe_id": 1,
    }

    draft = read("sillytavern", lines_of(HEADER, message)).entries[0].draft

    assert (draft.text, draft.ref) == ("Mira waves at Ann.", "#1/1")
    assert [take.text for take in draft.takes] == ["Ann, sit!"]


@pytest.mark.parametrize(
    "text",
    [
        "{user} and {char}",
        "{{users}}",
        "{{ user",
        "<user>",
        "{{random:a,b}}",
        "{{charIfNotGroup}}",
        "user char",
        "}}{{",
    ],
)
def test_what_is_no_macro_of_a_name_stays_as_it_is_written(
    read: Callable[..., Any], lines_of: Callable[..., str], text: str
) -> None:
    assert read("sillytavern", lines_of(HEADER, {**GREETING, "mes": text})).entries[0].draft.text == text


@pytest.mark.parametrize("header", [{"chat_metadata": {}}, {"user_name": "unused", "character_name": "unused"}])
def test_a_macro_of_an_unknown_name_stays(
    read: Callable[..., Any], lines_of: Callable[..., str], header: dict[str, Any]
) -> None:
    message = {**GREETING, "mes": "{{char}} and {{user}}"}

    texts = [read("sillytavern", lines_of(header, message), player).entries[0].draft.text for player in (None, "Jonas")]

    assert texts == ["{{char}} and {{user}}", "{{char}} and Jonas"]


def test_a_name_is_put_in_as_it_is(read: Callable[..., Any], lines_of: Callable[..., str]) -> None:
    odd = {"user_name": r"\1 {{char}}", "character_name": "{{user}}"}

    draft = read("sillytavern", lines_of(odd, {**GREETING, "mes": "{{user}}"})).entries[0].draft

    assert draft.text == r"\1 {{char}}"


@pytest.mark.parametrize("key", ["user_name", "character_name"])
def test_a_name_no_database_could_hold_names_its_line(
    read: Callable[..., Any], lines_of: Callable[..., str], key: str
) -> None:
    with pytest.raises(ImportFileError, match=rf"chat\.txt:1: {key}: holds a NUL"):
        read("sillytavern", lines_of({**HEADER, key: "\0"}, GREETING))
