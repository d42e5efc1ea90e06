"""Refuses what lies where a file of ours belongs and is none: opening a pipe may wait for ever."""

from __future__ import annotations

import os
import stat
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
