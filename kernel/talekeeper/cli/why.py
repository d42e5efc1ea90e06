"""`talekeeper why`: the decision records of a turn."""

from __future__ import annotations

import click

from talekeeper.cli import output
from talekeeper.cli.commands.decisions import decision_json, show_decided
from talekeeper.cli.in_session import InSession, last_session_argument
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.cli.targets import session_of

MOST = 2**31 - 1


@click.command(cls=InSession, epilog="Example:  talekeeper why salt-lantern 2")
@last_session_argument
@click.argument("turn", metavar="[TURN]", required=False, type=click.IntRange(0, MOST))
@click.argument("decision", metavar="[ID]", required=False)
@click.option("--all", "every", is_flag=True, help="Those of other takes and branches too.")
@common
@pass_common
def command(options: Common, /, name: str | None, turn: int | None, decision: str | None, *, every: bool) -> None:
    """Say why a turn's prompt held what it held.

    Without TURN it is the newest one, without SESSION the newest of the session used last.

    For each part of the prompt: what was asked with, every candidate with its scores, what called it up or why it was
    left out. The texts are those that stand there now.
    """
    from talekeeper.turn import turn_decisions  # noqa: PLC0415 - --help needs no turn

    with options.open() as home:
        address = session_of(home, options, name).address
        if turn is None:
            newest = home.story.newest_turn(address)
            turn = newest[-1].turn if newest else 0
        found = turn_decisions(home.story, address, turn, decision=decision or "", every=every)
        told = [decision_json(home, address, one) for one in found]
    if options.as_json:
        output.emit({"session": address.session, "turn": turn, "decisions": told})
        return
    for one in told:
        show_decided(one)
