"""`talekeeper recall`: what a turn with this text would show its narrator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.commands.decisions import show_decided, with_texts
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.cli.targets import session_of
from talekeeper.story import Address

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.turn import DryRun


@click.command(epilog='Example:  talekeeper recall "I ask Mira about the brass key."')
@click.argument("text", nargs=-1, required=True, metavar="TEXT…")
@click.option("-s", "--session", metavar="SESSION", help="Where.  [default: the session used last]")
@common
@pass_common
def command(options: Common, /, text: tuple[str, ...], session: str | None) -> None:
    """Show what a turn with this text would recall.

    The same code as in a turn decides; nothing is written, counted or sent to a model.
    """
    with options.open() as home:
        found = session_of(home, options, session)
        dry = home.narrator().recall(found.address, " ".join(text))
        told = dry_json(home, found.address, dry)
    if options.as_json:
        output.emit(told)
    else:
        show_dry(told)


def dry_json(home: Home, address: Address, dry: DryRun) -> dict[str, Any]:
    """A dry run as `--json` prints it; `text` of a part is what the prompt would hold."""
    decided = [
        {
            "plugin": one.plugin,
            "segment": one.segment,
            **with_texts(home, address, one.plugin, one.document, one.text),
            "text": one.text,
        }
        for one in dry.decided
    ]
    return {"session": address.session, "turn": dry.turn, "history_from": dry.history_from, "decisions": decided}


def show_dry(told: dict[str, Any]) -> None:
    """The same for people."""
    output.say(f"turn {told['turn']} of {told['session']} would show", dim=True)
    for one in told["decisions"]:
        show_decided(one)
        for line in str(one["text"]).splitlines():
            output.say(f"  {line}", dim=True)
