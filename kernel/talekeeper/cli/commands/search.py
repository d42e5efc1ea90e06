"""`talekeeper search`: asks a session's memory, and shows why each passage was found."""

from __future__ import annotations

from typing import Any

import click

from talekeeper.cli import output
from talekeeper.cli.answers import show_answer
from talekeeper.cli.faults import misused
from talekeeper.cli.options import Common, common, pass_common
from talekeeper.cli.targets import session_of
from talekeeper.errors import ParameterError
from talekeeper.memory_search import DEFAULT_LIMIT, MAX_LIMIT, SEARCH_SCOPES, Question, read_question, search_memory

_TURN = click.IntRange(0)


@click.command(epilog='Example:  talekeeper search "What did Juno promise Hob Pargeter?" --explain')
@click.argument("query", nargs=-1, metavar="QUERY…")
@click.option("-s", "--session", metavar="SESSION", help="Where to ask.  [default: the session used last]")
@click.option("--wording", "wordings", multiple=True, metavar="TEXT", help="The same in other words; may be repeated.")
@click.option(
    "--scope", type=click.Choice(SEARCH_SCOPES), default="all", show_default=True, help="What was said, or data."
)
@click.option("--source", "sources", multiple=True, metavar="NAME", help="Only recall, PLUGIN or PLUGIN/NAMESPACE.")
@click.option("--from", "turn_from", type=_TURN, metavar="TURN", help="Nothing of an earlier turn.")
@click.option("--to", "turn_to", type=_TURN, metavar="TURN", help="Nothing of a later turn.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MAX_LIMIT),
    default=DEFAULT_LIMIT,
    show_default=True,
    help="How many results at most.",
)
@click.option("--explain", is_flag=True, help="Show how each term made its part of the score, and what was left out.")
@common
@pass_common
def command(options: Common, /, query: tuple[str, ...], session: str | None, *, explain: bool, **more: Any) -> None:
    """Ask a session, as the narrator's memory-search does.

    Words are matched, and meaning only where an embedding model is set up: give the names of people, places and things.

    With --explain, a result that meaning was asked for has a line of its place by meaning alone, how near its own text
    is to the question (cosine: 1 is the same, 0 nothing in common), its place by words alone, and what meaning adds to
    its score, which may be below zero.
    """
    asked = _asked(" ".join(query), more)
    with options.open() as home:
        found = session_of(home, options, session)
        answer = search_memory(home.services, found.address, asked, explain=explain)
    if options.as_json:
        output.emit({"session": found.id, **answer.as_json()})
        return
    show_answer(answer, explain=explain)
    output.note(f"{found.id}: {output.counted(answer.searched, 'passage')} searched")


def _asked(query: str, more: dict[str, Any]) -> Question:
    """The checked question; raises `UsageError` that speaks of arguments and options."""
    ctx = click.get_current_context()
    if not query and not more["wordings"]:
        raise click.UsageError("Missing argument 'QUERY…' (or --wording TEXT): say what you want to know.", ctx)
    try:
        return read_question({"query": query or None, **more})
    except ParameterError as fault:
        raise misused(fault, ctx) from fault
