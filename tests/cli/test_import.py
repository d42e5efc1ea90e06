"""`talekeeper import` as people use it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_an_import_says_what_came_and_a_second_one_that_it_was_there(tk: Run, chat: Path) -> None:
    first = tk("import", chat)
    second = tk("import", chat)

    assert (first.code, first.out) == (0, f"{chat}: 5 messages imported into 'harbour' (new)\n")
    assert (second.code, second.out) == (0, f"{chat}: 0 messages imported into 'harbour', 5 already there\n")


def test_json_gives_the_counts(tk: Run, chat: Path) -> None:
    (report,) = tk("import", chat, "--json").json["files"]

    assert (report["format"], report["imported"], report["already_there"], report["error"]) == ("jsonl", 5, 0, None)
    assert report["sessions"] == [{"session": "harbour", "created": True, "imported": 5, "already_there": 0}]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(b'{"text": "a"}\n{"text": "b\xff"}', "file.jsonl:2: not UTF-8", id="not UTF-8"),
        pytest.param(b'{"text": "a"}\n{"text": "b\\u0000"}', "file.jsonl:2: text", id="NUL"),
        pytest.param(b'{"text": "a"}\n{"text": "b\\ud800"}', "file.jsonl:2: text", id="lone surrogate"),
        pytest.param(b'{"text": "a"}\n{"text": "b', "file.jsonl:2: the JSON line is cut off", id="cut off"),
        pytest.param(b'{"text": "a"}\n{"id": "#1", "text": "b"}', "file.jsonl:2: the message '#1' is", id="ref twice"),
        pytest.param(b'{"text": "a"}\n[]', "file.jsonl:2: the line is JSON but not an object", id="no object"),
    ],
)
def test_bad_input_is_one_sentence_and_what_stood_before_it_is_kept(
    tk: Run, tmp_path: Path, content: bytes, sentence: str
) -> None:
    (tmp_path / "file.jsonl").write_bytes(content)

    outcome = tk("import", "file.jsonl")

    assert outcome.code == 1
    assert outcome.err.startswith(f"talekeeper: {sentence}")
    assert outcome.err.count("\n") == 1
    assert tk("sessions", "show", "file", "--json").json["messages"] == 1


def test_a_bad_file_does_not_keep_the_others_out(tk: Run, tmp_path: Path, chat: Path) -> None:
    (tmp_path / "bad.txt").write_text("once upon a time")

    outcome = tk("import", "bad.txt", chat)

    assert outcome.code == 1
    assert "5 messages imported" in outcome.out


def test_a_file_that_is_not_there_is_one_sentence(tk: Run) -> None:
    outcome = tk("import", "absent.txt")

    assert outcome.code == 1
    assert outcome.err.startswith("talekeeper: absent.txt: no such file or directory; ")


def test_what_is_piped_in_wants_a_session(tk: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe:
        buffer = io.BytesIO(b"Ann: Hello\nMira: Hi\n")

    monkeypatch.setattr(sys, "stdin", Pipe)
    without = tk("import", "-")
    Pipe.buffer.seek(0)
    named = tk("import", "-", "--session", "piped", "--player", "Ann")

    assert (without.code, named.code) == (1, 0)
    assert "--session NAME" in without.err
    assert named.out == "-: 2 messages imported into 'piped' (new)\n"


def test_a_dry_run_leaves_no_session(tk: Run, chat: Path) -> None:
    outcome = tk("import", chat, "--dry-run")

    assert outcome.out == f"{chat}: 5 messages would be imported into 'harbour' (new)\n"
    assert tk("sessions", "list", "--json").json["sessions"] == []


def test_the_format_can_be_named(tk: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text('{"text": "said: by nobody"}')

    assert tk("import", "a.txt", "--format", "sillytavern").out == ""
    assert tk("import", "a.txt", "--format", "jsonl").code == 0


def test_a_new_session_has_the_plugins_that_are_on(tk: Run, chat: Path) -> None:
    tk("plugins", "enable", "lorebook")
    tk("import", chat)

    plugins = tk("sessions", "plugins", "harbour", "--json").json["plugins"]

    assert {"lorebook"} == {plugin["id"] for plugin in plugins if plugin["state"] in ("enabled", "active")}


def test_a_file_of_a_plugins_kind_goes_to_its_importer(told: Run, tmp_path: Path) -> None:
    (tmp_path / "harbour.lore").write_text("bridge=The old bridge has nine arches.\nnothing=\n")

    first = told("import", "harbour.lore")
    second = told("import", "harbour.lore", "--importer", "lorebook/lines", "--session", "harbour", "--json")

    assert first.out == "harbour.lore: 1 added in 'harbour', with lorebook/lines\n"
    assert "left out: nothing: it says nothing" in first.err
    assert second.json["files"][0]["unchanged"] == ["entries/bridge"]
    assert "nine arches" in told("search", "arches").out


def test_an_unknown_importer_is_told_those_there_are(told: Run, tmp_path: Path) -> None:
    (tmp_path / "harbour.lore").write_text("a=b")

    outcome = told("import", "harbour.lore", "--importer", "lorebook/lins")

    assert outcome.code == 1
    assert "lorebook/lines" in outcome.err


def test_a_metadata_line_of_over_a_million_characters_is_read(tk: Run, tmp_path: Path) -> None:
    header = {"user_name": "Ann", "character_name": "Mira", "chat_metadata": {"notes": "secret " * 200_000}}
    lines = [header, {"name": "Mira", "is_user": False, "mes": "Hello"}]
    (tmp_path / "long.jsonl").write_text("\n".join(map(json.dumps, lines)))

    outcome = tk("import", "long.jsonl")

    assert (outcome.code, outcome.out) == (0, "long.jsonl: 1 message imported into 'long' (new)\n")
    assert tk("search", "secret", "--json").json["results"] == []
