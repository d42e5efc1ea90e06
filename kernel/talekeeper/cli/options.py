"""Options that every command takes, and how a command opens its home."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from talekeeper.home import Home

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(slots=True)
class Common:
    """What the shared options said; every command's `ctx.obj`. `no_plugins` is empty for all, else ids with commas."""

    home: Path | None = None
    workspace: str = "default"
    as_json: bool = False
    plugin_folders: tuple[Path, ...] = ()
    no_plugins: str | None = None

    def open(self) -> Home:
        """The home these options name, to be used in a `with`."""
        from talekeeper.home import Home  # noqa: PLC0415 - numpy and sqlite load with a home, not with --help

        return Home.open(self.home, plugin_folders=self.plugin_folders, no_plugins=self.no_plugins)


pass_common = click.make_pass_decorator(Common, ensure=True)


def _keep(ctx: click.Context, param: click.Parameter, value: object) -> None:
    """Options stand before or after the command's name; the one given last wins."""
    if value is not None and value not in (False, ()):
        setattr(ctx.ensure_object(Common), str(param.name), value)


def common(command: F) -> F:
    """Adds the shared options to a command or group."""
    for option in (
        click.option(
            "--no-plugins", metavar="[=ID,…]", callback=_keep, expose_value=False, help="Load no plugin, or not these."
        ),
        click.option(
            "--plugins",
            "plugin_folders",
            multiple=True,
            type=click.Path(path_type=Path, exists=True, file_okay=False),
            callback=_keep,
            expose_value=False,
            help="One more folder to find plugins in.",
        ),
        click.option(
            "--json", "as_json", is_flag=True, callback=_keep, expose_value=False, help="Print JSON, for programs."
        ),
        click.option(
            "-w",
            "--workspace",
            metavar="NAME",
            callback=_keep,
            expose_value=False,
            help="Campaign or project.  [default: default]",
        ),
        click.option(
            "--home",
            metavar="DIR",
            type=click.Path(path_type=Path, file_okay=False),
            callback=_keep,
            expose_value=False,
            help="Folder of the database.  [env: TALEKEEPER_HOME]",
        ),
    ):
        command = option(command)
    return command
