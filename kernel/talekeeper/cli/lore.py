"""The part of `talekeeper import` that goes through plugins' importers."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from talekeeper.cli import output
from talekeeper.cli.options import Common
from talekeeper.cli.targets import session_of
from talekeeper.errors import InputError, NotFound
from talekeeper.exchange import Source
from talekeeper.plugin_context import importers_aside, importers_for
from talekeeper.story import Address

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.plugin_context import Imported

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


def import_lore(home: Home, options: Common, source: Source, wish: Wish, *, dry_run: bool) -> Lore:
    """Reads a file with a plugin's importer into a session; raises what that raises."""
    if dry_run:
        what = "a plugin's importer cannot be tried without writing"
        raise InputError(what, where=source.name, cure="leave --dry-run away for it")
    if not home.story.sessions(options.workspace):
        what = f"this is lore, which goes into a session, and the workspace {options.workspace!r} has none yet"
        name = "NAME" if wish.session is None else shlex.quote(wish.session)
        cure = (
            f"import a conversation first, or make a session with 'talekeeper sessions new {name}', and import it again"
        )
        raise NotFound(what, where=source.name, cure=cure)
    session = session_of(home, options, wish.session)
    with output.progress(source.name, None) as reach:
        imported = home.import_lore(
            session.address,
            Path(source.name),
            stream=source.stream,
            importer=wish.importer,
            replace=wish.replace,
            progress=reach,
        )
    return Lore(source.name, session.id, imported)


def instead_of_a_conversation(home: Home, options: Common, source: Source, wish: Wish, *, dry_run: bool) -> Lore | None:
    """The same for a file that is no conversation; None when no plugin reads files of its name."""
    return import_lore(home, options, source, wish, dry_run=dry_run) if _claims(home, options, source, wish) else None


def instead_of_a_guess(home: Home, options: Common, source: Source, wish: Wish, *, dry_run: bool) -> Lore | None:
    """The same for a file that may be a conversation; of several importers that read such files none is preferred."""
    claims = _claims(home, options, source, wish)
    if len(claims) > 1:
        what = f"{' and '.join(claims)} read files of this name, and it may be a transcript as well"
        raise InputError(what, where=source.name, cure="choose with --importer PLUGIN/ID or --format transcript")
    if not claims:
        for path, reason in importers_aside(home.services, _place(home, options, wish), _name(source)).items():
            output.note(f"{source.name} is read as a transcript; {path} reads files of this name, but is off: {reason}")
        return None
    return import_lore(home, options, source, wish, dry_run=dry_run)


def _claims(home: Home, options: Common, source: Source, wish: Wish) -> list[str]:
    """The importers that read files of this name."""
    return importers_for(home.services, _place(home, options, wish), _name(source))


def _name(source: Source) -> str:
    return Path(source.name).name


def _place(home: Home, options: Common, wish: Wish) -> Address:
    """The session meant or, while there is none, the workspace."""
    try:
        return session_of(home, options, wish.session).address
    except NotFound:
        return Address(options.workspace, "")


def show(lore: Lore) -> None:
    """Prints what became of the file."""
    found = lore.imported
    parts = [f"{len(getattr(found, name)):,} {words}" for name, words in _OUTCOMES if getattr(found, name)]
    output.say(f"{lore.file}: {', '.join(parts) or 'nothing'} in {lore.session!r}, with {found.importer}")
    if found.kept:
        output.note("  those that are there and differ are kept; --replace takes over the file's")
    if found.gone:
        output.note(f"  {output.counted(len(found.gone), 'record')} withdrawn or forgotten, and staying so")
    for what, why in found.left_out:
        output.note(f"  left out: {what}: {why}")


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
