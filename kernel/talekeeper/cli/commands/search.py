"""`talekeeper search`: memory-search's results with their source, the matched words in bold, and how they scored."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.faults import misused
from talekeeper.cli.options import Common, common
from talekeeper.cli.targets import open_session, session_option
from talekeeper.errors import ParameterError
from talekeeper.memory_search import DEFAULT_LIMIT, MAX_LIMIT, SEARCH_SCOPES, Question, read_question, search_memory
from talekeeper.text import SINGLE, counted, document_terms, terminal_line

if TYPE_CHECKING:
    from talekeeper.api import Answer, Hit
    from talekeeper.search import Closeness, LeftOut, Placing, TermScore

_TURN = click.IntRange(0)


@click.command(epilog='Example:  talekeeper search "What did Juno promise Hob Pargeter?" --explain')
@click.argument("query", nargs=-1, metavar="QUERY…")
@session_option
@click.option(
    "--wording", "wordings", multiple=True, metavar="TEXT", help="The same question in other words; may be repeated."
)
@click.option(
    "--scope",
    type=click.Choice(SEARCH_SCOPES),
    default="all",
    show_default=True,
    help="Everything, messages, or plugin data.",
)
@click.option("--source", "sources", multiple=True, metavar="NAME", help="Only recall, PLUGIN or PLUGIN/NAMESPACE.")
@click.option("--from", "turn_from", type=_TURN, metavar="TURN", help="First turn to search.")
@click.option("--to", "turn_to", type=_TURN, metavar="TURN", help="Last turn to search.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MAX_LIMIT),
    default=DEFAULT_LIMIT,
    show_default=True,
    help="How many results at most.",
)
@click.option("--explain", is_flag=True, help="Show how each term adds to the score, and what was left out.")
@common
def command(options: Common, /, query: tuple[str, ...], session: str | None, *, explain: bool, **more: Any) -> None:
    """Search a session, as the narrator's memory-search does.

    Search matches words, so give the names of people, places and things. With an embedding model set up, it also
    matches meaning.

    With --explain, each result then has a line with its place by meaning alone, its cosine to the question (1 is the
    same, 0 is unrelated), its place by words alone, and what meaning adds to its score, which may be below zero.
    """
    asked = _asked(" ".join(query), more)
    with open_session(options, session) as (home, found):
        answer = search_memory(home.services, found.address, asked, explain=explain)
    if options.as_json:
        output.emit({"session": found.id, **answer.as_json()})
        return
    show_answer(answer, explain=explain)
    output.note(f"{found.id}: {counted(answer.searched, 'passage')} searched")


def _asked(query: str, more: dict[str, Any]) -> Question:
    """The checked question; raises `UsageError` that speaks of arguments and options."""
    ctx = click.get_current_context()
    if not query and not more["wordings"]:
        raise click.UsageError("Missing argument 'QUERY…' (or --wording TEXT): say what you want to know.", ctx)
    try:
        return read_question({"query": query or None, **more})
    except ParameterError as fault:
        raise misused(fault, ctx) from fault


LEGEND = (
    "the sum of what each word adds: the rarer (idf), and the more often it stands",
    "here or in the messages next to it (near), the more",
)
"""What a score by words is, in two lines; `idf`, `here` and `near` are columns of the table."""
_MERGED = "results of several sources are merged by their place in each; a score compares those of one source"
_MOMENT = re.compile(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\S*Z$")


def show_answer(answer: Answer, *, explain: bool) -> None:
    """Prints every result, then what else has to be said."""
    sources = [(hit.plugin, hit.namespace) for hit in answer.results]
    merged = len(set(sources)) > 1
    for number, (hit, source) in enumerate(zip(answer.results, sources, strict=True), start=1):
        place = f"{sources[:number].count(source)}. of its source, " if merged else ""
        show_hit(hit, f"{number}.", score=f"{place}score {hit.score:.2f}" if explain else "")
        if explain:
            show_why(hit.why)
            show_placing(hit.placing)
            show_closeness(hit.closeness)
    if explain and any(hit.why for hit in answer.results):
        output.note(f"a score by words is {' '.join(LEGEND)}")
    if explain and merged:
        output.note(_MERGED)
    if answer.left_out and (told := _left_out(answer.left_out)):
        output.note(f"left out: {told}")
    remarks = [f"{name}: {reason}" for name, reason in answer.unavailable.items()]
    remarks += [f"{name} is being indexed again" for name in answer.indexing]
    for remark in (*remarks, answer.degraded, answer.hint):
        if remark:
            output.note(remark)


def show_placing(placing: Placing | None) -> None:
    """How long a result is, and its place for each wording where there are several; nothing where it was not asked."""
    if placing is None:
        return
    told = f"{counted(placing.length, 'term')} long, {placing.average:.1f} on average"
    if len(placing.ranks) > 1:
        told += f"; place by wording: {', '.join('none' if rank is None else str(rank) for rank in placing.ranks)}"
    click.secho(f"   {told}", dim=True)


def _left_out(held: LeftOut) -> str:
    """What filters took out, in words; empty where they took nothing."""
    parts = [
        (held.turns, "outside the turns asked"),
        (held.lineage, "undone, of other branches, or no longer the version that stands"),
        (held.running, "of the running turn"),
    ]
    return ", ".join(f"{count:,} {where}" for count, where in parts if count)


def show_closeness(closeness: Closeness | None) -> None:
    """What meaning did for a result; nothing where it was not asked."""
    if closeness is None:
        return
    by_words = closeness.rank_by_words
    words = "no word of the query" if by_words is None else f"{by_words}. by words"
    told = f"{closeness.rank_by_meaning}. by meaning (cosine {closeness.cosine:.2f}), {words}"
    click.secho(f"   {told}; meaning adds {closeness.adds:.2f}", dim=True)


def show_hit(hit: Hit, label: str, *, score: str = "") -> None:
    """One result: a line that says where it is from and what it scored, then the passage."""
    scored = click.style(f"  {score}", dim=True) if score else ""
    click.echo(f"{label} {click.style(terminal_line(_where(hit)), bold=True)}{scored}")
    matched = {*hit.matched, *hit.near}
    for text in output.wrap(hit.text, indent=3):
        click.echo(f"   {output.mark(text, spans(text, matched))}")


def _where(hit: Hit) -> str:
    turns = [] if hit.turn is None else [f"turn {hit.turn}"]
    if hit.turn_from is not None:
        turns = [f"turns {hit.turn_from} to {hit.turn}"]
    source = f"{hit.source} {hit.plugin}/{hit.namespace}" if hit.plugin else hit.source
    also = [f"and {counted(len(hit.also), 'time')} more"] if hit.also else []
    near = ["by its neighbours"] if hit.near and not hit.matched else []
    # A moment is told to the minute, in UTC; what a record calls its time in other words stays.
    time = _MOMENT.sub(r"\1 \2", hit.time)
    told = (*turns, time, hit.title, hit.speaker, source, hit.authority, *also, *near)
    return " · ".join(part for part in told if part)


def show_why(terms: Sequence[TermScore]) -> None:
    """The score term by term, the weightiest first; nothing for what no word found."""
    if not terms:
        return
    rows = [
        (
            term.term.replace(SINGLE, ""),
            f"{term.tf:g}",
            f"{term.near_tf:.2g}" if term.near_tf else "",
            f"{term.df:,}",
            f"{term.idf:.2f}",
            f"{term.contribution:.2f}",
        )
        for term in sorted(terms, key=lambda one: -one.contribution)
    ]
    output.table(("term", "here", "near", "in passages", "idf", "adds"), rows, right=range(1, 6), indent=3)


Span = tuple[int, int]

_WIDE = frozenset("WF")
_JOINERS = frozenset("'’-.:/")


def spans(text: str, matched: Collection[str]) -> list[Span]:
    """The stretches whose terms are among `matched`, sorted and apart; where no spaces stand, pairs of characters."""
    joined: list[Span] = []
    for start, end in (span for word in _words(text) for span in _in_word(text, word, frozenset(matched))):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _in_word(text: str, word: Span, matched: frozenset[str]) -> Iterator[Span]:
    start, end = word
    if matched.isdisjoint(document_terms(text[start:end]).counts):
        return
    if not any(unicodedata.east_asian_width(character) in _WIDE for character in text[start:end]):
        yield word
        return
    pairs = [(at, min(at + 2, end)) for at in range(start, max(end - 1, start + 1))]
    found = [pair for pair in pairs if not matched.isdisjoint(document_terms(text[pair[0] : pair[1]]).counts)]
    yield from found or [word]


def _words(text: str) -> Iterator[Span]:
    """Stretches of letters, digits and marks, with what joins them; blanks and other punctuation part them."""
    kinds = ("w" if unicodedata.category(one)[0] in "LNM" else "-" if one in _JOINERS else " " for one in text)
    return (word.span() for word in re.finditer("w[w-]*", "".join(kinds)))
