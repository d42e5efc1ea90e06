"""A backup is a whole database of its own, or there is none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Tx
from talekeeper.errors import InputError


def fill(tx: Tx) -> None:
    for number in range(2_000):
        tx.run("INSERT INTO workspace(workspace, title, created) VALUES (?, ?, '')", (f"w{number}", "a title " * 100))


def count(tx: Tx) -> int:
    return int(tx.rows("SELECT count(*) FROM workspace")[0][0])


def test_a_backup_holds_everything_and_reports_its_progress(db: Database, tmp_path: Path, clock: FixedClock) -> None:
    db.write(fill, name="fill")
    steps: list[tuple[int, int]] = []

    db.backup(tmp_path / "copy.sqlite", progress=lambda done, total: steps.append((done, total)))

    copy = Database.open(tmp_path / "copy.sqlite", clock=clock)
    assert copy.read(count) == 2_000
    copy.close()
    assert len(steps) > 1
    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1] > 0
    assert (tmp_path / "copy.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_backup_is_of_one_moment_though_others_write(
    open_database: Callable[[], Database], tmp_path: Path, clock: FixedClock
) -> None:
    db, other = open_database(), open_database()
    db.write(fill, name="fill")

    def write_meanwhile(done: int, total: int) -> None:
        name = f"later{done}"
        thread = threading.Thread(
            target=lambda: other.write(
                lambda tx: tx.run("INSERT INTO workspace(workspace, title, created) VALUES (?, '', '')", (name,)),
                name="put",
            )
        )
        thread.start()
        thread.join()

    db.backup(tmp_path / "copy.sqlite", progress=write_meanwhile)

    copy = Database.open(tmp_path / "copy.sqlite", clock=clock)
    assert copy.read(count) == 2_000
    assert copy.integrity() == []
    copy.close()
    assert db.read(count) > 2_000


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        pytest.param("missing/copy.sqlite", "the backup cannot be written", id="no folder"),
        pytest.param("file/copy.sqlite", "the backup cannot be written", id="a file for a folder"),
        pytest.param("file", "there is already a file of this name", id="taken"),
    ],
)
def test_a_backup_that_cannot_be_written_leaves_nothing(
    db: Database, tmp_path: Path, target: str, sentence: str
) -> None:
    (tmp_path / "file").write_text("precious")
    before = {file.name for file in tmp_path.iterdir()}

    with pytest.raises(InputError, match=sentence) as caught:
        db.backup(tmp_path / target)

    assert str(tmp_path / target) in str(caught.value)
    assert {file.name for file in tmp_path.iterdir()} == before
    assert (tmp_path / "file").read_text() == "precious"


def test_a_backup_interrupted_by_the_caller_leaves_nothing(db: Database, tmp_path: Path) -> None:
    db.write(fill, name="fill")

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        db.backup(tmp_path / "copy.sqlite", progress=stop)

    assert [file.name for file in tmp_path.iterdir() if "copy" in file.name] == []
    assert db.read(count) == 2_000
