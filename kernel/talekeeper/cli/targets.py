"""Which session, message, place or namespace the words of a command name."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from talekeeper.cli.options import Common
from talekeeper.errors import NotFound, ParameterError

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.manifest import Namespace
    from talekeeper.story import Coordinate, Message, Scope, Session, Workspace

_PLACE = re.compile(r"(\d+):(-?\d+)")
MOST = 2**31 - 1
"""The largest number that the store holds for a turn, a place or a count."""
_DIGITS = 11
_SHOWN = 40
_TURNS = re.compile(r"(\d+)(?:\.\.(\d+))?")


@contextmanager
def open_session(options: Common, name: str | None) -> Generator[tuple[Home, Session]]:
    """Opens the home with the session that `name` means; see `session_of`."""
    with options.open() as home:
        yield home, session_of(home, options, name)


def session_of(home: Home, options: Common, name: str | None) -> Session:
    """By id, by title when only one has it, or by the beginning of an id; without a name the one used last."""
    known = home.story.sessions.all(options.workspace)
    if not known:
        from talekeeper.story import check_workspace  # noqa: PLC0415 - only where none is found

        check_workspace(options.workspace)
        raise NotFound(f"the workspace {options.workspace!r} has no sessions", cure=cure_of_no_sessions(home, options))
    if name is None:
        return known[0]
    ways: tuple[Callable[[Session], bool], ...] = (
        lambda session: session.id == name,
        lambda session: session.title == name,
        lambda session: session.id.startswith(name),
    )
    for fits in ways:
        found = list(filter(fits, known))
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(session.id for session in found[:5])
            raise NotFound(f"{name!r} matches several sessions", cure=f"give one of {ids}")
    from talekeeper.story import check_name  # noqa: PLC0415 - as above

    check_name(name, "session")
    cure = _cure(name, [session.id for session in known], "talekeeper sessions list shows them")
    raise NotFound(f"there is no session {name!r}", where=options.workspace, cure=cure)


def cure_of_no_sessions(home: Home, options: Common) -> str:
    """What to do about a workspace without any: it may be another one's name misspelt."""
    others = [workspace.id for workspace in home.story.workspaces.all() if workspace.id != options.workspace]
    making = "talekeeper import FILE imports a conversation, talekeeper sessions new makes an empty session"
    return _cure(options.workspace, others, making)


def workspace_of(home: Home, name: str) -> Workspace:
    """By its name."""
    known = {workspace.id: workspace for workspace in home.story.workspaces.all()}
    if name not in known:
        cure = _cure(name, list(known), "talekeeper workspaces list shows them")
        raise NotFound(f"there is no workspace {name!r}", cure=cure)
    return known[name]


def _cure(name: str, known: list[str], otherwise: str) -> str:
    from talekeeper.config import nearest  # noqa: PLC0415 - as above

    near = nearest(name, known)
    return otherwise if near is None else f"did you mean {near!r}?"


def message_of(home: Home, session: Session, name: str) -> Message:
    """By id, or by the id it had in the file it was imported from."""
    found = home.story.messages.by_id(session.address, [name]).get(name)
    if found is None:
        found = home.story.messages.by_ref(session.address, [name]).get(name)
    if found is None:
        cure = f"talekeeper sessions show {session.id} lists them"
        raise NotFound(f"there is no message {name!r}", where=session.id, cure=cure)
    return found


def place_of(text: str) -> Coordinate:
    """`BRANCH:DEPTH`, as `sessions show` and `sessions branches` print it."""
    from talekeeper.story import Coordinate  # noqa: PLC0415 - few commands name a place

    found = _PLACE.fullmatch(text)
    if found is None:
        cure = "write it as BRANCH:DEPTH; talekeeper sessions branches lists those to go to"
        raise ParameterError("place", f"{text!r} is not a place", cure=cure)
    return Coordinate(_bounded(found[1], "place"), _bounded(found[2], "place"))


def turns_of(text: str) -> tuple[int, int]:
    """`7` or `7..12`."""
    found = _TURNS.fullmatch(text)
    if found is None:
        raise ParameterError("turns", f"{text!r} is not a range of turns", cure="write it as 7 or 7..12")
    return _bounded(found[1], "turns"), _bounded(found[2] or found[1], "turns")


def _bounded(digits: str, field: str) -> int:
    """A number that the store can hold."""
    number = int(digits) if len(digits) <= _DIGITS else MOST + 1
    if abs(number) > MOST:
        raise ParameterError(field, f"{digits[:_SHOWN]} is larger than {MOST:,}, the largest allowed")
    return number


F = TypeVar("F", bound=Callable[..., Any])

session_option = click.option(
    "-s", "--session", metavar="SESSION", help="The session.  [default: the session used last]"
)
"""For commands whose words are something else; the function gets it as `session`, None for the one used last."""

_OPTION = "session"
_LEFT_OUT = f"{__name__}.left-out"


def session_argument(command: F) -> F:
    """Adds SESSION, which must be named; the function gets it as `name`. The command is an `InSession`."""
    return _option(click.argument("name", metavar="SESSION")(command))


def last_session_argument(command: F) -> F:
    """Adds [SESSION]; the function gets None as `name` for the session used last. The command is an `InSession`."""
    return _option(click.argument("name", metavar="[SESSION]", required=False)(command))


def _option(command: F) -> F:
    # Kept off the parameters: a group that shows a list invokes its function with all of them.
    help_text = "Name the session here instead."
    return click.option("-s", "--session", _OPTION, metavar="SESSION", help=help_text, expose_value=False)(command)


class InSession(click.Command):
    """Reads no SESSION off the words where --session names it, or where the words are just enough for the others."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts what names the session under `name`."""
        given = self.make_parser(ctx).parse_args(list(args))[0]
        named = isinstance(given.get(_OPTION), str)
        ctx.meta[_LEFT_OUT] = named or self._one_too_few(given)
        rest = super().parse_args(ctx, args)
        if named:
            ctx.params["name"] = given[_OPTION]
        else:
            ctx.params.setdefault("name", None)
        return rest

    def get_help(self, ctx: click.Context) -> str:
        """Shows SESSION, whatever words were given beside --help."""
        ctx.meta[_LEFT_OUT] = False
        return super().get_help(ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Without SESSION where it is not among the words."""
        left_out = ctx.meta.get(_LEFT_OUT)
        return [param for param in super().get_params(ctx) if not left_out or param.name != "name"]

    def _one_too_few(self, given: dict[str, Any]) -> bool:
        """Whether SESSION may be left out, and would take the word that another one must have."""
        words = {param.name: param.required for param in self.params if isinstance(param, click.Argument)}
        if words.get("name", True) or not isinstance(given.get("name"), str):
            return False
        return any(must and not isinstance(given.get(str(word)), str) for word, must in words.items())


def namespace_of(home: Home, options: Common, path: str, session: str | None) -> tuple[Namespace, Scope]:
    """A namespace and the scope of its records in the session named, or the one used last; migrates the data first."""
    from talekeeper.story import Scope, scope_of  # noqa: PLC0415 - few commands name a namespace

    namespace = home.host.namespace(path)
    if namespace.scope == "workspace" and session is None:
        home.story.workspaces.create(options.workspace)
        return namespace, Scope(options.workspace)
    found = session_of(home, options, session)
    home.host.ready(found.address)
    return namespace, scope_of(namespace, found)
