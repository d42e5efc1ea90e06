"""`talekeeper play`: a story in the terminal, told by a model or by the person, turn by turn."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common, common
from talekeeper.cli.present import message_json
from talekeeper.cli.targets import session_of
from talekeeper.errors import InputError, TalekeeperError
from talekeeper.story import Session, check_name

if TYPE_CHECKING:
    from talekeeper.cli.play.console import Stage
    from talekeeper.cli.play.game import Game
    from talekeeper.home import Home

_FIRST = "story"
_NO_MODEL = "there is no model: each line is what the player says, and /narrator TEXT is the narrator's answer"


@click.command(epilog="Example:  talekeeper play --world low-house.toml")
@click.option(
    "-s", "--session", "name", metavar="SESSION", help="The session to play.  [default: the session used last]"
)
@click.option("--world", metavar="FILE", type=click.Path(), help="Start a new session from a world file; -s names it.")
@click.option("--preset", metavar="NAME", help="Give the session this preset.")
@click.option("--no-model", is_flag=True, help="Use no model: write both sides yourself.")
@common
def command(options: Common, /, name: str | None, world: str | None, preset: str | None, *, no_model: bool) -> int:
    """Play a story in the terminal.

    Each line is what the player says; /help lists the other commands. Ctrl-C stops a turn, Ctrl-D leaves. Without a
    terminal, lines are read from the pipe. With --json, every event is one JSON object on a line.
    """
    from talekeeper.cli.play.console import Lines, Stage  # noqa: PLC0415 - --help needs none of it
    from talekeeper.cli.play.game import Game, choose_models  # noqa: PLC0415 - as above
    from talekeeper.cli.play.slash_commands import complete  # noqa: PLC0415 - as above

    stage = Stage(as_json=options.as_json)
    lines = Lines(quiet=options.as_json, complete=complete)
    try:
        with options.open() as home:
            session = _session(home, options, name, world, preset, stage)
            choose_models(home, stage, lines, no_model=no_model)
            game = Game(home, session.address, stage, lines)
            try:
                _open(game)
                _play(game)
                game.finish()
            finally:
                game.close()
    except TalekeeperError as fault:
        stage.fault(fault)
        return fault.exit_code
    return 1 if stage.failed and not lines.interactive else 0


def _session(
    home: Home, options: Common, name: str | None, world: str | None, preset: str | None, stage: Stage
) -> Session:
    if world is not None:
        return _begun(home, options, name or _free(home, options, _stem(world)), world, preset, stage)
    if name is None and not home.story.sessions.all(options.workspace):
        return _begun(home, options, _FIRST, None, preset, stage)
    session = session_of(home, options, name)
    if preset is not None:
        # One that is not there must not be what the session has from then on.
        home.preset_of(replace(session, preset=preset))
        session = home.story.sessions.configure(session.address, preset=preset)
    home.preset_of(session)
    home.host.ready(session.address)
    return session


def _begun(home: Home, options: Common, name: str, world: str | None, preset: str | None, stage: Stage) -> Session:
    from talekeeper.cli.commands.sessions import make  # noqa: PLC0415 - --help needs none of it

    begun = make(home, options.workspace, world, session_id=name, preset=preset)
    for record in begun.kept:
        stage.note(f"{record} is there already with another text, and stays")
    return begun.session


def _stem(world: str) -> str:
    """What a session is called after its world."""
    try:
        return check_name(PurePath(world).stem.strip("- "), "session")
    except InputError:
        return _FIRST


def _free(home: Home, options: Common, name: str) -> str:
    taken = {session.id for session in home.story.sessions.all(options.workspace)}
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(found for found in names if found not in taken)


def _open(game: Game) -> None:
    """Says which story this is, who narrates, and where it stands."""
    session, slot, waiting = game.session, game.slot, game.waiting()
    last = game.home.story.messages.read(game.address, last=1)
    who = "you narrate" if slot is None else f"narrated by {slot.model or 'the model'} at {slot.url}"
    data: dict[str, Any] = {
        "session": session.id,
        "title": session.title,
        "model": None if slot is None else {"slot": slot.name, "name": slot.model, "url": str(slot.url)},
        "plugins": session.plugins,
        "last": message_json(last[0]) if last else None,
        "waiting": waiting is not None,
    }

    def show() -> None:
        output.say(session.title or session.id, bold=True)
        output.note(f"{session.id} · {who} · /help lists the commands")
        output.say()
        for message in last:
            output.say(f"> {message.text}" if message.role == "player" else message.text)
            output.say()

    game.stage.tell("session", data, show)
    if slot is None:
        game.stage.note(_NO_MODEL)
    if waiting is not None:
        game.stage.note("your last line has no answer yet: an empty line sends it again")


def _play(game: Game) -> None:
    asked_to_leave = False
    while not game.over:
        try:
            line = game.lines.read()
        except KeyboardInterrupt:
            if not game.lines.interactive or asked_to_leave:
                raise
            asked_to_leave = True
            output.note("\nCtrl-C again, Ctrl-D or /quit leaves")
            continue
        asked_to_leave = False
        if line is None:
            return
        _take(game, line)


def _take(game: Game, line: str) -> None:
    """One line: a command, what the player says, or nothing, which sends again what waits."""
    from talekeeper.cli.play.slash_commands import dispatch  # noqa: PLC0415 - --help needs none of it

    said = line.strip()
    if not game.lines.interactive and said:
        game.stage.tell("line", {"text": said}, lambda: output.say(f"\n> {said}"))
    try:
        if said.startswith("/") and not said.startswith("//"):
            dispatch(game, said)
        elif said:
            game.say(said.removeprefix("/") if said.startswith("//") else said)
        elif game.waiting() is not None:
            game.say(None)
    except TalekeeperError as fault:
        game.stage.fault(fault)
