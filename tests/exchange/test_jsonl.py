"""Our own JSON Lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.errors import ImportFileError


def test_every_field_of_a_line_has_its_place(read: Callable[..., Any], lines_of: Callable[..., str]) -> None:
    row = {"id": "a:1", "session": "s", "speaker": "Mira", "text": "Hello.", "time": "2023-05-08", "turn": 4}

    reading = read("jsonl", lines_of({**row, "role": "user", "caption": "a bridge at dusk"}))

    (entry,) = reading.entries
    draft = entry.draft
    assert (entry.session, entry.line, draft.ref, draft.speaker, draft.text) == ("s", 1, "a:1", "Mira", "Hello.")
    assert (draft.time, draft.turn, draft.role, draft.caption) == ("2023-05-08", 4, "player", "a bridge at dusk")
    assert draft.origin == "imported"


@pytest.mark.parametrize(
    ("speaker", "mark", "player", "role"),
    [
        pytest.param("user", None, None, "player", id="a speaker called user"),
        pytest.param("Player", None, None, "player", id="a speaker called Player"),
        pytest.param("Mira", None, None, "narrator", id="anybody else"),
        pytest.param("Mira", None, "mira", "player", id="the named player"),
        pytest.param("user", None, "Mira", "narrator", id="user when the player is named"),
        pytest.param("Mira", "player", None, "player", id="the file's mark"),
        pytest.param("user", "assistant", None, "narrator", id="the mark before the name"),
        pytest.param("Mira", "system", "Mira", "system", id="a system line stays one"),
    ],
)
def test_the_role_comes_from_the_option_then_the_mark_then_the_name(
    read: Callable[..., Any],
    lines_of: Callable[..., str],
    speaker: str,
    mark: str | None,
    player: str | None,
    role: str,
) -> None:
    content = lines_of({"text": "x", "speaker": speaker, "role": mark})

    reading = read("jsonl", content, player)

    assert reading.entries[0].draft.role == role


def test_lines_without_an_id_are_known_by_their_place_in_their_session(
    read: Callable[..., Any], lines_of: Callable[..., str]
) -> None:
    content = lines_of({"session": "a", "text": "1"}, {"session": "b", "text": "2"}, {"session": "a", "text": "3"})

    reading = read("jsonl", content)

    assert [(e.session, e.draft.ref) for e in reading.entries] == [("a", "#1"), ("b", "#1"), ("a", "#2")]


def test_numbers_are_kept_as_written_for_ids_and_times(read: Callable[..., Any], lines_of: Callable[..., str]) -> None:
    content = lines_of({"id": 7, "text": "x", "time": 1669412100.5})

    reading = read("jsonl", content)

    assert (reading.entries[0].draft.ref, reading.entries[0].draft.time) == ("7", "1669412100.5")


def test_blank_texts_and_unknown_keys_are_noted_with_their_first_line(
    read: Callable[..., Any], lines_of: Callable[..., str]
) -> None:
    content = "\n" + lines_of({"text": "x", "meta": {}}, {"text": "  "}, {"text": "y", "meta": {}})

    reading = read("jsonl", content)

    assert [entry.line for entry in reading.entries] == [2, 4]
    assert reading.notes.taken == {"key 'meta' is not read": (2, 2), "blank text": (1, 3)}


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        pytest.param('{"speaker": "a"}', "the message has no `text`", id="no text"),
        pytest.param('{"text": 5}', "`text` must be text, not int", id="text is a number"),
        pytest.param('{"text": "x", "turn": -1}', "`turn` must be a whole number from 0 on, not -1", id="turn below 0"),
        pytest.param('{"text": "x", "turn": true}', "`turn` must be a whole number", id="turn is no number"),
        pytest.param('{"text": "x", "role": "god"}', "unknown `role` 'god'", id="role"),
        pytest.param('{"text": "x", "id": true}', "`id` must be text, not bool", id="id"),
        pytest.param(r'{"text": "a\u0000b"}', "text", id="NUL"),
        pytest.param(r'{"text": "a\ud800b"}', "text", id="lone surrogate"),
        pytest.param(r'{"text": "x", "speaker": "\udc00"}', "speaker", id="lone surrogate in a name"),
    ],
)
def test_a_bad_value_names_line_and_field(read: Callable[..., Any], row: str, sentence: str) -> None:
    with pytest.raises(ImportFileError) as fault:
        read("jsonl", '{"text": "good"}\n' + row)

    assert str(fault.value).startswith(f"chat.txt:2: {sentence}")
