"""Looks into a database file as it lies there, whatever its state, and changes nothing in the folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

_TOLD = ("workspace", "session", "message", "record")


def examine_file(path: Path) -> list[str]:
    """What SQLite finds wrong with the file alone, a line each, its write-ahead log not looked at."""
    try:
        with _untouched(path) as connection:
            return [str(row[0]) for row in connection.execute("PRAGMA integrity_check(100)") if row[0] != "ok"]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return [f"the file is too damaged to be checked ({error})"]


def readable(path: Path) -> dict[str, int]:
    """How many rows of the tables people care about can be read; a table that cannot is not in it."""
    counts: dict[str, int] = {}
    for table in _TOLD:
        try:
            with _untouched(path) as connection:
                # Every column is asked for, because a count alone would read the keys only.
                counts[table] = sum(1 for _ in connection.execute(f"SELECT * FROM {table}"))  # noqa: S608 -- from above
        except (sqlite3.Error, UnicodeDecodeError):
            continue
    return counts


@contextmanager
def _untouched(path: Path) -> Generator[sqlite3.Connection]:
    """Called immutable, a file is read without locks, and without the files SQLite would put beside it."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        yield connection
