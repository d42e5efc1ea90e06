"""Answers of memory-search as people read them: where from, the passage with its matched words, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from talekeeper.cli import output
from talekeeper.cli.marking import spans
from talekeeper.plugin_types import Answer, Hit
from talekeeper.search import Closeness, LeftOut, Placing, TermScore
from talekeeper.text import SINGLE

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
    remarks += [f"{name} is being indexed anew" for name in answer.indexing]
    for remark in (*remarks, answer.degraded, answer.hint):
        if remark:
            output.note(remark)


def show_placing(placing: Placing | None) -> None:
    """How long a result is, and its place for each wording where there are several; nothing where it was not asked."""
    if placing is None:
        return
    told = f"{output.counted(placing.length, 'term')} long, {placing.average:.1f} on average"
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
    click.echo(f"{label} {click.style(output.line(_where(hit)), bold=True)}{scored}")
    matched = {*hit.matched, *hit.near}
    for text in output.wrap(hit.text, indent=3):
        click.echo(f"   {output.mark(text, spans(text, matched))}")


def _where(hit: Hit) -> str:
    turns = [] if hit.turn is None else [f"turn {hit.turn}"]
    if hit.turn_from is not None:
        turns = [f"turns {hit.turn_from} to {hit.turn}"]
    source = f"{hit.source} {hit.plugin}/{hit.namespace}" if hit.plugin else hit.source
    also = [f"and {output.counted(len(hit.also), 'time')} more"] if hit.also else []
    near = ["by its neighbours"] if hit.near and not hit.matched else []
    told = (*turns, _minute(hit.time), hit.title, hit.speaker, source, hit.authority, *also, *near)
    return " · ".join(part for part in told if part)


def _minute(time: str) -> str:
    """A moment to the minute, in UTC; what a record calls its time in other words stays."""
    return _MOMENT.sub(r"\1 \2", time)


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
