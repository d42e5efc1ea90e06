"""The part of `talekeeper import` that goes through plugins' importers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from talekeeper.cli import screen
from talekeeper.cli.options import Common
from talekeeper.cli.pick import session_of
from talekeeper.errors import NotFound

if TYPE_CHECKING:
    from talekeeper.context import Imported
    from talekeeper.home import Home

_OUTCOMES = (("added", "added"), ("replaced", "replaced"), ("unchanged", "already there"), ("kept", "kept as they are"))


@dataclass(frozen=True, slots=True)
class Lore:
    """What an importer of a plugin made of a file."""

    file: str
    session: str
    imported: Imported
    error: None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """`importer` is `plugin/importer`, None for the first that takes the file."""

    session: str | None
    importer: str | None
    replace: bool


def import_lore(home: Home, options: Common, file: str, wish: Wish) -> Lore:
    """Reads a file with a plugin's importer into a session; raises what that raises."""
    session = session_of(home, options, wish.session)
    imported = home.import_lore(session.address, Path(file), importer=wish.importer, replace=wish.replace)
    return Lore(file, session.id, imported)


def instead_of_a_conversation(home: Home, options: Common, file: str, wish: Wish) -> Lore | None:
    """The same for a file that is no conversation; None when there is no session or no plugin to take it."""
    try:
        return import_lore(home, options, file, wish) if file != "-" else None
    except NotFound:
        return None


def show(lore: Lore) -> None:
    """Prints what became of the file."""
    found = lore.imported
    parts = [f"{len(getattr(found, name)):,} {words}" for name, words in _OUTCOMES if getattr(found, name)]
    screen.say(f"{lore.file}: {', '.join(parts) or 'nothing'} in {lore.session!r}, with {found.importer}")
    if found.kept:
        screen.note("  those that are there and differ are kept; --replace takes over the file's")
    if found.gone:
        screen.note(f"  {screen.counted(len(found.gone), 'record')} withdrawn or forgotten, and staying so")
    for what, why in found.left_out:
        screen.note(f"  left out: {what}: {why}")


def as_json(lore: Lore) -> dict[str, object]:
    """The same as `--json` prints it."""
    return {
        "file": lore.file,
        "format": lore.imported.importer,
        "session": lore.session,
        **{name: getattr(lore.imported, name) for name, _ in _OUTCOMES},
        "gone": lore.imported.gone,
        "left_out": [{"what": what, "why": why} for what, why in lore.imported.left_out],
        "error": None,
    }
