"""Checks of a plugin folder before anything in it is read: who can write to it, and where its links lead."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_ENTRIES = 10_000


def unsafe(folder: Path, package: Path) -> str:
    """Why the package in this folder may not be loaded, in a sentence; empty when it may. Both may be the same.

    Refused are files and folders that everybody may write to, links that lead out, what is neither file nor folder,
    and a package of more than 10,000 entries.
    """
    try:
        return writable_by_all(folder) or _unsafe_package(package, folder.resolve())
    except OSError as error:
        return f"{error.filename or folder} cannot be read: {error.strerror}"


def writable_by_all(folder: Path) -> str:
    """Why nothing may be loaded from this folder, when everybody may write to it; else empty."""
    return _told(folder) if _open_to_all(folder.stat()) else ""


def _unsafe_package(package: Path, folder: Path) -> str:
    root = package.resolve()
    if not root.is_relative_to(folder):
        return f"{package} is a link that leads out of {folder}, to {root}"
    if _open_to_all(root.stat()):
        return _told(root)
    seen, waiting = 0, [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                seen += 1
                reason = _unsafe_entry(entry, root)
                if seen > _ENTRIES:
                    reason = f"{root} holds more than {_ENTRIES:,} files; a plugin's package holds the plugin alone"
                if reason:
                    return reason
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
    return ""


def _unsafe_entry(entry: os.DirEntry[str], root: Path) -> str:
    if entry.is_symlink():
        target = Path(os.path.realpath(entry.path))  # resolve() fails on links that lead in a circle
        return (
            "" if target.is_relative_to(root) else f"{entry.path} is a link that leads out of the plugin, to {target}"
        )
    facts = entry.stat(follow_symlinks=False)
    if not (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode)):
        return f"{entry.path} is neither a file nor a folder"
    return _told(entry.path) if _open_to_all(facts) else ""


def _told(path: Path | str) -> str:
    return f"everybody may write to {path}; take that right away (chmod o-w)"


def _open_to_all(facts: os.stat_result) -> bool:
    # Windows keeps rights in access lists that the mode does not show.
    return os.name == "posix" and bool(facts.st_mode & stat.S_IWOTH)
