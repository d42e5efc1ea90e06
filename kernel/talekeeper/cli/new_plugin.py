"""`talekeeper new-plugin`: the project of a new plugin, whose tests pass and whose wheel validates."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, common, pass_common


@click.command(epilog="Example:  talekeeper new-plugin tavern-tales")
@click.argument("name")
@click.option("--data-only", is_flag=True, help="Without code: a record schema and records that come along.")
@click.option(
    "--directory",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Where to make its folder.  [default: here]",
)
@common
@pass_common
def command(options: Common, /, name: str, directory: Path, *, data_only: bool) -> None:
    """Make the project of a new plugin.

    NAME is the plugin's id: small letters a to z, digits and hyphens. The new folder carries it.
    """
    from talekeeper.scaffold import check_id, write_project  # noqa: PLC0415 - --help needs no templates

    folder = _at_home(directory) / check_id(name)
    files = write_project(name, folder, data_only=data_only)
    if options.as_json:
        output.emit({"plugin": name, "folder": folder, "files": files})
        return
    output.say(f"{folder} has {output.counted(len(files), 'file')}:")
    for file in files:
        output.say(f"  {file}")
    output.note(f"next:  cd {shlex.quote(str(folder))}  then  validate-plugin .  and  python -m pytest")


def _at_home(directory: Path) -> Path:
    # No shell does so after `--directory=`, and a folder called ~ is one that somebody removes with all of his own.
    try:
        return directory.expanduser()
    except RuntimeError:
        return directory
