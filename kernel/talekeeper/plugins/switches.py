"""What the command line and the environment say about plugins; read before anything of a plugin is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

ONLY = "TALEKEEPER_PLUGINS"
STRICT = "TALEKEEPER_STRICT"


@dataclass(frozen=True, slots=True)
class Switches:
    """`without` is None (all are allowed), or ids that stay off, or all of them when it is empty.

    `only` is None, or the ids `TALEKEEPER_PLUGINS` allows. `folders` hold plugins beside `<home>/plugins`; `paths` are
    single plugins. `strict` raises a plugin's own exception instead of a sentence about it.
    """

    without: frozenset[str] | None = None
    only: frozenset[str] | None = None
    folders: tuple[Path, ...] = ()
    paths: tuple[Path, ...] = ()
    strict: bool = False

    def off(self, plugin: str) -> str:
        """Why this plugin stays off whatever the store says; empty when it may be on."""
        if self.without is not None and (not self.without or plugin in self.without):
            return "switched off by --no-plugins"
        if self.only is not None and plugin not in self.only:
            return f"not among the plugins that {ONLY} allows"
        return ""


def read_switches(
    environment: Mapping[str, str],
    *,
    without: str | None = None,
    folders: Iterable[Path] = (),
    paths: Iterable[Path] = (),
) -> Switches:
    """Reads `--no-plugins` (`without`: None when absent, empty for all, else ids with commas) and the environment.

    `TALEKEEPER_PLUGINS` set and empty allows none; `TALEKEEPER_STRICT` set to anything but `0` or nothing is strict.
    """
    only = environment.get(ONLY)
    return Switches(
        without=None if without is None else _ids(without),
        only=None if only is None else _ids(only),
        folders=tuple(folders),
        paths=tuple(paths),
        strict=environment.get(STRICT, "0") not in {"", "0"},
    )


def _ids(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())
