"""`talekeeper export` and `backup`: sessions in a file, to be imported or read, and a copy of the database."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, common
from talekeeper.cli.present import tell
from talekeeper.cli.targets import session_of, workspace_of
from talekeeper.cli.terminal import write_utf8
from talekeeper.clock import iso
from talekeeper.db import draft_of, publish_file
from talekeeper.errors import InputError, ParameterError
from talekeeper.exchange import render_markdown, render_sillytavern, siblings_of, write_archive
from talekeeper.text import counted

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.story import Session

WHOLE = "jsonl"
_FORMATS = (WHOLE, "sillytavern", "markdown")


@click.command(epilog="Example:  talekeeper export low-house --output low-house.jsonl")
@click.argument("names", nargs=-1, metavar="[SESSION…]")
@click.option("-s", "--session", "more", metavar="SESSION", multiple=True, help="Name a session here instead.")
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write.  [default: stdout]",
)
@click.option("--format", "form", type=click.Choice(_FORMATS), default=WHOLE, show_default=True)
@common
def export(options: Common, /, names: tuple[str, ...], more: tuple[str, ...], target: Path | None, form: str) -> None:
    """Write sessions to a file, to keep, move or read.

    Without a SESSION, writes all sessions of the workspace. jsonl holds everything (branches, takes, records, versions)
    in hashed lines, and `talekeeper import` restores it. sillytavern and markdown hold one session's current story.
    """
    if options.as_json and target is None:
        # What is printed is then one document, and an export is none.
        raise ParameterError(
            "--output", "with --json an export goes to a file, and none is named", cure="add --output FILE"
        )
    with options.open() as home:
        named = [session_of(home, options, name) for name in (*names, *more)]
        sessions = named or home.story.sessions.all(options.workspace)
        if not sessions:
            workspace_of(home, options.workspace)
        with _writer(target) as write:
            if form == WHOLE:
                written = iso(home.clock.now())
                with output.progress("export", sum(session.messages for session in sessions)) as reach:
                    write_archive(home.story, write, options.workspace, sessions, written=written, progress=reach)
            else:
                _write_story(home, sessions, form, write)
    if target is not None:
        size = target.stat().st_size
        told = {"export": target, "bytes": size, "sessions": [session.id for session in sessions]}
        tell(options, f"{target}: {counted(len(sessions), 'session')}, {output.sized(size)}", told)


def _write_story(home: Home, sessions: list[Session], form: str, write: Callable[[str], object]) -> None:
    if len(sessions) != 1:
        raise ParameterError("SESSION", f"{form} holds one session, not {len(sessions)}", cure="name the one to export")
    session = sessions[0]
    messages = home.story.messages.read(session.address)
    if form == "markdown":
        lines = render_markdown(session, messages)
    else:
        forks = {branch.id: branch.fork for branch in home.story.tree.branches(session.address)}
        siblings = siblings_of(home.story.messages.all(session.address), forks)
        lines = render_sillytavern(session, messages, siblings)
    for line in lines:
        write(f"{line}\n")


@contextmanager
def _writer(target: Path | None) -> Generator[Callable[[str], object], None, None]:
    """Writes to stdout, or to a file that appears under its name whole or not at all."""
    if target is None:
        yield write_utf8
        return
    if os.path.exists(target):  # noqa: PTH110 - what cannot be looked at cannot be written either, which tells why
        raise InputError("there is already a file of this name", where=str(target), cure="choose another name")
    try:
        with draft_of(target) as draft:
            with draft.open("w", encoding="utf-8", newline="\n") as file:
                yield file.write
            publish_file(draft, target)
    except OSError as fault:
        what = f"the export cannot be written ({fault.strerror})"
        raise InputError(what, where=str(target), cure="choose a folder that is writable and has space") from fault


@click.command(epilog="Example:  talekeeper backup ~/talekeeper-2025-03-18.sqlite")
@click.argument("target", type=click.Path(path_type=Path))
@common
def backup(options: Common, /, target: Path) -> None:
    """Copy the database to a file while it is in use.

    The copy appears whole or not at all. To restore it, put it in the home folder as talekeeper.sqlite.
    """
    with options.open() as home, output.progress("backup", 100) as reach:
        home.db.backup(target, progress=lambda done, total: reach(100 * done // max(total, 1)))
    size = target.stat().st_size
    tell(options, f"{target}: {output.sized(size)}", {"backup": target, "bytes": size})
