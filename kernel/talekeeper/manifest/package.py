"""The files of a plugin's package, wherever they are: a folder now, a wheel's archive when one is checked.

A path comes from the manifest and is not trusted: it is checked as text first, then looked up in the file system
without following a link out of the package.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Protocol

FILE_NAME = "plugin.toml"
GROUP = "talekeeper.plugins"
"""The entry-point group that installed plugins are found by."""

MOST_FILES = 10_000
_ADDRESS = re.compile("[A-Za-z][A-Za-z0-9+.-]+:/")


class PathRefused(Exception):
    """The path leads, or may lead, out of the package; the text says how."""


class Package(Protocol):
    """Read access to the folder that holds the manifest."""

    def has(self, path: str) -> bool:
        """True for a regular file. Raises PathRefused for a path that leaves the package."""
        ...

    def is_folder(self, path: str) -> bool:
        """True for a folder. Raises PathRefused as `has` does."""
        ...

    def read(self, path: str, limit: int) -> bytes:
        """The first `limit` bytes of a file that `has` has found. Raises OSError when it cannot be read."""
        ...

    def matching(self, pattern: str) -> list[str]:
        """The names a pattern fits, sorted; `*` stays within a folder and `**` does not.

        They are names as yet: `has` tells a file from a device and from a link that leads out of the package. Raises
        PathRefused for a pattern that leaves the package.
        """
        ...


def refuse_unsafe(path: str) -> None:
    """Raises PathRefused for what is not a plain relative path with `/` between folders; asks no file system."""
    if _ADDRESS.match(path):
        raise PathRefused("it is an address, and nothing is fetched")
    if path.startswith("/"):
        raise PathRefused("it is absolute")
    if path.startswith("~"):
        raise PathRefused('"~" is somebody\'s home folder')
    if "\\" in path:
        raise PathRefused("it has a backslash; write / between folders")
    if re.match("[A-Za-z]:", path):
        raise PathRefused("it names a drive")
    if ".." in path.split("/"):
        raise PathRefused('it has ".."')
    if any(ord(it) < 32 for it in path):  # noqa: PLR2004 - the first printable character
        raise PathRefused("it has a control character")


def matches(path: str, pattern: str) -> bool:
    """Whether a path with `/` fits a pattern: `*` and `?` within a name, `**` for any number of folders.

    Takes time in proportion to the product of the two lengths, whatever the pattern.
    """
    return _wild(path.split("/"), pattern.split("/"), "**", _name_fits)


def _name_fits(name: str, pattern: str) -> bool:
    return _wild(name, pattern, "*", lambda character, wanted: wanted in ("?", character))


def _wild(items: Sequence[str], pattern: Sequence[str], star: str, fits: Callable[[str, str], bool]) -> bool:
    # Only the last star met is ever reconsidered: an earlier one taking more would not help.
    item = part = 0
    retry_part, retry_item = -1, 0
    while item < len(items):
        if part < len(pattern) and pattern[part] == star:
            retry_part, retry_item = part, item
            part += 1
        elif part < len(pattern) and fits(items[item], pattern[part]):
            item += 1
            part += 1
        elif retry_part >= 0:
            retry_item += 1
            item, part = retry_item, retry_part + 1
        else:
            return False
    return all(it == star for it in pattern[part:])


class Folder:
    """A package on disk."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._real_root = os.path.realpath(root)

    def has(self, path: str) -> bool:
        """See `Package.has`."""
        return self._inside(path).is_file()

    def is_folder(self, path: str) -> bool:
        """See `Package.is_folder`."""
        return self._inside(path).is_dir()

    def read(self, path: str, limit: int) -> bytes:
        """See `Package.read`."""
        with (self._root / path).open("rb") as file:
            return file.read(limit)

    def matching(self, pattern: str) -> list[str]:
        """See `Package.matching`."""
        refuse_unsafe(pattern)
        fixed = PurePosixPath(*_fixed_folders(pattern))
        return sorted(path for path in self._below(self._root / fixed) if matches(path, pattern))

    def _inside(self, path: str) -> Path:
        refuse_unsafe(path)
        found = self._root / path
        # Path.resolve() would fail on links that lead in a circle.
        if not Path(os.path.realpath(found)).is_relative_to(self._real_root):
            raise PathRefused("a symbolic link leads out of the package")
        return found

    def _below(self, folder: Path) -> Iterator[str]:
        waiting, seen = [folder], 0
        while waiting:
            here = waiting.pop()
            for entry in sorted(here.iterdir()) if here.is_dir() else ():
                seen += 1
                if seen > MOST_FILES:
                    return
                if entry.is_dir() and not entry.is_symlink():
                    waiting.append(entry)
                else:
                    yield entry.relative_to(self._root).as_posix()


def _fixed_folders(pattern: str) -> list[str]:
    folders = pattern.split("/")[:-1]
    return folders[: next((at for at, name in enumerate(folders) if "*" in name or "?" in name), len(folders))]
