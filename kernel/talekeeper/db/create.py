"""Makes a new database under a draft name first.

Of several processes that begin at once one wins, and nobody ever sees an empty file that a crash could leave behind.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from talekeeper.db.connect import APPLICATION_ID, check_absent, check_file, connect
from talekeeper.db.examine import examine_file
from talekeeper.db.faults import explain
from talekeeper.db.migrate import migrate
from talekeeper.db.publish import draft_of, publish_file
from talekeeper.errors import StoreUnusable


def create(path: Path) -> None:
    """Makes the database at `path`, unless somebody else has by then."""
    check_absent(path)
    try:
        with draft_of(path) as draft:
            _build(draft)
            with contextlib.suppress(FileExistsError):
                publish_file(draft, path)
    except OSError as error:
        raise StoreUnusable(
            f"no database can be made here ({error.strerror})",
            where=str(path),
            cure="check that the folder exists, is writable and has space",
        ) from error
    except sqlite3.Error as error:
        raise explain(error, path) or error from error


def _build(draft: Path) -> None:
    connection = connect(draft, synchronous="OFF")  # nobody sees the draft before it is synced and published
    try:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        migrate(connection, draft)
        # Closing would move the log into the file too, and say nothing when that fails.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.close()
    check_file(draft)
    faults = examine_file(draft)
    if faults:
        raise StoreUnusable(f"what the disk kept of a new database is damaged ({faults[0]})", cure="check the disk")
