"""`talekeeper doctor` at a home that is ill: each fault a finding, everything else looked at all the same."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from talekeeper.errors import StoreUnusable
from talekeeper.home import Home
from talekeeper.story import Address, Draft, Story

Run = Callable[..., Any]


def change(file: Path, sql: str) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute(sql)
        db.commit()


def overwrite(file: Path, at: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(content)


def spoil_every_other_page(file: Path) -> None:
    for at in range(8_192, file.stat().st_size, 8_192):
        overwrite(file, at, b"\xff" * 4_096)


def put_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def put_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


SPOILERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "garbage": (lambda file: file.write_bytes(b"not a database at all" * 100), "damaged or not a database"),
    "zero bytes": (lambda file: file.write_bytes(b""), "the database is empty"),
    "cut": (lambda file: os.truncate(file, 40_000), "the database is cut short"),
    "first page": (lambda file: overwrite(file, 100, b"\xff" * 3_000), "the database is damaged"),
    "last page": (lambda file: overwrite(file, file.stat().st_size - 4_096, b"\xff" * 4_096), ""),
    "every other page": (spoil_every_other_page, ""),
    "a folder": (put_folder, "is a folder"),
    "a pipe": (put_pipe, "is a pipe"),
    "format": (lambda file: overwrite(file, 44, b"\0\0\0\x09"), "the database is damaged"),
    "foreign": (lambda file: change(file, "PRAGMA application_id = 7"), "belongs to another program"),
    "from the future": (lambda file: change(file, "PRAGMA user_version = 999"), "has version 999"),
    "no version": (lambda file: change(file, "PRAGMA user_version = 0"), "its tables are not of that version"),
    "no table": (lambda file: change(file, "DROP TABLE upkeep"), ""),
}


@pytest.mark.skipif(os.name != "posix", reason="pipes are POSIX")
@pytest.mark.parametrize("fault", SPOILERS)
def test_a_damaged_database_is_a_finding_among_others(told: Run, home: Path, fault: str) -> None:
    spoil, sentence = SPOILERS[fault]
    spoil(home / "talekeeper.sqlite")

    outcome = told("doctor", "--json")
    shown = told("doctor")

    assert (outcome.code, shown.code) == (1, 1)
    assert outcome.json["sound"] is False
    assert outcome.json["state"] in {"failed", "degraded"}
    assert outcome.json["reasons"]
    assert sentence in " ".join(outcome.json["faults"]["database"])
    assert "ask 'talekeeper doctor'" not in shown.out
    assert shown.out.splitlines()[-1].startswith(f"state: {outcome.json['state']} (")


def test_an_index_that_could_not_be_written_anew_is_not_said_to_be(told: Run, home: Path) -> None:
    sound = told("doctor", "--rebuild", "--json").json
    (home / "talekeeper.sqlite").write_bytes(b"not a database at all" * 100)

    unusable = told("doctor", "--rebuild", "--json").json

    assert (sound["rebuilt"], unusable["rebuilt"]) == (True, False)


def test_what_can_still_be_read_of_a_database_that_cannot_be_used_is_counted(told: Run, home: Path) -> None:
    change(home / "talekeeper.sqlite", "PRAGMA application_id = 7")

    outcome = told("doctor", "--json")

    assert outcome.json["readable"] == {"workspace": 1, "session": 1, "message": 5, "record": 0}
    assert "1 session row, 5 message rows" in told("doctor").out


@pytest.fixture
def long_told(told: Run, home: Path) -> Run:
    """Two sessions, the longer one with a segment."""
    with Home.open(home) as opened:
        opened.story.messages.append(
            Address("default", "harbour"), [Draft("narrator", f"wave {number}") for number in range(300)]
        )
        opened.story.sessions.create("default", session_id="quiet")
        opened.story.messages.append(Address("default", "quiet"), [Draft("narrator", "a quiet wave")])
    return told


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE posting SET data = x'02ff0000'",
        "UPDATE posting SET data = x''",
        "UPDATE segment SET columns = x'00'",
        "UPDATE segment SET n = 9",
        "UPDATE tail SET terms = '{' WHERE doc > 250",
        "UPDATE doc SET source = 40000 WHERE doc > 250",
        "DELETE FROM part_source",
        "DELETE FROM doc WHERE doc < 250",
    ],
)
def test_a_damaged_index_is_a_finding_and_a_rebuild_mends_it(long_told: Run, home: Path, sql: str) -> None:
    change(home / "talekeeper.sqlite", sql)

    sick = long_told("doctor", "--json")
    healed = long_told("doctor", "--rebuild", "--json")

    assert (sick.code, sick.json["state"], sick.json["reasons"]) == (1, "degraded", ["index"])
    assert (healed.code, healed.json["state"], healed.json["faults"]["index"]) == (0, "ok", [])
    assert long_told("--session", "harbour", "search", "wave", "--json").code in {0, 2}
    assert long_told("doctor").code == 0


def test_one_damaged_session_hides_no_other(long_told: Run, home: Path) -> None:
    change(home / "talekeeper.sqlite", "UPDATE posting SET data = x'00'")
    change(home / "talekeeper.sqlite", "DELETE FROM doc WHERE part <> (SELECT part FROM segment)")

    faults = long_told("doctor", "--json").json["faults"]["index"]

    assert [fault.split(":")[0] for fault in faults] == ["default/quiet", "default/harbour"]


def test_a_search_of_a_damaged_index_says_what_mends_it(long_told: Run, home: Path) -> None:
    change(home / "talekeeper.sqlite", "UPDATE posting SET data = x'00'")

    outcome = long_told("search", "--session", "harbour", "wave")

    assert outcome.code == 2
    assert "'talekeeper doctor --rebuild' makes it anew" in outcome.err


def test_the_size_of_the_index_is_told(long_told: Run) -> None:
    size = long_told("doctor", "--json").json["index"]

    assert (size["partitions"], size["passages"], size["segments"]) == (2, 306, 2)
    assert {name for name, count in size["bytes"].items() if count > 0} == {"postings", "columns", "tail", "names"}
    assert size["bytes"]["vectors"] == 0
    assert "for 306 passages in 2 partitions and 2 segments" in long_told("doctor").out


@pytest.mark.parametrize(
    "fault",
    [StoreUnusable("the disk is full"), sqlite3.OperationalError("no"), OSError(28, "No space left")],
    ids=lambda fault: type(fault).__name__,
)
def test_an_answer_stays_good_when_the_home_cannot_be_tidied_up(
    told: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: Exception
) -> None:
    def settle(_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(Story, "settle", settle)

    outcome = told("sessions", "list", "--json")

    assert outcome.code == 0
    assert outcome.json
    assert [record.getMessage().split(":")[0] for record in caplog.records] == [
        "nothing is lost, but the home was not tidied up before it was closed"
    ]


def test_a_change_stays_done_when_the_home_cannot_be_tidied_up(told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def settle(_: object, **__: object) -> None:
        raise StoreUnusable("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Story, "settle", settle)
        outcome = told("sessions", "undo", "harbour")

    assert outcome.code == 0
    assert told("sessions", "redo", "harbour").code == 0


def put_file(place: Path) -> None:
    place.write_text("")


def put_dangling(place: Path) -> None:
    place.symlink_to(place.with_name("nowhere"))


@pytest.mark.parametrize("put", [put_file, put_dangling])
def test_a_home_that_is_no_folder_is_named_with_a_cure(
    tk: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: Callable[[Path], None]
) -> None:
    put(tmp_path / "odd")
    monkeypatch.setenv("TALEKEEPER_HOME", str(tmp_path / "odd"))

    outcome = tk("status")

    assert outcome.code == 2
    assert f"{tmp_path / 'odd'}: the home is not a folder" in outcome.err


def test_a_home_that_may_not_be_used_is_named_with_a_cure(tk: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = os.access

    def access(path: str | Path, mode: int) -> bool:
        return Path(path) != home and allowed(path, mode)

    monkeypatch.setattr(os, "access", access)

    outcome = tk("status")

    assert outcome.code == 2
    assert f"{home}: this user may not read and write the home folder" in outcome.err


def test_a_rebuild_says_that_it_was_done(told: Run) -> None:
    outcome = told("doctor", "--rebuild")

    assert outcome.out.startswith("index: rebuilt\n")
    assert "rebuilt" not in told("doctor").out
