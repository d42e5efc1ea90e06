"""Which session, message or place a person means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from talekeeper.cli.options import Common
from talekeeper.config import nearest
from talekeeper.errors import NotFound, ParameterError
from talekeeper.story import Coordinate, Message, Session, Workspace, check_name, check_workspace

if TYPE_CHECKING:
    from talekeeper.home import Home

_PLACE = re.compile(r"(\d+):(-?\d+)")
_MOST = 2**31 - 1
_DIGITS = 11
_SHOWN = 40
_TURNS = re.compile(r"(\d+)(?:\.\.(\d+))?")


def session_of(home: Home, options: Common, name: str | None) -> Session:
    """By id, by title when only one has it, or by the beginning of an id; without a name the one used last."""
    known = home.story.sessions(options.workspace)
    if not known:
        check_workspace(options.workspace)
        raise NotFound(f"the workspace {options.workspace!r} has no sessions", cure=cure_of_no_sessions(home, options))
    if name is None:
        return known[0]
    for fits in (known_by_id, known_by_title, known_by_start):
        found = [session for session in known if fits(session, name)]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(session.id for session in found[:5])
            raise NotFound(f"{name!r} may be any of several sessions", cure=f"give one of {ids}")
    check_name(name, "session")
    cure = _cure(name, [session.id for session in known], "talekeeper sessions list shows them")
    raise NotFound(f"there is no session {name!r}", where=options.workspace, cure=cure)


def cure_of_no_sessions(home: Home, options: Common) -> str:
    """What to do about a workspace without any: it may be another one's name misspelt."""
    others = [workspace.id for workspace in home.story.workspaces() if workspace.id != options.workspace]
    making = "talekeeper import FILE brings a conversation, talekeeper sessions new makes an empty one"
    return _cure(options.workspace, others, making)


def workspace_of(home: Home, name: str) -> Workspace:
    """By its name."""
    known = home.story.workspaces()
    for workspace in known:
        if workspace.id == name:
            return workspace
    cure = _cure(name, [workspace.id for workspace in known], "talekeeper workspaces list shows them")
    raise NotFound(f"there is no workspace {name!r}", cure=cure)


def known_by_id(session: Session, name: str) -> bool:
    """Its id."""
    return session.id == name


def known_by_title(session: Session, name: str) -> bool:
    """Its title."""
    return session.title == name


def known_by_start(session: Session, name: str) -> bool:
    """The beginning of its id."""
    return session.id.startswith(name)


def _cure(name: str, known: list[str], otherwise: str) -> str:
    near = nearest(name, known)
    return otherwise if near is None else f"did you mean {near!r}?"


def message_of(home: Home, session: Session, name: str) -> Message:
    """By id, or by the id it had in the file it was imported from."""
    found = home.story.messages_by_id(session.address, [name]).get(name)
    if found is None:
        found = home.story.messages_by_ref(session.address, [name]).get(name)
    if found is None:
        cure = f"talekeeper sessions show {session.id} lists them"
        raise NotFound(f"there is no message {name!r}", where=session.id, cure=cure)
    return found


def place_of(text: str) -> Coordinate:
    """`BRANCH:DEPTH`, as `sessions show` and `sessions branches` print it."""
    found = _PLACE.fullmatch(text)
    if found is None:
        cure = "write it as BRANCH:DEPTH; talekeeper sessions branches lists those to go to"
        raise ParameterError("place", f"{text!r} is not a place", cure=cure)
    return Coordinate(_bounded(found[1], "place"), _bounded(found[2], "place"))


def turns_of(text: str) -> tuple[int, int]:
    """`7` or `7..12`."""
    found = _TURNS.fullmatch(text)
    if found is None:
        raise ParameterError("turns", f"{text!r} is no range of turns", cure="write it as 7 or 7..12")
    return _bounded(found[1], "turns"), _bounded(found[2] or found[1], "turns")


def _bounded(digits: str, field: str) -> int:
    """A number that the store can hold."""
    number = int(digits) if len(digits) <= _DIGITS else _MOST + 1
    if abs(number) > _MOST:
        raise ParameterError(field, f"{digits[:_SHOWN]} is beyond {_MOST:,}, the largest there can be")
    return number
