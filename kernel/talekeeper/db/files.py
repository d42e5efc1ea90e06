"""Files of the home: regular and private, whole under their name or not there at all, and looked into untouched.

What lies where a file of ours belongs and is no regular file is refused: opening a pipe may wait for ever.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sqlite3
import stat
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from talekeeper.errors import StoreUnusable

PRIVATE = 0o600
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def look(path: Path, what: str, *, cure: str = "move it away") -> os.stat_result | None:
    """The state of a regular file, None where nothing is; raises `StoreUnusable` for anything else.

    `what` names the file in the sentence.
    """
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreUnusable(
            f"{what} cannot be looked at ({error.strerror})",
            where=str(path),
            cure="check the permissions of its folder, or choose another home",
        ) from error
    if not stat.S_ISREG(state.st_mode):
        kind = next((kind for is_one, kind in _KINDS if is_one(state.st_mode)), "something else")
        raise StoreUnusable(f"{what} is {kind} and not a regular file", where=str(path), cure=cure)
    return state


def open_private(path: Path, what: str) -> int:
    """A descriptor to read and write a file that holds nothing anybody would miss, made when it is not there."""
    look(path, what)
    try:
        return os.open(path, os.O_CREAT | os.O_RDWR, PRIVATE)
    except OSError as error:
        raise StoreUnusable(
            f"{what} cannot be opened ({error.strerror})",
            where=str(path),
            cure="make it and its folder readable and writable and see that there is space",
        ) from error


_PARTS = ("", "-wal", "-shm", "-journal")
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}


@contextmanager
def draft_of(target: Path) -> Generator[Path, None, None]:
    """An empty file of mode 0600 in the target's folder; it and what SQLite puts beside it are gone afterwards."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
        yield draft
    finally:
        for suffix in _PARTS:
            with contextlib.suppress(OSError):
                draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def publish_file(draft: Path, target: Path) -> None:
    """Gives the finished draft its name; raises `FileExistsError` when another process has taken it."""
    _sync(draft, os.O_RDWR)
    try:
        os.link(draft, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links: the check leaves a short race, a rename alone would overwrite.
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from error
        draft.rename(target)
    if os.name == "posix":
        _sync(target.parent, os.O_RDONLY)


def _sync(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
                # Every column is read, because a count alone would read the keys only.
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
