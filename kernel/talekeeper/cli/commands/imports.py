"""`talekeeper import`: conversations from files, and lore through plugins' importers."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, common, possible
from talekeeper.cli.targets import session_of
from talekeeper.errors import ImportFileError, InputError, NotFound, TalekeeperError
from talekeeper.exchange import (
    ARCHIVE,
    FORMATS,
    GUESSED,
    Options,
    Report,
    Source,
    detect_format,
    import_file,
    opened,
    restore_archive,
)
from talekeeper.plugin_context import import_lore, importers_aside, importers_for
from talekeeper.story import Address
from talekeeper.text import counted

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.plugin_context import Imported


@click.command(epilog="Example:  talekeeper import chat.jsonl --player Ann")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--format", "name", type=click.Choice(FORMATS), help="Format of the files.  [default: detected]")
@click.option(
    "-s",
    "--session",
    metavar="NAME",
    callback=possible,
    help="Import everything into this session.  [default: the file's]",
)
@click.option("--player", metavar="NAME", help="Name of the player among the speakers.")
@click.option("--title", default="", help="Title of a new session.")
@click.option("--locale", default="en", callback=possible, show_default=True, help="Language of a new session.")
@click.option("--dry-run", is_flag=True, help="Check everything and change nothing.")
@click.option("--importer", metavar="PLUGIN/ID", help="Read the files with a plugin's importer, into the session.")
@click.option("--replace", is_flag=True, help="With an importer: overwrite records that differ.")
@common
def command(
    options: Common,
    /,
    files: tuple[str, ...],
    session: str | None,
    *,
    name: str | None,
    importer: str | None,
    replace: bool,
    **more: Any,
) -> int:
    """Read conversations from files into sessions.

    JSON Lines ({id, session, speaker, text, time?, turn?, role?}), SillyTavern chats, KoboldAI saves, transcripts
    ("Name: text") and Talekeeper's own exports are told apart by their content; a file that is none of them, or that a
    plugin of the session reads by its name, goes to the plugins, which may read lorebooks and the like. Running an
    import again continues where it stopped. "-" reads standard input.

    `sessions delete` undoes an import; in an older session, `sessions go` returns to the place before it, and `data
    withdraw` hides a record.
    """
    results: list[Report | Lore] = []
    with options.open() as home:
        plugins = home.plugins_of_new_sessions(options.workspace)
        wanted = Options(options.workspace, session=session, plugins=plugins, **more)
        importing = _Importing(home, options, wanted, name, importer, replace)
        for file in files:
            results.append(importing.file(file))
            if not options.as_json:
                _show(results[-1])
                if session is None and isinstance(results[-1], Report):
                    _warn_of_another_story(results[-1])
    if options.as_json:
        output.emit({"files": [_json(one) if isinstance(one, Report) else _lore_json(one) for one in results]})
    return max((one.error.exit_code for one in results if one.error is not None), default=0)


@dataclass(frozen=True, slots=True)
class Lore:
    """What an importer of a plugin made of a file."""

    file: str
    session: str
    imported: Imported
    error: None = None


@dataclass(frozen=True, slots=True)
class _Importing:
    """`importer` is `plugin/importer`, None for the first that takes the file."""

    home: Home
    options: Common
    wanted: Options
    format: str | None
    importer: str | None
    replace: bool

    def file(self, file: str) -> Report | Lore:
        """One file; what is wrong with it is told in its place, and the others go on."""
        try:
            with opened(file) as stream:
                return self._stream(Source(stream, file))
        except TalekeeperError as fault:
            return Report(file, self.format or self.importer or "unknown", dry_run=self.wanted.dry_run, error=fault)

    def _stream(self, source: Source) -> Report | Lore:
        if self.importer is not None:
            return self._lore(source)
        if self.format is not None:
            return self._conversation(source, self.format)
        try:
            name = detect_format(source, self.wanted.player)
        except ImportFileError:
            # A file that is no conversation: what plugins make of it, else the sentence that says so.
            if not self._claims(source):
                raise
            return self._lore(source)
        if name == GUESSED and self._is_rather_lore(source):
            return self._lore(source)
        return self._conversation(source, name)

    def _conversation(self, source: Source, name: str) -> Report:
        home, wanted = self.home, self.wanted
        with output.progress(source.name, source.stream.seek(0, 2)) as reach:
            if name == ARCHIVE:
                return restore_archive(home.story, home.leases, source, wanted, reach, self.options.given_workspace)
            report = import_file(home.story, source, name, wanted, reach)
        if not wanted.dry_run:
            for session in report.sessions:
                home.host.ready(Address(wanted.workspace, session))
        return report

    def _lore(self, source: Source) -> Lore:
        """Reads a file with a plugin's importer into a session; raises what that raises."""
        if self.wanted.dry_run:
            what = "a plugin's importer cannot be tried without writing"
            raise InputError(what, where=source.name, cure="leave --dry-run away for it")
        workspace, name = self.wanted.workspace, self.wanted.session
        if not self.home.story.sessions.all(workspace):
            what = f"this is lore, which goes into a session, and the workspace {workspace!r} has none yet"
            new = f"talekeeper sessions new {'NAME' if name is None else shlex.quote(name)}"
            cure = f"import a conversation first, or make a session with '{new}', and import it again"
            raise NotFound(what, where=source.name, cure=cure)
        session = session_of(self.home, self.options, name)
        with output.progress(source.name, None) as reach:
            imported = import_lore(
                self.home.services,
                session.address,
                Path(source.name),
                stream=source.stream,
                importer=self.importer,
                replace=self.replace,
                progress=reach,
            )
        return Lore(source.name, session.id, imported)

    def _is_rather_lore(self, source: Source) -> bool:
        """Of a file that may be a conversation; of several importers that read such files none is preferred."""
        claims = self._claims(source)
        if len(claims) > 1:
            what = f"{' and '.join(claims)} read files of this name, and it may be a transcript as well"
            raise InputError(what, where=source.name, cure="choose with --importer PLUGIN/ID or --format transcript")
        if not claims:
            aside = importers_aside(self.home.services, self._place(), Path(source.name).name)
            for path, reason in aside.items():
                off = f"{path} reads files of this name, but is off: {reason}"
                output.note(f"{source.name} is read as a transcript; {off}")
        return bool(claims)

    def _claims(self, source: Source) -> list[str]:
        """The importers that read files of this name."""
        return importers_for(self.home.services, self._place(), Path(source.name).name)

    def _place(self) -> Address:
        """The session meant or, while there is none, the workspace."""
        try:
            return session_of(self.home, self.options, self.wanted.session).address
        except NotFound:
            return Address(self.wanted.workspace, "")


