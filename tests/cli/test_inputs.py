"""Several files, files that plugins claim, lore before there is a session, and what is not UTF-8."""

from __future__ import annotations

import io
import json
import os
import select
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

SECOND = """
[plugin]
id = "second"
version = "1.0.0"
api = 1
summary = "Reads the same files."
module = "code"

[contributes.data.entries]
version = 1
schema = "entry.schema.json"

[[contributes.importers]]
id = "more"
match = ["*.lore"]
"""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait for a writer to a pipe ends at once; nobody is going to write into it."""
    real = select.poll

    class Poll:
        def __init__(self) -> None:
            self._real = real()
            self.register = self._real.register

        def poll(self, timeout: int) -> list[tuple[int, int]]:
            return self._real.poll(min(timeout, 20))

    monkeypatch.setattr(select, "poll", Poll)


def test_one_files_fault_neither_stops_the_others_nor_breaks_the_json(tk: Run, chat: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("Ann: Hello\nMira: Hi\n")
    (tmp_path / "folder").mkdir()

    outcome = tk("import", chat, "missing", "folder", other, "--json")

    files = outcome.json["files"]
    assert outcome.code == 1
    assert [file["file"] for file in files] == [str(chat), "missing", "folder", str(other)]
    assert [file["imported"] for file in files] == [5, 0, 0, 2]
    assert files[0]["error"] is None
    assert files[1]["error"].startswith("missing: no such file or directory; ")
    assert files[2]["error"] == "folder: it is a folder; name the files in it"


def test_what_is_wrong_with_an_importer_stands_in_its_files_place(told: Run, tmp_path: Path) -> None:
    (tmp_path / "a.lore").write_text("bridge=Nine arches.")

    outcome = told("import", "a.lore", "b.lore", "--importer", "lorebook/lines", "--json")

    assert outcome.code == 1
    assert [file["error"] is None for file in outcome.json["files"]] == [True, False]


def test_a_file_a_plugin_claims_by_its_name_is_not_taken_for_a_transcript(told: Run, tmp_path: Path) -> None:
    (tmp_path / "harbour.lore").write_text("Ann: Hello=there\nMira: Hi=you\n")

    claimed = told("import", "harbour.lore")
    named = told("import", "harbour.lore", "--format", "transcript")

    assert claimed.out == "harbour.lore: 2 added in 'harbour', with lorebook/lines\n"
    assert "2 messages imported into 'harbour'" in named.out


def test_a_conversation_with_a_mark_of_its_own_stays_one_whatever_its_name(told: Run, tmp_path: Path) -> None:
    (tmp_path / "chat.lore").write_text('{"session": "marked", "text": "hello"}\n')

    outcome = told("import", "chat.lore")

    assert outcome.out == "chat.lore: 1 message imported into 'marked' (new)\n"


def test_two_plugins_that_claim_a_file_are_named_with_the_way_to_choose(
    told: Run, tmp_path: Path, plugin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = tmp_path / "second"
    second.mkdir()
    (second / "plugin.toml").write_text(SECOND)
    (second / "entry.schema.json").write_text((plugin_folder / "entry.schema.json").read_text())
    (second / "code.py").write_text((plugin_folder / "code.py").read_text().replace('"lines"', '"more"'))
    code = (second / "code.py").read_text()
    (second / "code.py").write_text("\n".join(line for line in code.splitlines() if "registry.command" not in line))
    monkeypatch.setenv("TALEKEEPER_PLUGINS", "lorebook,second")
    (tmp_path / "harbour.lore").write_text("Ann: Hello=there\n")
    told("--plugin", second, "plugins", "enable", "second")
    told("--plugin", second, "sessions", "new", "both")

    outcome = told("--plugin", second, "import", "harbour.lore", "--session", "both")

    assert outcome.code == 1
    assert outcome.err == (
        "talekeeper: harbour.lore: lorebook/lines and second/more read files of this name, and it may be a transcript "
        "as well; choose with --importer PLUGIN/ID or --format transcript\n"
    )


@pytest.mark.parametrize("more", [[], ["--importer", "lorebook/lines"], ["--session", "evening"]])
@pytest.mark.parametrize("content", ["bridge=Nine arches.", "Ann: Hello=there"])
def test_lore_before_any_session_is_told_how_to_make_one(
    tk: Run, tmp_path: Path, content: str, more: list[str]
) -> None:
    name = "evening" if "--session" in more else "NAME"
    (tmp_path / "harbour.lore").write_text(content)

    refused = tk("import", "harbour.lore", *more)
    made = tk("sessions", "new", "evening")
    imported = tk("import", "harbour.lore", *more)

    assert refused.code == 1
    assert refused.err == (
        "talekeeper: harbour.lore: this is lore, which goes into a session, and the workspace 'default' has none yet; "
        f"import a conversation first, or make a session with 'talekeeper sessions new {name}', and import it again\n"
    )
    assert (made.code, imported.code) == (0, 0)


def test_a_transcript_that_an_importer_out_of_work_would_read_is_taken_with_a_word(told: Run, tmp_path: Path) -> None:
    (tmp_path / "harbour.lore").write_text("Ann: Hello=there")
    told("sessions", "plugins", "harbour", "-lorebook")

    outcome = told("import", "harbour.lore", "--session", "harbour")

    assert outcome.code == 0
    assert outcome.err.startswith(
        "harbour.lore is read as a transcript; lorebook/lines reads files of this name, but is off: "
    )


def test_a_dry_run_says_of_lore_that_it_cannot_be_tried(told: Run, tmp_path: Path) -> None:
    (tmp_path / "harbour.lore").write_text("bridge=Nine arches.")

    outcome = told("import", "harbour.lore", "--dry-run")

    assert "a plugin's importer cannot be tried without writing; leave --dry-run away for it" in outcome.err
    assert told("data", "list", "lorebook/entries", "--json").json["live"] == 0


@pytest.mark.usefixtures("impatient")
def test_lore_comes_through_a_pipe(told: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Pipe:
        buffer = io.BytesIO(b"bridge=Nine arches.\n")

    monkeypatch.setattr(sys, "stdin", Pipe)
    os.mkfifo(tmp_path / "pipe.lore")

    piped = told("import", "-", "--importer", "lorebook/lines")
    nobody = told("import", "pipe.lore", "--importer", "lorebook/lines")

    assert piped.out == "-: 1 added in 'harbour', with lorebook/lines\n"
    assert "it is a pipe into which nobody writes" in nobody.err


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "not UTF-8": lambda path: path.write_bytes(b'{"body": "\xff"}'),
    "UTF-16": lambda path: path.write_bytes(b"\xff\xfe{\x00}\x00"),
    "a list": lambda path: path.write_text("[]"),
    "cut off": lambda path: path.write_text("{"),
    "empty": lambda path: path.write_text(""),
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "absent": lambda _: None,
}


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_record_from_a_file_that_cannot_be_read_is_one_sentence(told: Run, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "value.json"
    UNREADABLE[kind](path)

    outcome = told("data", "add", "lorebook/entries", "--file", path)

    assert outcome.code == 1
    assert outcome.err.startswith(f"talekeeper: {path}")
    assert outcome.err.count("\n") == 1
    assert "unexpected" not in outcome.err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "cp1252", "utf-16-le"])
def test_json_stays_json_on_a_terminal_of_any_encoding(
    told: Run, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    told("data", "add", "lorebook/entries", "--key", "k", "--body", "小明 says é 🦊")
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", out)

    told("data", "list", "lorebook/entries", "--json")

    out.flush()
    (record,) = json.loads(out.buffer.getvalue().decode(encoding))["records"]
    assert record["value"]["body"] == "小明 says é 🦊"


@pytest.mark.parametrize("form", ["jsonl", "sillytavern", "markdown"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16-le"])
def test_an_export_to_stdout_is_utf8_whatever_the_terminal(
    tk: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, encoding: str, form: str
) -> None:
    (tmp_path / "a.txt").write_text("Ann: 小明 says é 🦊\n", encoding="utf-8")
    tk("import", "a.txt")
    tk("export", "a", "--format", form, "-o", "file")
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", out)

    tk("export", "a", "--format", form)

    out.flush()
    printed, kept = out.buffer.getvalue(), (tmp_path / "file").read_bytes()
    assert "小明 says é 🦊".encode() in printed
    assert form == "jsonl" or printed == kept  # an archive says when it was written
    (tmp_path / "printed").write_bytes(printed)
    assert form == "markdown" or tk("--home", "other", "import", "printed").code == 0


@pytest.mark.parametrize("command", [("export", "-o"), ("backup",), ("doctor", "--home"), ("status", "--home")])
def test_a_name_too_long_for_any_file_is_told_with_a_cure(told: Run, command: tuple[str, ...]) -> None:
    outcome = told(*command, "n" * 5000, "--json")

    if command[0] == "doctor":
        assert (outcome.code, outcome.json["state"]) == (1, "failed")
    else:
        assert outcome.code in {1, 2}
        assert outcome.json["error"]["cure"]
    assert "name too long" in outcome.out


def test_a_file_that_goes_behind_another_of_its_name_says_so(tk: Run, tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text('{"id": "m1", "speaker": "Ann", "text": "Rain."}\n')
    (tmp_path / "chat.txt").write_text("Ann: Hello.\nBob: Good evening.\n")

    first = tk("import", "chat.jsonl")
    second = tk("import", "chat.txt")
    again = tk("import", "chat.txt")
    apart = tk("import", "chat.txt", "--session", "apart")

    assert (
        second.err
        == "  'chat' was there, and is the file's name too; --session NAME gives a file a session of its own\n"
    )
    assert first.err == again.err == apart.err == ""
