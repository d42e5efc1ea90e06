"""A copy of the running database, made by SQLite's backup API, that appears whole or not at all."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from talekeeper.db.faults import is_damage
from talekeeper.db.publish import draft_of, publish_file
from talekeeper.errors import InputError, StoreError

_PAGES_A_STEP = 128


def back_up(source: sqlite3.Connection, target: Path, progress: Callable[[int, int], None] | None) -> None:
    """Copies to `target`, calling `progress(done, total)` in pages; raises `InputError` when it cannot be written.

    Damage found in the source comes out as SQLite's own error.
    """
    if os.path.exists(target):  # noqa: PTH110 - what cannot be looked at cannot be written either, which tells why
        raise _taken(target)
    try:
        with draft_of(target) as draft:
            _copy(source, draft, progress)
            publish_file(draft, target)
    except FileExistsError as error:
        raise _taken(target) from error
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, sqlite3.Error) and is_damage(error):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(
            f"the backup cannot be written ({reason})",
            where=str(target),
            cure="choose a folder that exists, is writable and has space",
        ) from error


def _taken(target: Path) -> InputError:
    return InputError("there is already a file of this name", where=str(target), cure="choose another name")


def _copy(source: sqlite3.Connection, draft: Path, progress: Callable[[int, int], None] | None) -> None:
    """A read transaction is held meanwhile: without it every commit elsewhere would make SQLite begin again."""

    def report(_: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    copy = sqlite3.connect(draft, isolation_level=None)
    try:
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        try:
            source.backup(copy, pages=_PAGES_A_STEP, progress=report, sleep=0)
        finally:
            source.execute("ROLLBACK")
        fault = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
    finally:
        copy.close()
    if fault != "ok":
        raise StoreError(
            f"the copy is damaged ({fault})", cure="ask 'talekeeper doctor' about the database and the disk"
        )
