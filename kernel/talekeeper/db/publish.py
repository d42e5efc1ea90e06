"""Files that appear under their name whole or not at all: made under a draft name, then linked."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from talekeeper.db.regular import PRIVATE

_BESIDE = ("", "-wal", "-shm", "-journal")
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}


@contextmanager
def draft_of(target: Path) -> Generator[Path, None, None]:
    """An empty file of mode 0600 in the target's folder; it and what SQLite puts beside it are gone afterwards."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
        yield draft
    finally:
        for suffix in _BESIDE:
            with contextlib.suppress(OSError):
                draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def publish_file(draft: Path, target: Path) -> None:
    """Gives the finished draft its name; raises `FileExistsError` when somebody else has taken it."""
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
