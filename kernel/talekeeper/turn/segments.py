"""Prompt segments of plugins: calls their code, checks what it gives, frames it, and records how for `why`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from talekeeper.api import Considered, Line, Recalled, TurnView
from talekeeper.errors import Cancelled, HeldAcrossCall, Skip, TalekeeperError
from talekeeper.manifest import Namespace
from talekeeper.plugin_context import Bound, InTurn, Pending, call_plugin
from talekeeper.plugins import Plugin
from talekeeper.story import check_name, is_owner
from talekeeper.text import check_text, thaw
from talekeeper.turn.frame import Framed, Room, framed
from talekeeper.turn.turn_context import SegmentReport, TurnContext

LINES = 500
"""Lines of a segment that are looked at; a budget holds a tenth of them."""

_CANDIDATES = 60  # of a recall that are kept for `why`, those used first: some 6 KB a turn
_POSITIONS = ("system", "before-history", "after-history")
_AUTHORITIES = frozenset({"stated", "story", "inferred"})
_NOTHING = Recalled(())
_UNFRAMED = Framed()


@dataclass(frozen=True, slots=True)
class Segment:
    """A declared segment of a working plugin; `budget` is in characters."""

    plugin: Plugin
    id: str
    position: str
    order: int
    budget: int

    @property
    def path(self) -> str:
        """`plugin/segment`."""
        return f"{self.plugin.id}/{self.id}"


@dataclass(frozen=True, slots=True)
class FilledSegment:
    """What a segment gave: lines that may be shown, the namespace each stands for, and the text made of them.

    `refused` are lines that only the owner may see; `fault` is why there is nothing.
    """

    segment: Segment
    recalled: Recalled = _NOTHING
    sources: tuple[Namespace | None, ...] = ()
    refused: tuple[Line, ...] = ()
    fault: str = ""
    framed: Framed = _UNFRAMED

    def uses(self) -> list[tuple[str, str, str]]:
        """The records shown, as plugin, namespace and key."""
        return [
            (source.plugin, source.name, self.recalled.lines[place].id)
            for place in self.framed.shown
            if (source := self.sources[place]) is not None
        ]

    def report(self) -> SegmentReport:
        """The record of the recall: never a text, so that what is forgotten later is not kept here."""
        lines = self.recalled.lines
        fates = {
            (line.source, line.id): "" if place in self.framed.shown else "over budget"
            for place, line in enumerate(lines)
            if line.id
        }
        fates |= {(line.source, line.id): "not the owner" for line in self.refused if line.id}
        considered = [_candidate(each, fates.pop((each.source, each.id), "")) for each in self.recalled.considered]
        considered += [_candidate(Considered(key, source), why) for (source, key), why in fates.items()]
        kept = sorted(considered, key=lambda one: not one["used"])[:_CANDIDATES]
        document: dict[str, Any] = {
            "query": self.recalled.query,
            "budget": self.segment.budget,
            "characters": len(self.framed.text),
            "lines": len(lines),
            "shown": len(self.framed.shown),
            "cut": [lines[place].id or f"turn {lines[place].turn}" for place in self.framed.cut],
            "considered": kept,
            "more": len(considered) - len(kept),
            "fault": self.fault,
        }
        said = {name: value for name, value in document.items() if value}
        return SegmentReport(self.segment.plugin.id, self.segment.id, said, self.framed.text)


def segments(turn: TurnContext) -> list[Segment]:
    """The segments of the plugins that work, in the order they have in the prompt."""
    found = [
        Segment(plugin, str(one["id"]), str(one["position"]), int(one["order"]), int(one["budget"]))
        for plugin in turn.roster.working
        for one in plugin.declared.contributes.get("prompt", ())
    ]
    return sorted(found, key=lambda one: (_POSITIONS.index(one.position), one.order, one.path))


def fill(turn: TurnContext, segment: Segment, view: TurnView, pending: Pending, room: Room) -> FilledSegment:
    """Asks the plugin and frames as much of what it gives as has room."""
    filled = _ask(turn, segment, view, pending)
    filled = replace(filled, framed=framed(segment.path, filled.recalled.lines, room))
    turn.report(
        "memory.recall",
        segment=segment.path,
        lines=len(filled.recalled.lines),
        shown=len(filled.framed.shown),
        characters=len(filled.framed.text),
        fault=filled.fault,
        body=filled.framed.text,
    )
    return filled


def _ask(turn: TurnContext, segment: Segment, view: TurnView, pending: Pending) -> FilledSegment:
    """Calls the plugin; whatever goes wrong there leaves the segment empty, with the reason."""
    turn.check()
    try:
        bound = turn.bound(segment.plugin, InTurn(view, pending, "segment"))
        recalled = call_plugin(bound, "prompt", segment.id, view, check=_recalled)
        return _allowed(turn, segment, recalled, bound)
    except HeldAcrossCall:
        raise
    except Cancelled:
        turn.check()
        raise
    except Skip as reason:
        return FilledSegment(segment, fault=f"skipped: {reason}")
    except TalekeeperError as fault:
        turn.report("turn.segment.failed", segment=segment.path, reason=str(fault))
        return FilledSegment(segment, fault=str(fault))


def _allowed(turn: TurnContext, segment: Segment, recalled: Recalled, bound: Bound) -> FilledSegment:
    """Takes out lines of records that only the owner may see, where the session is not the owner's."""
    found = [(line, _source(bound, line)) for line in recalled.lines]
    hidden = [line for line, source in found if source and source.search and source.search.visibility == "owner"]
    if not hidden or turn.services.story.read(lambda tx: is_owner(tx, turn.address)):
        return FilledSegment(segment, recalled, tuple(source for _, source in found))
    kept = [(line, source) for line, source in found if line not in hidden]
    shown = replace(recalled, lines=tuple(line for line, _ in kept))
    return FilledSegment(segment, shown, tuple(source for _, source in kept), tuple(hidden))


