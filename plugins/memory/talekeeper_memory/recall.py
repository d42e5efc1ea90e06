"""The segment `recalled-facts`: facts the player's message calls up, by name or by content, in story order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from talekeeper.api import Considered, Line, PluginContext, Recalled, Record, ScoredRecord, TurnView

from talekeeper_memory.authority import authority_of
from talekeeper_memory.cards import cards, name_terms, player_name
from talekeeper_memory.relevance import Verdict, gate_of, judge
from talekeeper_memory.stopwords import everyday
from talekeeper_memory.weights import Weights

_LOOKED_AT = 100
"""Facts that are judged, the best by BM25: a message may share a word with every fact there is, and reading them all
made a turn twice as long. Of 1,141 questions to 1,451 facts (LoCoMo's, in one story) none is answered otherwise."""

_TOLD = 30
"""Candidates in the record of the decision; a message shares a word with hundreds of facts."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    scored: ScoredRecord
    verdict: Verdict


def recalled_facts(ctx: PluginContext, turn: TurnView) -> Recalled:
    """Facts older than the latest turns, the best few, each with how it was decided."""
    message = turn.player_message
    if message is None or not ctx.settings["auto_recall"]:
        return Recalled(())
    candidates = _candidates(ctx, message.text)
    chosen, considered = _choose(ctx, candidates, turn.number)
    lines = [_line(record) for record in sorted(chosen, key=_place)]
    return Recalled(tuple(lines), tuple(considered), {"terms": list(ctx.search.terms(message.text))})


def _candidates(ctx: PluginContext, text: str) -> Iterator[_Candidate]:
    """The facts that share a term, best first, judged as they are come to."""
    held = [one for one in ctx.search.score("facts", [(text, 1.0)], limit=_LOOKED_AT) if one.matched]
    if not held:
        return
    counted = ctx.search.holding("facts", text)
    weights = Weights(ctx.search.terms(text), counted.terms, counted.records)
    plain = everyday(ctx.search.terms)
    names = name_terms(cards(ctx), player_name(ctx), ctx.search.terms)
    gate = gate_of(ctx.settings)
    # What is decided depends on the shared terms alone, and hundreds of facts share the same ones.
    verdicts: dict[tuple[str, ...], Verdict] = {}
    for one in held:
        if one.matched not in verdicts:
            verdicts[one.matched] = judge(one, weights, names, plain, gate)
        yield _Candidate(one, verdicts[one.matched])


def _choose(ctx: PluginContext, candidates: Iterable[_Candidate], turn: int) -> tuple[list[Record], list[Considered]]:
    """The best that qualify and are old enough, and what is said of each candidate."""
    most, recent = ctx.settings["recall_facts"], ctx.settings["recall_skip_turns"]
    chosen: list[Record] = []
    said: list[Considered] = []
    for candidate in candidates:
        if len(chosen) >= most and len(said) >= _TOLD:
            break
        reason = candidate.verdict.reason
        if not reason and len(chosen) >= most:
            reason = f"{most} better ones are taken"
        record = None if reason else ctx.data["facts"].get(candidate.scored.key)
        if record is not None:
            reason = _too_recent(record, turn, recent)
            if not reason:
                chosen.append(record)
        if not reason or len(said) < _TOLD:
            said.append(_considered(candidate, reason))
    return chosen, said


def _too_recent(record: Record, turn: int, recent: int) -> str:
    told = record.value.get("turn")
    if told is None or turn - told > recent:
        return ""
    return f"too recent: turn {told} is one of the latest {recent}"


def _considered(candidate: _Candidate, reason: str) -> Considered:
    scored = candidate.scored
    scores = {"score": scored.lexical, "share": scored.share, "coverage": candidate.verdict.coverage}
    by_name = "by name, " if candidate.verdict.by == "name" else ""
    because = "" if reason else f"{by_name}shares {', '.join(scored.matched)}"
    rounded = {name: round(score, 4) for name, score in scores.items()}
    return Considered(scored.key, "facts", rounded, reason, because=because)


def _line(record: Record) -> Line:
    text = str(record.value["text"])
    authority = record.value.get("authority") or authority_of(text)
    return Line(text, id=record.key, turn=record.value.get("turn"), authority=authority, source="facts")


def _place(record: Record) -> tuple[int, int, str]:
    told = record.value.get("turn")
    return (record.coordinate.depth if told is None else told, record.coordinate.depth, record.key)
