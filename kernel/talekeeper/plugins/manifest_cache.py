"""Reads manifests for the host, which does so at every start, without reading every line of a large seed each time.

To hold a seed of 5 MB against its record schema takes 0.4 s of CPU. Where one was found sound, the store keeps the
stamp of the package's files; as long as none of them changes, its seeds are taken as they are.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from talekeeper import __version__
from talekeeper.db import Tx
from talekeeper.errors import StoreError
from talekeeper.manifest import Folder, PluginManifest, read_manifest
from talekeeper.story import Story

LARGE = 64 * 1024
"""Bytes of seeds from which on they are remembered: 5 ms of reading, and a stamp takes 1."""


def read_cached(story: Story, path: Path) -> PluginManifest:
    """As `manifest.read_manifest`, with the same verdict."""
    place = str(path.parent.resolve())
    known = story.read(
        lambda tx: tx.one("SELECT stamp FROM plugin_sound_seed WHERE workspace = '' AND place = ?", (place,))
    )
    if known and known[0] == _stamp(path.parent):
        return read_manifest(path, package=_WithoutSeeds(path.parent))
    manifest = read_manifest(path)
    if sum(file.stat().st_size for namespace in manifest.data for file in namespace.seed) >= LARGE:
        # A home that cannot be written to reads it all each time.
        with suppress(StoreError):
            stamp = _stamp(path.parent)
            story.write(lambda tx: _note(tx, place, stamp), name="note a sound seed")
    return manifest


class _WithoutSeeds(Folder):
    """A package whose seeds, the files that a pattern names, read as empty: nothing in them is checked again."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._seeds: set[str] = set()

    def matching(self, pattern: str) -> list[str]:
        """See `Package.matching`."""
        found = super().matching(pattern)
        self._seeds.update(found)
        return found

    def read(self, path: str, limit: int) -> bytes:
        """See `Package.read`."""
        return b"" if path in self._seeds else super().read(path, limit)


def _stamp(root: Path) -> str:
    """Changes when a file of the package does, by name, size or time, or when the rules may have."""
    facts: list[tuple[str, int, int]] = []
    for folder, inner, names in os.walk(root):
        inner[:] = [name for name in inner if name != "__pycache__"]
        for path in (Path(folder) / name for name in names):
            found = path.stat()
            facts.append((str(path.relative_to(root)), found.st_size, found.st_mtime_ns))
    return hashlib.blake2b(repr((__version__, sorted(facts))).encode(), digest_size=16).hexdigest()


def _note(tx: Tx, place: str, stamp: str) -> None:
    tx.run(
        "INSERT INTO plugin_sound_seed (workspace, place, stamp) VALUES ('', ?, ?)"
        " ON CONFLICT (workspace, place) DO UPDATE SET stamp = excluded.stamp",
        (place, stamp),
    )
