"""`talekeeper import`: conversations from files, and lore through plugins' importers."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import lore, output
from talekeeper.cli.lore import Lore, Wish
from talekeeper.cli.naming import possible
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.errors import ImportFileError, TalekeeperError
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
from talekeeper.story import Address

if TYPE_CHECKING:
    from talekeeper.home import Home


@click.command(epilog="Example:  talekeeper import chat.jsonl --player Ann")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--format", "name", type=click.Choice(FORMATS), help="What the files are.  [default: seen from the file]")
@click.option(
    "-s",
    "--session",
    metavar="NAME",
    callback=possible,
    help="Put everything into this session.  [default: the file's]",
)
@click.option("--player", metavar="NAME", help="The speaker who is the player.")
@click.option("--title", default="", help="Title of a new session.")
@click.option("--locale", default="en", callback=possible, show_default=True, help="Language of a new session.")
@click.option("--dry-run", is_flag=True, help="Read and compare everything, change nothing.")
@click.option("--importer", metavar="PLUGIN/ID", help="Read the files with a plugin's importer, into the session.")
@click.option("--replace", is_flag=True, help="With an importer: take over records that differ.")
@common
@pass_common
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
    import again goes on where it ended. "-" reads what is piped in.

    An import is taken back by `sessions delete` or, in a session that was there, by `sessions go` to where it stood;
    a record by `data withdraw`.
    """
    wish = Wish(session, importer, replace)
    results: list[Report | Lore] = []
    with options.open() as home:
        plugins = home.plugins_of_new_sessions(options.workspace)
        wanted = Options(options.workspace, session=session, plugins=plugins, **more)
        for file in files:
            results.append(_import(home, options, file, name, wanted, wish))
            if not options.as_json:
                _show(results[-1])
                if session is None and isinstance(results[-1], Report):
                    _warn_of_another_story(results[-1])
    if options.as_json:
        output.emit({"files": [_json(one) if isinstance(one, Report) else lore.as_json(one) for one in results]})
    return max((one.error.exit_code for one in results if one.error is not None), default=0)


def _import(home: Home, options: Common, file: str, name: str | None, wanted: Options, wish: Wish) -> Report | Lore:
    """One file; what is wrong with it is told in its place, and the others go on."""
    try:
        with opened(file) as stream:
            return _import_stream(home, options, Source(stream, file), name, wanted, wish)
    except TalekeeperError as fault:
        return Report(file, name or wish.importer or "unknown", dry_run=wanted.dry_run, error=fault)


def _import_stream(
    home: Home, options: Common, source: Source, name: str | None, wanted: Options, wish: Wish
) -> Report | Lore:
    if wish.importer is not None:
        return lore.import_lore(home, options, source, wish, dry_run=wanted.dry_run)
    if name is not None:
        return _import_conversation(home, options, source, name, wanted)
    try:
        name = detect_format(source, wanted.player)
    except ImportFileError:
        # A file that is no conversation: what plugins make of it, else the sentence that says so.
        found = lore.instead_of_a_conversation(home, options, source, wish, dry_run=wanted.dry_run)
        if found is None:
            raise
        return found
    if name == GUESSED:
        found = lore.instead_of_a_guess(home, options, source, wish, dry_run=wanted.dry_run)
        if found is not None:
            return found
    return _import_conversation(home, options, source, name, wanted)


def _import_conversation(home: Home, options: Common, source: Source, name: str, wanted: Options) -> Report:
    with output.progress(source.name, source.stream.seek(0, 2)) as reach:
        if name == ARCHIVE:
            return restore_archive(home.story, home.leases, source, wanted, reach, options.given_workspace)
        report = import_file(home.story, source, name, wanted, reach)
    if not wanted.dry_run:
        for session in report.sessions:
            home.host.ready(Address(wanted.workspace, session))
    return report


def _show(report: Report | Lore) -> None:
    if isinstance(report, Lore):
        lore.show(report)
        return
    would = "would be " if report.dry_run else ""
    for one in report.sessions.values():
        new = " (new)" if one.created else ""
        there = f", {one.already_there:,} already there" if one.already_there else ""
        output.say(
            f"{report.file}: {output.counted(one.imported, 'message')} {would}imported into {one.session!r}{new}{there}"
        )
    for reason, (count, line) in report.notes.items():
        output.note(f"  note: {reason} ({output.counted(count, 'time')}, first in line {line:,})")
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
