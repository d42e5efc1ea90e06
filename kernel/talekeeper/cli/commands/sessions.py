"""`talekeeper sessions`: sessions, the messages in them, and which plugins they have."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.commands.branches import COMMANDS as TREE
from talekeeper.cli.options import Common, command_group, common, possible
from talekeeper.cli.present import message_json, minute, session_facts, session_json, show_messages, tell
from talekeeper.cli.targets import (
    MOST,
    InSession,
    cure_of_no_sessions,
    last_session_argument,
    message_of,
    open_session,
    session_argument,
    session_of,
    turns_of,
)
from talekeeper.cli.terminal import ask_twice
from talekeeper.errors import NotFound, ParameterError
from talekeeper.text import counted, is_table, terminal_line

if TYPE_CHECKING:
    from talekeeper.db import Tx
    from talekeeper.home import Home
    from talekeeper.story import Address, Message, Session, Story
    from talekeeper.worlds import Begun

_SHOWN = 20


@command_group("list")
def group() -> None:
    """List, show and manage sessions and their branches.

    Without a command, lists them. A SESSION is named by its id, its title or the beginning of its id.
    """


@group.command("list", epilog="Example:  talekeeper sessions list")
@common
def list_sessions(options: Common, /) -> None:
    """List the sessions of the workspace, the one used last first."""
    with options.open() as home:
        found = home.story.sessions.all(options.workspace)
        cure = "" if found else cure_of_no_sessions(home, options)
    if options.as_json:
        output.emit({"workspace": options.workspace, "sessions": [session_json(session) for session in found]})
    elif found:
        rows = [(one.id, one.title, f"{one.messages:,}", one.branches, minute(one.updated)) for one in found]
        output.table(("session", "title", "messages", "branches", "used"), rows, right={2, 3})
    else:
        output.note(f"the workspace {options.workspace!r} has no sessions; {cure}")


@group.command(epilog='Example:  talekeeper sessions new low-house --title "The Low House"')
@click.argument("name", metavar="[ID]", required=False)
@click.option("--title", default="", help="Title.  [default: the world's, or none]")
@click.option("--locale", callback=possible, help="Language.  [default: the world's, or en]")
@click.option("--preset", help="Preset.  [default: the world's, or none]")
@click.option(
    "--world", metavar="FILE", type=click.Path(), help="Start from a world file: opening, player, records of plugins."
)
@common
def new(options: Common, /, name: str | None, world: str | None, **chosen: Any) -> None:
    """Create a session with the plugins of its preset, or all that are enabled.

    It is empty unless a world file gives its beginning; `sessions delete` deletes it again.
    """
    with options.open() as home:
        begun = make(home, options.workspace, world, session_id=name, **chosen)
    for record in begun.kept:
        output.note(f"{record} exists with another text and is kept")
    _tell(options, begun.session, f"{begun.session.id} is made; plugins: {', '.join(begun.session.plugins) or 'none'}")


def _tell(options: Common, session: Session, sentence: str, message: Message | None = None) -> None:
    changed = {} if message is None else {"message": message_json(message)}
    tell(options, sentence, {"session": session_json(session), **changed})


def make(home: Home, workspace: str, file: str | None, *, locale: str | None = None, **chosen: Any) -> Begun:
    """A new session from a world file, or an empty one; what is `chosen` counts before what the file says."""
    from talekeeper.worlds import World, begin_story, read_world  # noqa: PLC0415 - --help needs no home

    world = World("") if file is None else read_world(file)
    given = {name: value for name, value in chosen.items() if value is not None}
    return begin_story(home, workspace, world if locale is None else replace(world, locale=locale), **given)


@group.command(cls=InSession, epilog="Example:  talekeeper sessions show low-house --turns 3..5")
@session_argument
@click.option("-n", "--last", type=click.IntRange(1, MOST), help=f"Show the last N messages.  [default: {_SHOWN}]")
@click.option("--turns", metavar="N..M", help="Show the messages of these turns.")
@click.option("--all", "everything", is_flag=True, help="Show every message of the current story.")
@common
def show(options: Common, /, name: str, last: int | None, turns: str | None, *, everything: bool) -> None:
    """Show a session and its newest messages."""
    with open_session(options, name) as (home, session):
        if turns is not None:
            messages = home.story.messages.read(session.address, turns=turns_of(turns))
        else:
            messages = home.story.messages.read(session.address, last=None if everything else last or _SHOWN)
    if options.as_json:
        output.emit({**session_json(session), "shown": [message_json(message) for message in messages]})
        return
    output.say(f"{session.id}: {session.title}", bold=True)
    output.say(session_facts(session), dim=True)
    show_messages(messages)


@group.command(cls=InSession, epilog='Example:  talekeeper sessions rename low-house "The Low House"')
@session_argument
@click.argument("title")
@common
def rename(options: Common, /, name: str, title: str) -> None:
    """Give a session another title; its id stays."""
    with options.open() as home:
        session = home.story.sessions.rename(session_of(home, options, name).address, title)
    _tell(options, session, output.titled(session.id, session.title))


@group.command(cls=InSession, epilog="Example:  talekeeper sessions delete low-house")
@session_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def delete(options: Common, /, name: str, *, yes: bool) -> None:
    """Delete a session with its messages, records and index, for good. Asks twice."""
    with open_session(options, name) as (home, session):
        if not yes:
            ask_twice(session.id, counted(session.messages, "message"), "id")
        home.delete_session(session.address)
    tell(options, f"{session.id} is deleted", {"deleted": session.id})


class _Changes(InSession):
    """Takes `-NAME` for a plugin to leave out, where click would read a cluster of short options."""

    _CHANGE = re.compile(r"[+-][a-z][a-z0-9-]+")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts the changes aside before click sees them."""
        changes = [arg for arg in args if self._CHANGE.fullmatch(arg)]
        rest = super().parse_args(ctx, [arg for arg in args if arg not in changes])
        ctx.params["changes"] = tuple(changes)
        return rest


