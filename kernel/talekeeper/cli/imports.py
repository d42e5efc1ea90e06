"""`talekeeper import`: conversations from files, and lore through plugins' importers."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from talekeeper.cli import screen
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.errors import ImportFileError
from talekeeper.exchange import ARCHIVE, FORMATS, Options, Report, Source, detect, import_file, restore_archive
from talekeeper.story import Address

if TYPE_CHECKING:
    from talekeeper.home import Home

# What comes through a pipe is read twice; up to this much of it waits in memory, the rest on disk.
_SPOOL = 8 * 1024 * 1024


@click.command(epilog="Example:  talekeeper import chat.jsonl --player Ann")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--format", "name", type=click.Choice(FORMATS), help="What the files are.  [default: seen from the file]")
@click.option("-s", "--session", metavar="NAME", help="Put everything into this session.  [default: the file's]")
@click.option("--player", metavar="NAME", help="The speaker who is the player.")
@click.option("--title", default="", help="Title of a new session.")
@click.option("--locale", default="en", show_default=True, help="Language of a new session.")
@click.option("--dry-run", is_flag=True, help="Read and compare everything, change nothing.")
@common
@pass_common
def command(options: Common, /, files: tuple[str, ...], name: str | None, dry_run: bool, **more: Any) -> int:  # noqa: FBT001
    """Read conversations from files into sessions.

    JSON Lines ({id, session, speaker, text, time?, turn?, role?}), SillyTavern chats, transcripts ("Name: text") and
    Talekeeper's own exports are told apart by their content. Running an import again goes on where it ended. "-" reads
    what is piped in.
    """
    reports: list[Report] = []
    with options.open() as home:
        wanted = Options(options.workspace, plugins=home.host.enabled(options.workspace), dry_run=dry_run, **more)
        for file in files:
            with _opened(file) as stream:
                reports.append(_import(home, options, Source(stream, file), name, wanted))
            if not options.as_json:
                _show(reports[-1])
    if options.as_json:
        screen.emit({"files": [_json(report) for report in reports]})
    return 1 if any(report.error for report in reports) else 0


def _import(home: Home, options: Common, source: Source, name: str | None, wanted: Options) -> Report:
    size = source.stream.seek(0, 2)
    try:
        name = name or detect(source, wanted.player)
    except ImportFileError as fault:
        return Report(source.name, "unknown", dry_run=wanted.dry_run, error=fault)
    with screen.progress(source.name, size) as reach:
        if name == ARCHIVE:
            return restore_archive(home.story, source, wanted, reach, options.given_workspace)
        report = import_file(home.story, source, name, wanted, reach)
    if not wanted.dry_run:
        for session in report.sessions:
            home.host.ready(Address(wanted.workspace, session))
    return report


@contextmanager
def _opened(name: str) -> Generator[BinaryIO, None, None]:
    if name != "-":
        with Path(name).open("rb") as stream:
            yield stream
        return
    with tempfile.SpooledTemporaryFile(_SPOOL) as spool:
        shutil.copyfileobj(sys.stdin.buffer, spool)
        yield cast("BinaryIO", spool)


def _show(report: Report) -> None:
    would = "would be " if report.dry_run else ""
    for one in report.sessions.values():
        new = " (new)" if one.created else ""
        there = f", {one.already_there:,} already there" if one.already_there else ""
        screen.say(f"{report.file}: {one.imported:,} messages {would}imported into {one.session!r}{new}{there}")
    for reason, (count, line) in report.skipped.items():
        screen.note(f"  left out: {reason} ({count:,} times, first in line {line:,})")
    if report.error:
        screen.note(f"talekeeper: {report.error}")


def _json(report: Report) -> dict[str, object]:
    return {
        "file": report.file,
        "format": report.format,
        "dry_run": report.dry_run,
        "imported": report.imported,
        "already_there": report.already_there,
        "sessions": list(report.sessions.values()),
        "left_out": [
            {"reason": reason, "count": count, "first_line": line} for reason, (count, line) in report.skipped.items()
        ],
        "error": None if report.error is None else str(report.error),
    }
