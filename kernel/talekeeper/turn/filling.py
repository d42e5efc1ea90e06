"""A segment as it came out: its lines in the frame, the records shown, and the record of how it was decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from talekeeper.plugin_types import Considered, Line
from talekeeper.turn.frame import Framed, Room, framed
from talekeeper.turn.results import Decided
from talekeeper.turn.turn_context import Scene
from talekeeper.turn.segments import Given

_CANDIDATES = 60  # of a recall that are kept for `why`, those used first: some 6 KB a turn


@dataclass(frozen=True, slots=True)
class Filled:
    """A segment as asked and framed."""

    given: Given
    framed: Framed


def fill(scene: Scene, given: Given, room: Room) -> Filled:
    """Frames what a segment gave, as much as has room."""
    done = framed(given.segment.path, given.recalled.lines, room)
    scene.tell(
        "memory.recall",
        segment=given.segment.path,
        lines=len(given.recalled.lines),
        shown=len(done.shown),
        characters=len(done.text),
        fault=given.fault,
        body=done.text,
    )
    return Filled(given, done)


def uses(one: Filled) -> list[tuple[str, str, str]]:
    """The records shown, as plugin, namespace and key."""
    sources, lines = one.given.sources, one.given.recalled.lines
    return [
        (source.plugin, source.name, lines[place].id)
        for place in one.framed.shown
        if (source := sources[place]) is not None
    ]


def decided(one: Filled) -> Decided:
    """The record of a recall: never a text, so that what is forgotten later is not kept here."""
    given, lines = one.given, one.given.recalled.lines
    fates = {
        (line.source, line.id): "" if place in one.framed.shown else "over budget"
        for place, line in enumerate(lines)
        if line.id
    }
    fates |= {(line.source, line.id): why for line, why in given.refused if line.id}
    considered = [_candidate(each, fates.pop((each.source, each.id), "")) for each in given.recalled.considered]
    considered += [_candidate(Considered(key, source), why) for (source, key), why in fates.items()]
    kept = sorted(considered, key=lambda one: not one["used"])[:_CANDIDATES]
    document: dict[str, Any] = {
        "query": given.recalled.query,
        "budget": given.segment.budget,
        "characters": len(one.framed.text),
        "lines": len(lines),
        "shown": len(one.framed.shown),
        "cut": [_name(lines[place]) for place in one.framed.cut],
        "considered": kept,
        "more": len(considered) - len(kept),
        "fault": given.fault,
    }
    return Decided(given.segment.plugin.id, given.segment.id, {k: v for k, v in document.items() if v}, one.framed.text)


def _candidate(one: Considered, fate: str) -> dict[str, Any]:
    said = {"id": one.id, "source": one.source, "scores": dict(one.scores), "repeats": one.repeats}
    said |= {"because": one.because}
    reason = one.reason or fate
    return {"used": not reason, "reason": reason, **{name: value for name, value in said.items() if value}}


def _name(line: Line) -> str:
    return line.id or f"turn {line.turn}"
