"""`talekeeper backup`: the database copied while others may be using it."""

from __future__ import annotations

from pathlib import Path

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, common, pass_common


@click.command(epilog="Example:  talekeeper backup ~/talekeeper-2025-03-18.sqlite")
@click.argument("target", type=click.Path(path_type=Path))
@common
@pass_common
def command(options: Common, /, target: Path) -> None:
    """Copy the database to a file while it is in use.

    The copy appears whole or not at all; to go back to it, put it in the home folder as talekeeper.sqlite.
    """
    with options.open() as home, output.progress("backup", 100) as reach:
        home.db.backup(target, progress=lambda done, total: reach(100 * done // max(total, 1)))
    size = target.stat().st_size
    if options.as_json:
        output.emit({"backup": target, "bytes": size})
    else:
        output.say(f"{target}: {output.sized(size)}")
