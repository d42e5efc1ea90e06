"""`talekeeper sessions names`: under which names a session goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from talekeeper.cli import output
from talekeeper.cli.in_session import InSession, last_session_argument
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.cli.present import session_json
from talekeeper.cli.targets import session_of
from talekeeper.db import Tx
from talekeeper.models import is_object
from talekeeper.story import Address, Session, Story, check_line
from talekeeper.turn import narration_settings


@click.command(cls=InSession, epilog="Example:  talekeeper sessions names low-house --player Mara --narrator Seraphina")
@last_session_argument
@click.option("--player", metavar="NAME", help="Who the player is.")
@click.option("--narrator", metavar="NAME", help="Who tells the story.")
@click.option("--reset", is_flag=True, help="First goes back to the names that were imported, or to none.")
@common
@pass_common
def names(options: Common, /, name: str | None, player: str | None, narrator: str | None, *, reset: bool) -> None:
    """Show or set the names that new messages of a session are spoken under.

    What has been said keeps its names. Without SESSION in the session used last.
    """
    with options.open() as home:
        session = session_of(home, options, name)
        given = {"player": player, "narrator": narrator}
        chosen = {role: one or "" for role, one in given.items() if reset or one is not None}
        if chosen:
            session = _named(home.story, session.address, chosen)
        now = narration_settings(session)
    if options.as_json:
        output.emit({**session_json(session), "player": now.player, "narrator": now.name})
        return
    said = [output.line(name).strip() or "without a name" for name in (now.player, now.name)]
    output.say(f"the player is {said[0]}, the narrator {said[1]}")


def _named(story: Story, address: Address, chosen: Mapping[str, str]) -> Session:
    """Changes the names alone, whatever else is being set meanwhile."""

    def write(tx: Tx) -> Session:
        settings = _changed(story.session(address, tx=tx), **chosen)
        return story.configure_session(address, settings=settings, tx=tx)

    return story.write(write, name="name the speakers")


def _changed(session: Session, *, player: str | None = None, narrator: str | None = None) -> dict[str, Any]:
    settings: dict[str, Any] = {**session.settings}
    if player is not None:
        given: object = settings.get("player")
        known = {**(given if is_object(given) else {}), "name": check_line(player, "player")}
        settings["player"] = {key: value for key, value in known.items() if value != ""}
    if narrator is not None:
        settings["narrator_name"] = check_line(narrator, "narrator")
    return settings
