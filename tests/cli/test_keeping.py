"""`talekeeper status`, `doctor`, `backup`: a home that is looked after, and one that cannot be used."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.home import Home
from talekeeper.story import Address, Draft

Run = Callable[..., Any]


def test_status_counts_what_there_is(told: Run, home: Path) -> None:
    facts = told("status", "--json").json

    assert (facts["home"], facts["sessions"], facts["messages"]) == (str(home), 1, 5)
    assert "1 session with 5 messages, in 1 workspace (default)" in told("status").out


def test_a_sound_home_is_said_to_be_sound(told: Run) -> None:
    outcome = told("doctor")

    assert outcome.code == 0
    assert outcome.out.splitlines()[:3] == ["database: sound", "index: sound", "forgotten words: sound"]


def test_an_index_that_lost_a_passage_is_found_and_rebuilt(told: Run, home: Path) -> None:
    with sqlite3.connect(home / "talekeeper.sqlite") as db:
        db.execute("DELETE FROM doc WHERE doc = 2")
        db.execute("DELETE FROM tail WHERE doc = 2")
        db.execute("UPDATE part SET stamp = stamp + 1")
    db.close()

    sick = told("doctor", "--index", "--json")
    healed = told("doctor", "--index", "--rebuild")

    assert (sick.code, len(sick.json["faults"]["index"])) == (1, 1)
    assert (healed.code, healed.out.splitlines()[:2]) == (0, ["index: rebuilt", "index: sound"])
    assert told("search", "brass", "--json").json["results"]


@pytest.mark.parametrize("remedy", [[], ["--rebuild"]], ids=["closing", "rebuilding"])
def test_forgotten_words_left_by_a_process_that_died_are_told_and_wiped_out(
    told: Run, home: Path, remedy: list[str]
) -> None:
    address = Address("default", "harbour")
    with Home.open(home) as opened:
        opened.story.messages.append(address, [Draft("narrator", f"wave {number}") for number in range(300)])
    killed = Home.open(home)
    message = killed.story.messages.read(address)[2]
    killed.story.messages.delete(address, message.id)
    killed.story.messages.purge(address, [message.id])
    killed.db.close()

    first = told("doctor", "--index", "--json", *remedy)
    second = told("doctor", "--index")

    left = [] if remedy else ["default/harbour: the index still holds some"]
    assert (first.code, first.json["faults"]["forgotten words"]) == (len(left), left)
    assert (second.code, second.out.splitlines()[1]) == (0, "forgotten words: sound")


def test_a_backup_is_a_home_to_go_back_to(told: Run, tmp_path: Path) -> None:
    outcome = told("backup", "copy.sqlite")
    (tmp_path / "other").mkdir()
    shutil.copy(tmp_path / "copy.sqlite", tmp_path / "other" / "talekeeper.sqlite")

    assert outcome.code == 0
    assert told("--home", "other", "search", "brass", "--json").json["results"]


@pytest.mark.parametrize("target", ["there.sqlite", "no/folder/copy.sqlite"], ids=["taken", "no folder"])
def test_a_backup_that_cannot_be_written_is_one_sentence(told: Run, tmp_path: Path, target: str) -> None:
    (tmp_path / "there.sqlite").write_text("mine")

    outcome = told("backup", target)

    assert outcome.code == 1
    assert outcome.err.startswith(f"talekeeper: {target}: ")
    assert outcome.err.count("\n") == 1
    assert (tmp_path / "there.sqlite").read_text() == "mine"


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 100], ids=["empty", "something else"])
def test_a_damaged_database_is_refused_and_left_as_it_is(tk: Run, home: Path, content: bytes) -> None:
    file = home / "talekeeper.sqlite"
    file.write_bytes(content)

    outcome = tk("status")

    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert file.read_bytes() == content


def test_a_database_from_the_future_is_refused(tk: Run, home: Path) -> None:
    with sqlite3.connect(home / "talekeeper.sqlite") as db:
        db.execute("PRAGMA user_version = 9999")
    db.close()

    outcome = tk("status")

    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "update Talekeeper" in outcome.err


def test_a_home_that_cannot_be_made_is_one_sentence(tk: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    outcome = tk("--home", "file/home", "status")

    assert outcome.code == 2
    assert "the home folder cannot be made" in outcome.err
    assert "--home DIR" in outcome.err
