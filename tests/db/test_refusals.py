"""A database that cannot be used is refused in one sentence and left as it is."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from talekeeper.clock import FixedClock, SystemClock
from talekeeper.db import Database, Tx
from talekeeper.db.connect import APPLICATION_ID, check_file
from talekeeper.errors import StoreError, StoreUnusable

NOBODY = 65534


def fill(tx: Tx) -> None:
    for number in range(200):
        tx.run(
            "INSERT INTO workspace(workspace, title, created) VALUES (?, ?, '')", (f"w{number:03}", "some title " * 40)
        )


def titles(tx: Tx) -> int:
    return len(tx.rows("SELECT title FROM workspace"))


@pytest.fixture
def filled(path: Path, clock: FixedClock) -> Path:
    db = Database.open(path, clock=clock)
    db.write(fill, name="fill")
    db.close()
    return path


def overwrite(path: Path, at: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


def set_pragma(path: Path, name: str, value: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA {name} = {value}")
    connection.close()


SPOILERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "zero bytes": (lambda path: path.write_bytes(b""), "the database is empty"),
    "a few bytes": (lambda path: path.write_bytes(b"SQLite"), "damaged or not a database"),
    "no header": (lambda path: overwrite(path, 0, bytes(100)), "damaged or not a database"),
    "a text": (lambda path: path.write_text("Dear diary, " * 99), "damaged or not a database"),
    "cut": (lambda path: os.truncate(path, 40_000), "the database is cut short"),
    "cut in the header": (lambda path: os.truncate(path, 99), "damaged or not a database"),
    "first page": (lambda path: overwrite(path, 100, b"\xff" * 3000), "the database is damaged"),
    "from the future": (lambda path: set_pragma(path, "user_version", 999), "has version 999"),
    "foreign": (lambda path: set_pragma(path, "application_id", 1), "belongs to another program"),
}


@pytest.mark.parametrize("fault", SPOILERS)
def test_what_is_not_a_sound_database_of_ours_is_refused_and_kept(filled: Path, clock: FixedClock, fault: str) -> None:
    spoil, sentence = SPOILERS[fault]
    spoil(filled)
    content = filled.read_bytes()

    with pytest.raises(StoreUnusable, match=sentence) as caught:
        Database.open(filled, clock=clock)

    assert str(filled) in str(caught.value)
    assert caught.value.cure
    assert caught.value.exit_code == 2
    assert filled.read_bytes() == content


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bytes_are_an_error_or_harmless_and_never_a_fresh_database(
    filled: Path, clock: FixedClock, seed: int
) -> None:
    chance = random.Random(seed)
    size = filled.stat().st_size
    for _ in range(30):
        overwrite(filled, chance.randrange(100, size), bytes([chance.randrange(256)]))

    try:
        db = Database.open(filled, clock=clock)
    except StoreUnusable:
        return
    try:
        found = db.read(titles)
        assert found == 200 or db.integrity()
    except StoreUnusable:
        pass
    finally:
        db.close()


def test_integrity_names_what_is_wrong(filled: Path, clock: FixedClock) -> None:
    size = filled.stat().st_size
    overwrite(filled, size - 4096, bytes(4096))
    db = Database.open(filled, clock=clock)

    faults = db.integrity()
    db.close()

    assert faults


def test_a_sound_database_has_no_faults(db: Database) -> None:
    db.write(fill, name="fill")

    assert db.integrity() == []


def test_a_lost_database_whose_log_is_still_there_is_not_replaced(path: Path, clock: FixedClock) -> None:
    path.with_name(path.name + "-wal").write_bytes(b"what was written last")

    with pytest.raises(StoreUnusable, match="the database is missing"):
        Database.open(path, clock=clock)

    assert not path.exists()


def test_no_database_is_made_when_none_is_wanted(path: Path, clock: FixedClock) -> None:
    with pytest.raises(StoreUnusable, match="No such file"):
        Database.open(path, clock=clock, new=False)

    assert not path.exists()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path, clock: FixedClock) -> None:
    with pytest.raises(StoreUnusable, match="no database can be made here"):
        Database.open(tmp_path / "missing" / "talekeeper.sqlite", clock=clock)


def test_a_folder_in_its_place_is_refused(path: Path, clock: FixedClock) -> None:
    path.mkdir()

    with pytest.raises(StoreUnusable):
        Database.open(path, clock=clock)


def test_a_database_of_another_user_is_refused(
    filled: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY)

    with pytest.raises(StoreUnusable, match="belongs to another user"):
        Database.open(filled, clock=clock)


def test_an_old_sqlite_is_refused(path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 37, 2))

    with pytest.raises(StoreUnusable, match=r"3\.38 or newer is needed"):
        Database.open(path, clock=clock)


# The interpreter may lie where nobody can read, so everything is imported while that is still allowed.
TRY_AS_NOBODY = """
import os, sys
from pathlib import Path
from talekeeper.clock import SystemClock
from talekeeper.db import Database
from talekeeper.errors import StoreUnusable
home = Path(sys.argv[1])
if os.geteuid() == 0:
    for path in (home, *home.iterdir()):
        os.chown(path, 65534, 65534)
    os.setgid(65534)
    os.setuid(65534)