def _show(report: Report | Lore) -> None:
    if isinstance(report, Lore):
        _show_lore(report)
        return
    would = "would be " if report.dry_run else ""
    for one in report.sessions.values():
        new = " (new)" if one.created else ""
        there = f", {one.already_there:,} already there" if one.already_there else ""
        output.say(
            f"{report.file}: {counted(one.imported, 'message')} {would}imported into {one.session!r}{new}{there}"
        )
    for reason, (count, line) in report.notes.items():
        output.note(f"  note: {reason} ({counted(count, 'time')}, first in line {line:,})")
    if report.error:
        output.note(f"talekeeper: {report.error}")


def _warn_of_another_story(report: Report) -> None:
    """Two files of one name, as chat.txt and chat.jsonl, go into one session: one behind the other, or not at all."""
    called = PurePath(report.file).stem.strip()
    meant = report.sessions.get(called)
    if meant is not None and meant.imported and not meant.created and not meant.already_there:
        output.note(
            f"  {called!r} was there, and is the file's name too; --session NAME gives a file a session of its own"
        )


def _json(report: Report) -> dict[str, object]:
    return {
        "file": report.file,
        "format": report.format,
        "dry_run": report.dry_run,
        "imported": report.imported,
        "already_there": report.already_there,
        "sessions": list(report.sessions.values()),
        "notes": [
            {"reason": reason, "count": count, "first_line": line} for reason, (count, line) in report.notes.items()
        ],
        "error": None if report.error is None else str(report.error),
    }


_OUTCOMES = (("added", "added"), ("replaced", "replaced"), ("unchanged", "already there"), ("kept", "kept as they are"))


def _show_lore(lore: Lore) -> None:
    """Prints what became of the file."""
    found = lore.imported
    parts = [f"{len(getattr(found, name)):,} {words}" for name, words in _OUTCOMES if getattr(found, name)]
    output.say(f"{lore.file}: {', '.join(parts) or 'nothing'} in {lore.session!r}, with {found.importer}")
    if found.kept:
        output.note("  those that are there and differ are kept; --replace takes over the file's")
    if found.gone:
        output.note(f"  {counted(len(found.gone), 'record')} withdrawn or forgotten, and staying so")
    for what, why in found.left_out:
        output.note(f"  left out: {what}: {why}")


def _lore_json(lore: Lore) -> dict[str, object]:
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