@group.command(cls=_Changes, epilog="Example:  talekeeper sessions plugins low-house +lorebook -memory")
@session_argument
@common
def plugins(options: Common, /, name: str, changes: tuple[str, ...]) -> None:
    """Show or change the plugins of a session: SESSION +add -remove.

    The records of a removed plugin are kept, and return when it is added again.
    """
    with open_session(options, name) as (home, session):
        if changes:
            added = [change[1:] for change in changes if change[0] == "+"]
            removed = [change[1:] for change in changes if change[0] == "-"]
            home.host.change_session(session.address, add=added, remove=removed)
        roster = home.host.roster(session=home.story.sessions.get(session.address))
    found = [{"id": one.id, "state": one.state, "reason": one.reason} for one in roster.plugins]
    if options.as_json:
        output.emit({"session": session.id, "plugins": found})
    else:
        output.table(("plugin", "state", "why"), [tuple(one.values()) for one in found])


@group.command(cls=InSession, epilog='Example:  talekeeper sessions edit low-house m12 --text "She left at dawn."')
@session_argument
@click.argument("message")
@click.option("--text", help="The new text.  [default: from an editor, or standard input]")
@click.option("--undo", is_flag=True, help="Restore the text from before the last edit.")
@common
def edit(options: Common, /, name: str, message: str, text: str | None, *, undo: bool) -> None:
    """Change the text of a message; the old one is kept, and --undo restores it."""
    if undo and text is not None:
        raise ParameterError(
            "--undo", "the text before is taken, and --text gives another", cure="leave one of them out"
        )
    with open_session(options, name) as (home, session):
        found = message_of(home, session, message)
        given = _before(home, session, found) if undo else text
        new = _written(found.text) if given is None else given
        if not new.strip():
            what = "it is empty, and nothing was changed"
            raise ParameterError("text", what, cure="give --text TEXT or pipe it in; to take a message out, hide it")
        changed = home.story.messages.edit(session.address, found.id, new)
    _tell(options, session, f"message {changed.id} is edited", changed)


def _before(home: Home, session: Session, message: Message) -> str:
    texts = home.story.messages.texts(session.address, message.id)
    if len(texts) == 1:
        raise NotFound(f"message {message.id} was never edited", where=session.id)
    return texts[-2].text


def _written(before: str) -> str:
    """What a person makes of a text in an editor; where there is no terminal, what is piped in."""
    if sys.stdin.isatty():
        return (click.edit(before) or "").rstrip("\n")
    from talekeeper.exchange import STDIN, read_text  # noqa: PLC0415 - hardly any command reads what is piped in

    return read_text(STDIN).rstrip("\r\n")


@group.command(cls=InSession, epilog="Example:  talekeeper sessions hide low-house m12")
@session_argument
@click.argument("message")
@click.option("--undo", is_flag=True, help="Show it again.")
@common
def hide(options: Common, /, name: str, message: str, *, undo: bool) -> None:
    """Hide a message from search and prompts; the story keeps it."""
    with open_session(options, name) as (home, session):
        found = message_of(home, session, message)
        change = home.story.messages.unhide if undo else home.story.messages.hide
        changed = change(session.address, found.id)
    _tell(options, session, f"message {changed.id} is {'shown' if undo else 'hidden'}", changed)


@group.command(cls=InSession, epilog="Example:  talekeeper sessions names low-house --player Mara --narrator Seraphina")
@last_session_argument
@click.option("--player", metavar="NAME", help="The player's name.")
@click.option("--narrator", metavar="NAME", help="The narrator's name.")
@click.option("--reset", is_flag=True, help="First return to the imported names, or to none.")
@common
def names(options: Common, /, name: str | None, player: str | None, narrator: str | None, *, reset: bool) -> None:
    """Show or set the speakers' names for new messages of a session, or of the session used last.

    Older messages keep their names.
    """
    with open_session(options, name) as (home, session):
        given = {"player": player, "narrator": narrator}
        chosen = {role: one or "" for role, one in given.items() if reset or one is not None}
        named = _named(home.story, session.address, chosen) if chosen else session
    from talekeeper.turn import narration_settings  # noqa: PLC0415 - a listing needs no turn

    now = narration_settings(named)
    if options.as_json:
        output.emit({**session_json(named), "player": now.player, "narrator": now.name})
        return
    said = [terminal_line(name).strip() or "without a name" for name in (now.player, now.name)]
    output.say(f"the player is {said[0]}, the narrator {said[1]}")


def _named(story: Story, address: Address, chosen: Mapping[str, str]) -> Session:
    """Changes the names alone, whatever else is being set meanwhile."""
    from talekeeper.story import check_line  # noqa: PLC0415 - a listing checks no name

    def write(tx: Tx) -> Session:
        settings: dict[str, Any] = {**story.sessions.get(address, tx=tx).settings}
        if "player" in chosen:
            given: object = settings.get("player")
            known = {**(given if is_table(given) else {}), "name": check_line(chosen["player"], "player")}
            settings["player"] = {key: value for key, value in known.items() if value != ""}
        if "narrator" in chosen:
            settings["narrator_name"] = check_line(chosen["narrator"], "narrator")
        return story.sessions.configure(address, settings=settings, tx=tx)

    return story.write(write, name="name the speakers")


for _command in TREE:
    group.add_command(_command)
