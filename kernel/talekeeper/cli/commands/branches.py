"""The commands of `talekeeper sessions` that move about in a session's tree."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, common
from talekeeper.cli.present import place, session_json, tell
from talekeeper.cli.targets import InSession, last_session_argument, open_session, place_of, session_of
from talekeeper.errors import NotFound

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.story import Address, Branch, Coordinate, Session


def _move(options: Common, name: str | None, act: Callable[[Home, Session], Session]) -> None:
    with options.open() as home:
        session = act(home, session_of(home, options, name))
        turn = home.story.tree.newest_turn(session.address)
    where = f"after turn {turn[-1].turn}" if turn else "at the beginning"
    tell(options, f"{session.id} is at {place(session.head)}, {where}", {"session": session_json(session)})


@click.command(cls=InSession, epilog="Example:  talekeeper sessions undo low-house")
@last_session_argument
@common
def undo(options: Common, /, name: str | None) -> None:
    """Go back one turn, in SESSION or the session used last; nothing is lost."""
    _move(options, name, lambda home, session: home.story.tree.undo(session.address))


@click.command(cls=InSession, epilog="Example:  talekeeper sessions redo low-house")
@last_session_argument
@common
def redo(options: Common, /, name: str | None) -> None:
    """Undo the last undo or retry, in SESSION or the session used last."""
    _move(options, name, lambda home, session: home.story.tree.redo(session.address))


@click.command(cls=InSession, epilog="Example:  talekeeper sessions retry low-house")
@last_session_argument
@common
def retry(options: Common, /, name: str | None) -> None:
    """Go back to before the newest answer, so that the next one is another take of it.

    Uses SESSION or the session used last. Redo returns to the answer; nothing is lost.
    """
    _move(options, name, lambda home, session: home.story.tree.retry(session.address))


@click.command(cls=InSession, epilog="Example:  talekeeper sessions takes low-house")
@last_session_argument
@common
def takes(options: Common, /, name: str) -> None:
    """List the answers to the newest turn, in SESSION or the session used last."""
    with open_session(options, name) as (home, session):
        found = takes_of(home, session.address)
    if options.as_json:
        output.emit({"session": session.id, "takes": found})
    elif found:
        show_takes(found)
    else:
        output.note(f"{session.id} has no answer yet")


def takes_of(home: Home, address: Address) -> list[dict[str, Any]]:
    """The answers to the newest turn as `--json` prints them."""
    takes = [(take, home.story.messages.at(address, take.first)) for take in home.story.tree.takes(address)]
    return [
        {"number": take.number, "current": take.current, "tip": place(take.tip), "text": first.text if first else ""}
        for take, first in takes
    ]


def show_takes(found: list[dict[str, Any]]) -> None:
    """The same for people."""
    rows = [(take["number"], "*" if take["current"] else "", take["text"][:80]) for take in found]
    output.table(("take", "", "begins"), rows, right={0})


@click.command(cls=InSession, epilog="Example:  talekeeper sessions switch low-house 2")
@last_session_argument
@click.argument("number", type=click.IntRange(min=1))
@common
def switch(options: Common, /, name: str | None, number: int) -> None:
    """Go to another answer of the newest turn, by its number; the others stay.

    Uses SESSION or the session used last. `sessions takes` lists the numbers. In play this is /take NUMBER.
    """
    _move(options, name, lambda home, session: home.story.tree.switch_take(session.address, number))


@click.command(cls=InSession, epilog="Example:  talekeeper sessions fork low-house --at 0:11 --name before-the-fire")
@last_session_argument
@click.option("--at", metavar="BRANCH:DEPTH", help="Where to fork.  [default: here]")
@click.option("--name", "label", default="", help="A name for the branch.")
@common
def fork(options: Common, /, name: str | None, at: str | None, label: str) -> None:
    """Start a branch anywhere and go there; `sessions go` leads back.

    Uses SESSION or the session used last. In play, /fork NAME is `sessions fork --name NAME`.
    """
    start = None if at is None else place_of(at)
    try:
        _move(options, name, lambda home, session: home.story.tree.fork(session.address, start, name=label))
    except NotFound as fault:
        if name is None or label or not fault.what.startswith("there is no session"):
            raise
        cure = f"to call the new branch so:  talekeeper sessions fork --name {shlex.quote(name)}"
        raise NotFound(fault.what, where=fault.where, cure=cure) from None


@click.command(cls=InSession, epilog="Example:  talekeeper sessions branches low-house")
@last_session_argument
@common
def branches(options: Common, /, name: str) -> None:
    """List the branches of SESSION, or of the session used last."""
    with open_session(options, name) as (home, session):
        found = home.story.tree.branches(session.address)
    if options.as_json:
        rows = [{**branch_json(one), "created": one.created} for one in found]
        output.emit({"session": session.id, "head": place(session.head), "branches": rows})
    else:
        show_branches(found, session.head)


def branch_json(branch: Branch) -> dict[str, Any]:
    """A branch as `--json` prints it."""
    tip = f"{branch.id}:{branch.tip}"
    return {"id": branch.id, "name": branch.name, "from": place(branch.fork), "tip": tip}


def show_branches(found: Sequence[Branch], head: Coordinate) -> None:
    """The branches for people, with a mark at the one where the head is."""
    rows = [(*branch_json(one).values(), "*" if one.id == head.branch else "") for one in found]
    output.table(("branch", "name", "from", "tip", "here"), rows, right={0})


@click.command(cls=InSession, epilog="Example:  talekeeper sessions go low-house before-the-fire")
@last_session_argument
@click.argument("to", metavar="PLACE")
@common
def go(options: Common, /, name: str | None, to: str) -> None:
    """Go to any place in the tree: the end of a branch, by its name or number, or BRANCH:DEPTH; nothing is lost.

    Uses SESSION or the session used last.
    """
    _move(options, name, lambda home, session: home.story.tree.go(session.address, place_in(home, session.address, to)))


def place_in(home: Home, address: Address, to: str) -> Coordinate:
    """The end of the branch of this name, else of this number, or `BRANCH:DEPTH`."""
    from talekeeper.story import Coordinate  # noqa: PLC0415 - only when a place is named

    known = home.story.tree.branches(address)
    found = [one for one in known if one.name == to] or [one for one in known if str(one.id) == to]
    if found:
        return Coordinate(found[0].id, found[0].tip)
    if ":" not in to:
        cure = "talekeeper sessions branches lists names and numbers; a place is written BRANCH:DEPTH"
        raise NotFound(f"there is no branch {to!r}", where=address.session, cure=cure)
    return place_of(to)


COMMANDS = (undo, redo, retry, takes, switch, fork, branches, go)