def _source(bound: Bound, line: Line) -> Namespace | None:
    if not line.source or not line.id:
        return None
    try:
        check_name(line.id, "id")
        return bound.readable(line.source)
    except TalekeeperError:
        return None


def _candidate(one: Considered, fate: str) -> dict[str, Any]:
    said: dict[str, Any] = {"id": one.id, "source": one.source, "scores": dict(one.scores)}
    said |= {"repeats": one.repeats, "because": one.because}
    reason = one.reason or fate
    return {"used": not reason, "reason": reason, **{name: value for name, value in said.items() if value}}


def _recalled(value: Any) -> Recalled:
    """What the plugin gave, in values of the kernel's own."""
    given = value if isinstance(value, Recalled) else Recalled(tuple(_lines(value)))
    lines = tuple(_line(line) for line in tuple(_lines(given.lines))[:LINES])
    considered = tuple(_considered(one) for one in tuple(given.considered)[:LINES])
    return Recalled(lines, considered, thaw(dict(given.query)))


def _lines(value: Any) -> Iterator[Line]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(f"a segment gives a list of Line or a Recalled, not {type(value).__name__}")
    for line in cast("Sequence[object]", value):
        if not isinstance(line, Line):
            raise TypeError(f"a segment gives values of Line, not {type(line).__name__}")
        yield line


def _line(line: Line) -> Line:
    turn = cast("object", line.turn)
    if isinstance(turn, bool) or not isinstance(turn, int | None):
        raise TypeError("turn is a number or None")
    if line.authority not in _AUTHORITIES:
        raise ValueError("authority is stated, story or inferred")
    return Line(_text(line.text), _text(line.id), line.turn, line.authority, _text(line.source))


def _considered(one: object) -> Considered:
    if not isinstance(one, Considered):
        raise TypeError(f"considered holds values of Considered, not {type(one).__name__}")
    scores = {str(name): float(score) for name, score in thaw(dict(one.scores)).items()}
    return Considered(
        _text(one.id), _text(one.source), scores, _text(one.reason), _text(one.repeats), _text(one.because)
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text is wanted, not {type(value).__name__}")
    return check_text(str(value), "text")
