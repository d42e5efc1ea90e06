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


def command_group(default: str) -> Callable[[Callable[[], object]], click.Group]:
    """Makes a group of commands that runs the one called `default` when none is named; the docstring is its help."""

    def decorate(described: Callable[[], object]) -> click.Group:
        @click.group(help=described.__doc__, invoke_without_command=True)
        @shared_options(hidden=True)
        @click.pass_context
        def group(ctx: click.Context) -> object:
            return None if ctx.invoked_subcommand else ctx.invoke(group.commands[default])

        return group

    return decorate


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the shared options to a command, and gives it what they said as its first argument."""
    return shared_options(hidden=True)(click.make_pass_decorator(Common, ensure=True)(command))


def shared_options(*, hidden: bool) -> Callable[[F], F]:
    """Adds them to a command; those about plugins and events are `hidden` from its help, and shown by the program's."""
    home = click.Path(path_type=Path, file_okay=False)
    folder = click.Path(path_type=Path, exists=True, file_okay=False)
    folders = {"metavar": "DIR", "type": folder, "multiple": True, "hidden": hidden}
    workspace = f"Campaign or project.  [default: {DEFAULT_WORKSPACE}]"
    no_trace = "Write no events.  [env: TALEKEEPER_TRACE=0, or bodies for all texts]"
    options = (
        _shared("--home", metavar="DIR", type=home, help="Folder of the database.  [env: TALEKEEPER_HOME]"),
        _shared("-w", "--workspace", "given_workspace", metavar="NAME", help=workspace),
        _shared("--json", "as_json", is_flag=True, help="Print JSON, for programs."),
        _shared("--plugin", "plugin_paths", help="One more plugin.", **folders),
        _shared("--plugins", "plugin_folders", help="One more folder of plugins.", **folders),
        _shared("--no-plugins", metavar="[=ID,…]", hidden=hidden, help="Load no plugin, or not these."),
        _shared("--no-trace", is_flag=True, hidden=hidden, help=no_trace),
    )

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _shared(*names: str, **settings: Any) -> Callable[[F], F]:
    return click.option(*names, callback=_keep, expose_value=False, **settings)


def _keep(ctx: click.Context, param: click.Parameter, value: object) -> None:
    """Options stand before or after the command's name; the one given last wins."""
    if value is not None and value not in (False, ()):
        setattr(ctx.ensure_object(Common), str(param.name), value)


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
            self.fail("it is empty; give a name, or omit the option", param, ctx)
        return self._kind.convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """What is there of the kind of thing that is named, and what `kind` proposes: files, folders."""
        from talekeeper.cli.commands.completion import proposals  # noqa: PLC0415 - only a shell that completes asks

        return proposals(ctx, param, incomplete) or self._kind.shell_complete(ctx, param, incomplete)
