"""What lies where the database or one of its companions belongs: full disks, pipes, folders, numbers that are wrong."""

from __future__ import annotations

import os
import resource
import socket
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Leases
from talekeeper.db import connect as opening
from talekeeper.db.connect import connect, migrations
from talekeeper.db.files import examine_file, readable
from talekeeper.errors import StoreUnusable

posix = pytest.mark.skipif(os.name != "posix", reason="made with POSIX calls")


@contextmanager
def files_no_longer_than(size: int) -> Generator[None, None, None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@posix
@pytest.mark.parametrize("size", [0, 4_096, 30_000, 60_000, 120_000, 200_000])
def test_a_disk_too_small_for_a_new_database_is_told_and_left_empty(path: Path, clock: FixedClock, size: int) -> None:
    with files_no_longer_than(size), pytest.raises(StoreUnusable):
        Database.open(path, clock=clock)

    assert list(path.parent.iterdir()) == []
    Database.open(path, clock=clock).close()
    assert examine_file(path) == []


class CutAsItCloses:
    """A connection whose file has lost its end when it is closed, as on a disk that ran full in the last write."""

    def __init__(self, path: Path, by: int) -> None:
        self._real: sqlite3.Connection = connect(path, synchronous="OFF")
        self._path = path
        self._by = by

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __enter__(self) -> None:
        self._real.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._real.__exit__(kind, error, trace)

    def close(self) -> None:
        self._real.close()
        os.truncate(self._path, self._path.stat().st_size - self._by)


@pytest.mark.parametrize("by", [1, 4_096, 100_000])
def test_a_draft_that_was_cut_is_never_published(
    path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, by: int
) -> None:
    def connect_and_cut(draft: Path, *, synchronous: str) -> CutAsItCloses:
        assert synchronous == "OFF"
        return CutAsItCloses(draft, by)

    monkeypatch.setattr(opening, "connect", connect_and_cut)

    with pytest.raises(StoreUnusable):
        Database.open(path, clock=clock)

    assert list(path.parent.iterdir()) == []


@posix
def test_a_part_of_the_draft_that_was_not_kept_is_found(
    path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(draft: Path) -> None:
        with draft.open("r+b") as file:
            file.seek(-4_096, os.SEEK_END)
            file.write(b"\xff" * 4_096)

    monkeypatch.setattr(opening, "check_file", check)

    with pytest.raises(StoreUnusable, match="what the disk kept of a new database is damaged"):
        Database.open(path, clock=clock)

    assert list(path.parent.iterdir()) == []


def put_folder(path: Path) -> None:
    path.mkdir()


def put_pipe(path: Path) -> None:
    os.mkfifo(path)


def put_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's name is at most 107 bytes long
    try:
        with closing(socket.socket(socket.AF_UNIX)) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def put_device(path: Path) -> None:
    path.symlink_to(os.devnull)


KINDS = [
    pytest.param(put_folder, "a folder", id="folder"),
    pytest.param(put_pipe, "a pipe", id="pipe"),
    pytest.param(put_socket, "a socket", id="socket"),
    pytest.param(put_device, "a device", id="device"),
]


@posix
@pytest.mark.parametrize(("put", "kind"), KINDS)
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal", "-writer"])
def test_what_is_no_regular_file_is_named_and_not_opened(
    path: Path, blank: Path, clock: FixedClock, put: Callable[[Path], None], kind: str, suffix: str
) -> None:
    if suffix:
        path.write_bytes(blank.read_bytes())
    put(path.with_name(path.name + suffix))

    with pytest.raises(StoreUnusable, match=f"is {kind} and not a regular file") as caught:
        Database.open(path, clock=clock)

    assert f"{path}{suffix}: " in str(caught.value)
    assert caught.value.cure


@posix
@pytest.mark.parametrize(("put", "kind"), KINDS)
def test_what_lies_where_a_lease_belongs_is_named(
    db: Database, path: Path, put: Callable[[Path], None], kind: str
) -> None:
    leases = Leases(path.parent / "leases", db)
    with leases.hold("w", "turn/s"):
        (file,) = (path.parent / "leases").glob("*.lease")
    file.unlink()
    put(file)

    with pytest.raises(StoreUnusable, match=f"the lease file is {kind}") as caught, leases.hold("w", "turn/s"):
        pass

    assert str(file) in str(caught.value)


def test_a_lease_file_that_holds_something_else_is_named_with_a_cure(db: Database, path: Path) -> None:
    leases = Leases(path.parent / "leases", db)
    with leases.hold("w", "turn/s"):
        (file,) = (path.parent / "leases").glob("*.lease")
    file.write_bytes(b"not a lock " * 100)

    with pytest.raises(StoreUnusable, match="the lease file cannot be locked") as caught, leases.hold("w", "turn/s"):
        pass

    assert (caught.value.where, "delete the file" in caught.value.cure) == (str(file), True)


def test_a_file_where_the_folder_of_leases_belongs_is_named(db: Database, path: Path) -> None:
    (path.parent / "leases").write_text("")

    with (
        pytest.raises(StoreUnusable, match="the folder of the leases cannot be made"),
        Leases(path.parent / "leases", db).hold("w", "turn/s"),
    ):
        pass


@pytest.mark.parametrize("version", [-1, -(2**31), *range(len(migrations()))])
def test_a_version_number_that_is_not_the_tables_is_refused_and_kept(
    path: Path, blank: Path, clock: FixedClock, version: int
) -> None:
    path.write_bytes(blank.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    content = path.read_bytes()

    with pytest.raises(StoreUnusable, match="its tables are not of that version") as caught:
        Database.open(path, clock=clock)

    assert caught.value.where == str(path)
    assert caught.value.cure
    assert path.read_bytes() == content


def test_a_table_that_is_missing_is_damage(path: Path, blank: Path, clock: FixedClock) -> None:
    path.write_bytes(blank.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE workspace")
    db = Database.open(path, clock=clock)

    with pytest.raises(StoreUnusable, match="the database is damaged"):
        db.read(lambda tx: tx.rows("SELECT * FROM workspace"))

    db.close()


def test_looking_into_a_file_changes_nothing(db: Database, path: Path) -> None:
    db.write(lambda tx: tx.run("INSERT INTO workspace(workspace, title, created) VALUES ('w', '', '')"), name="put")
    db.checkpoint()
    db.close()
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}

    found = examine_file(path), readable(path)

    assert found == ([], {"workspace": 1, "session": 0, "message": 0, "record": 0})
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before