for path in home.iterdir():
    path.chmod(0o400)
home.chmod(0o500)
try:
    Database.open(home / "talekeeper.sqlite", clock=SystemClock())
except StoreUnusable as error:
    print(error)
finally:
    home.chmod(0o700)
"""


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        pytest.param(True, "the database cannot be written", id="with a database"),
        pytest.param(False, "no database can be made here", id="empty"),
    ],
)
def test_a_read_only_home_is_named(there: bool, sentence: str) -> None:
    with tempfile.TemporaryDirectory() as home:  # not in tmp_path, whose parents are closed to others
        path = Path(home) / "talekeeper.sqlite"
        if there:
            Database.open(path, clock=SystemClock()).close()

        run = subprocess.run(
            [sys.executable, "-c", TRY_AS_NOBODY, home],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )

    assert run.stdout.count("\n") == 1
    assert f"{path}: {sentence}" in run.stdout


def test_a_full_disk_is_named_and_what_was_saved_stays(db: Database) -> None:
    db.write(fill, name="fill")
    (pages,) = db._connection().execute("PRAGMA page_count").fetchone()
    db._connection().execute(f"PRAGMA max_page_count = {pages}")

    def grow(tx: Tx) -> None:
        tx.run("INSERT INTO workspace(workspace, title, created) VALUES ('z', ?, '')", ("x" * 100_000,))

    with pytest.raises(StoreUnusable, match="the disk is full"):
        db.write(grow, name="grow")

    assert db.read(titles) == 200
    db._connection().execute("PRAGMA max_page_count = 1000000")
    db.write(grow, name="grow")
    assert db.read(titles) == 201


def test_a_database_used_in_a_forked_process_says_so(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: -1)

    with pytest.raises(StoreError, match="forked"):
        db.read(titles)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_every_file_is_private(db: Database, path: Path) -> None:
    db.write(fill, name="fill")

    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_database_others_could_read_is_made_private(filled: Path, clock: FixedClock) -> None:
    filled.chmod(0o644)

    Database.open(filled, clock=clock).close()

    assert filled.stat().st_mode & 0o777 == 0o600


def test_the_file_says_whose_it_is(filled: Path) -> None:
    assert int.from_bytes(filled.read_bytes()[68:72], "big") == APPLICATION_ID


@pytest.mark.parametrize("name", ["a b", "100% #1?", "北塔", "it's", "-dash"])
def test_any_folder_name_will_do(tmp_path: Path, clock: FixedClock, name: str) -> None:
    (tmp_path / name).mkdir()
    path = tmp_path / name / "talekeeper.sqlite"

    for _ in range(2):
        db = Database.open(path, clock=clock)
        db.read(titles)
        db.close()

    assert path.exists()
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_copy_that_lost_its_journal_mode_gets_it_back(filled: Path, clock: FixedClock) -> None:
    connection = sqlite3.connect(filled)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()

    db = Database.open(filled, clock=clock)

    assert db.read(lambda tx: tx.rows("PRAGMA journal_mode")) == [("wal",)]
    db.close()


def test_a_database_that_grows_meanwhile_is_not_taken_for_cut(db: Database, path: Path) -> None:
    stop = threading.Event()

    def grow(tx: Tx, number: int) -> None:
        tx.run("INSERT INTO workspace(workspace, title, created) VALUES (?, ?, '')", (f"g{number}", "x" * 50_000))

    def work() -> None:
        for number in range(10_000):
            if stop.is_set():
                return
            db.write(partial(grow, number=number), name="grow")
            db.checkpoint()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(2_000):
            check_file(path)
    finally:
        stop.set()
        thread.join()
