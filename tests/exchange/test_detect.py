"""A format is known by the content of its first lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from talekeeper.errors import ImportFileError
from talekeeper.exchange import detect_format


@pytest.mark.parametrize(
    ("content", "name"),
    [
        pytest.param('{"id": "a", "text": "x"}\n', "jsonl", id="our lines"),
        pytest.param('\ufeff\n{"text": "x"}', "jsonl", id="mark and blank line first"),
        pytest.param('{"user_name": "A", "character_name": "B"}\n', "sillytavern", id="metadata"),
        pytest.param('{"chat_metadata": {}}\n', "sillytavern", id="metadata without names"),
        pytest.param('{"name": "A", "mes": "x"}', "sillytavern", id="a message without metadata"),
        pytest.param("Mira: Hello", "transcript", id="speaker"),
        pytest.param("Night fell.\n\nMira: Hello", "transcript", id="narration first"),
        pytest.param("[2024-03-05] Mira: Hello", "transcript", id="a time in brackets"),
    ],
)
def test_the_format_is_known_by_its_first_lines(source: Callable[..., Any], content: str, name: str) -> None:
    file = source(content)

    assert detect_format(file) == name
    assert file.stream.tell() == 0


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param("", "chat.txt: the file is empty", id="empty"),
        pytest.param(" \n\n", "chat.txt: the file is empty", id="blank"),
        pytest.param("once upon a time\n", "chat.txt:1: no conversation", id="prose"),
        pytest.param("it went on\n" * 60 + "Note: one colon\n", "chat.txt:1: no conversation", id="prose with a colon"),
        pytest.param(
            '{"spec": "x", "data": {}}',
            "chat.txt:1: a JSON line of no known format (its keys: data, spec)",
            id="a card",
        ),
        pytest.param('{\n  "entries": {}\n}', "chat.txt:1: one JSON document over many lines", id="a lorebook"),
        pytest.param(b"\x89PNG\r\n", "chat.txt:1: not UTF-8", id="a picture"),
        pytest.param('{"text": "x"', "chat.txt:1: the JSON line is cut off", id="cut off"),
    ],
)
def test_what_is_no_conversation_is_one_sentence(
    source: Callable[..., Any], content: str | bytes, sentence: str
) -> None:
    with pytest.raises(ImportFileError) as fault:
        detect_format(source(content))

    assert str(fault.value).startswith(sentence)
