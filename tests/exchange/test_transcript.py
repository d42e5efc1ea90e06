"""Plain transcripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.exchange.formats.transcript import speaker_line


@pytest.mark.parametrize(
    ("line", "name", "said"),
    [
        pytest.param("Mira: Hello.", "Mira", "Hello.", id="one word"),
        pytest.param("user: hello", "user", "hello", id="lower case"),
        pytest.param("Old Tom the Smith: Aye.", "Old Tom the Smith", "Aye.", id="small words"),
        pytest.param("Dr. Ames: No.", "Dr. Ames", "No.", id="abbreviation"),
        pytest.param("Mira:", "Mira", "", id="text on the next line"),
        pytest.param("小明：你好：再见", "小明", "你好：再见", id="full-width colon"),
        pytest.param("王 小明:你好", "王 小明", "你好", id="no space before Chinese"),
        pytest.param("**Mira:** Hi.", "Mira", "Hi.", id="bold with colon"),
        pytest.param("**Mira**: Hi.", "Mira", "Hi.", id="bold"),
        pytest.param("[2024-03-05 22:15] Mira: Hi.", "Mira", "Hi.", id="time"),
        pytest.param("O'Neill-Smith : Hi.", "O'Neill-Smith", "Hi.", id="space before the colon"),
        pytest.param("Player 2: Hi.", "Player 2", "Hi.", id="number"),
        pytest.param("أحمد: مرحبا", "أحمد", "مرحبا", id="Arabic"),
    ],
)
def test_a_name_and_a_colon_open_a_message(line: str, name: str, said: str) -> None:
    found = speaker_line(line)

    assert found is not None
    assert (found[0], found[2]) == (name, said)


@pytest.mark.parametrize(
    "line",
    [
        "He said: no.",
        "the old man: no",
        "https://example.org/a",
        "12:30",
        "At 12:30 we left.",
        "  Mira: indented",
        "And then, at last: silence",
        "This Is A Very Long Heading: yes",
        "No colon at all",
        "",
        ": nothing before",
        "What?: yes",
    ],
)
def test_other_lines_go_on_with_the_message(line: str) -> None:
    assert speaker_line(line) is None


def test_the_named_player_always_opens_a_message() -> None:
    assert speaker_line("the old man: no", frozenset({"the old man"})) == ("the old man", None, "no")


def test_continuation_lines_and_paragraphs_belong_to_the_message(read: Callable[..., Any]) -> None:
    content = "It was night.\n\nMira: Hello.\nShe waved.\n\nThen she left.\n\nuser: Bye.\n"

    reading = read("transcript", content)

    drafts = [entry.draft for entry in reading.entries]
    assert [(d.speaker, d.role, d.text, d.ref) for d in drafts] == [
        ("", "narrator", "It was night.", "#1"),
        ("Mira", "narrator", "Hello.\nShe waved.\n\nThen she left.", "#2"),
        ("user", "player", "Bye.", "#3"),
    ]
    assert [entry.line for entry in reading.entries] == [1, 3, 8]


def test_the_time_in_brackets_is_kept_as_written(read: Callable[..., Any]) -> None:
    reading = read("transcript", "[5 March 2024, 22:15] Mira: Hi.")

    assert reading.entries[0].draft.time == "5 March 2024, 22:15"


def test_a_speaker_who_says_nothing_is_noted(read: Callable[..., Any]) -> None:
    reading = read("transcript", "Mira: a\nTom:\nMira: b\n")

    assert [entry.draft.ref for entry in reading.entries] == ["#1", "#3"]
    assert reading.notes.taken == {"blank text": (1, 2)}
