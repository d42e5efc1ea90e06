"""Options that every command takes, how a command opens its home, and the rule that a name is not empty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from talekeeper.home import Home

DEFAULT_WORKSPACE = "default"

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(slots=True)
class Common:
    """What the shared options said; every command's `ctx.obj`. `no_plugins` is empty for all, else ids with commas."""

    home: Path | None = None
    given_workspace: str | None = None
    as_json: bool = False
    plugin_folders: tuple[Path, ...] = ()
    plugin_paths: tuple[Path, ...] = ()
    no_plugins: str | None = None
    no_trace: bool = False

    @property
    def workspace(self) -> str:
        """The workspace named, or the one everybody begins with."""
        return self.given_workspace or DEFAULT_WORKSPACE

    def open(self, folder: Path | None = None, *, new: bool = True) -> Home:
        """The home these options name, or the one at `folder`, to be used in a `with`; made only if it may be `new`."""
        from talekeeper.home import Home  # noqa: PLC0415 - numpy and sqlite load with a home, not with --help

        return Home.open(
            folder or self.home,
            plugin_folders=self.plugin_folders,
            plugin_paths=self.plugin_paths,
            no_plugins=self.no_plugins,
            new=new,
            tracing=not self.no_trace,
        )


pass_common = click.make_pass_decorator(Common, ensure=True)


def _keep(ctx: click.Context, param: click.Parameter, value: object) -> None:
    """Options stand before or after the command's name; the one given last wins."""
    if value is not None and value not in (False, ()):
        setattr(ctx.ensure_object(Common), str(param.name), value)


def common(command: F) -> F:
    """Adds the shared options to a command; its help leaves those about plugins to `talekeeper --help`."""
    return _add(command, hide=True)


def common_shown(command: F) -> F:
    """Adds the shared options to the program itself."""
    return _add(command, hide=False)


def _add(command: F, *, hide: bool) -> F:
    folder = click.Path(path_type=Path, exists=True, file_okay=False)
    options: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
        (
            ("--no-trace",),
            {
                "is_flag": True,
                "hidden": hide,
                "help": "Write no events.  [env: TALEKEEPER_TRACE=0, or bodies for all texts]",
            },
        ),
        (("--no-plugins",), {"metavar": "[=ID,…]", "hidden": hide, "help": "Load no plugin, or not these."}),
        (
            ("--plugins", "plugin_folders"),
            {"metavar": "DIR", "type": folder, "multiple": True, "hidden": hide, "help": "One more folder of plugins."},
        ),
        (
            ("--plugin", "plugin_paths"),
            {"metavar": "DIR", "type": folder, "multiple": True, "hidden": hide, "help": "One more plugin."},
        ),
        (("--json", "as_json"), {"is_flag": True, "help": "Print JSON, for programs."}),
        (
            ("-w", "--workspace", "given_workspace"),
            {"metavar": "NAME", "help": f"Campaign or project.  [default: {DEFAULT_WORKSPACE}]"},
        ),
        (
            ("--home",),
            {
                "metavar": "DIR",
                "type": click.Path(path_type=Path, file_okay=False),
                "help": "Folder of the database.  [env: TALEKEEPER_HOME]",
            },
        ),
    )
    for names, settings in options:
        command = click.option(*names, callback=_keep, expose_value=False, **settings)(command)
    return command


# What may be empty is text: a title or a name can be taken away, a message and a question say so in their own words,
# `--no-plugins=` leaves out all of them, and `rest` is read against options known later.
_TEXTS = frozenset({"title", "label", "text", "query", "wordings", "no_plugins", "rest"})


def refuse_empty(command: click.Command) -> click.Command:
    """Lets a command, and those in it, refuse the empty string wherever it would name something; gives it back."""
    for param in command.params:
        if param.name not in _TEXTS and isinstance(param.type, click.types.StringParamType | click.Path):
            param.type = _Named(param.type)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        refuse_empty(inner)
    return command


def possible(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The callback of options that name what is to be made; raises `ParameterError` for what the store would refuse."""
    from talekeeper.story import check_name  # noqa: PLC0415 - --help needs no story

    del ctx
    return value if value is None else check_name(value, param.opts[-1])


class _Named(click.ParamType[Any]):
    """As `kind`, and not blank. `--home ""` would be the current folder, and `--session ""` any session."""

    def __init__(self, kind: click.ParamType[Any]) -> None:
        self._kind = kind
        self.name = kind.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value that `kind` makes of it."""
        if isinstance(value, str) and not value.strip():
            self.fail("it is empty; give a name, or leave the option out", param, ctx)
        return self._kind.convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """What is there of the kind of thing that is named, and what `kind` proposes: files, folders."""
        from talekeeper.cli.commands.completion import proposals  # noqa: PLC0415 - only a shell that completes asks

        return proposals(ctx, param, incomplete) or self._kind.shell_complete(ctx, param, incomplete)
