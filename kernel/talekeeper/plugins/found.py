"""A place where a plugin was found, before anything of it is believed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path


class Origin(IntEnum):
    """How a plugin was found. When two carry one id, one that is named stands, else the lower origin."""

    BUNDLED = 0
    INSTALLED = 1
    HOME = 2
    FOLDER = 3
    PATH = 4

    @property
    def words(self) -> str:
        """As a listing shows it."""
        return ("bundled", "installed", "home folder", "plugins folder", "path")[self]


@dataclass(frozen=True, slots=True)
class Found:
    """`names` are the entry point's or the folder's; the manifest's id must be one of them.

    `package` is the import name where the plugin has one; a bare folder is loaded under a name of the kernel's making.
    `root` is the folder with `plugin.toml`; without one `fault` says why, and `unsafe` that it may not even be read.
    `named` says that a person gave its own path for this run, in whatever other way it was found as well.
    """

    names: tuple[str, ...]
    origin: Origin
    place: str
    root: Path | None = None
    package: str | None = None
    fault: str = ""
    unsafe: bool = False
    named: bool = False

    def is_at(self, other: Found) -> bool:
        """Both lead to the same folder, or to the same place without one."""
        if self.root is None or other.root is None:
            return self.place == other.place
        return self.root.resolve() == other.root.resolve()
