"""The segment `memories`: pinned ones first, then the best for the action and the scene, repeats set aside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from talekeeper.api import Authority, Considered, Json, Line, PluginContext, Recalled, Record, TurnView

from talekeeper_memory.asking import Asked, asked
from talekeeper_memory.differences import differ
from talekeeper_memory.extraction import known_names
from talekeeper_memory.pages import every
from talekeeper_memory.ranking import Question, Scored, floor_of, mix_of, ranked
from talekeeper_memory.summary import is_eligible

_TOLD = 30


@dataclass(slots=True)
class _Choice:
    """What is taken, in order, and what is said of each candidate."""

    most: int
    taken: list[Record] = field(default_factory=list[Record])
    said: list[Considered] = field(default_factory=list[Considered])

    @property
    def full(self) -> bool:
        return len(self.taken) >= self.most


def memories(ctx: PluginContext, turn: TurnView) -> Recalled:
    """The lines, best first, and the report: every score, what was set aside, and what was asked."""
    if not ctx.settings["auto_memories"]:
        return Recalled(())
    held = {record.key: record for record in every(ctx.data["bank"]) if is_eligible(ctx, record)}
    if not held:
        return Recalled(())
    question = asked(ctx, turn)
    scored = _scored(ctx, question, len(held))
    choice = _Choice(ctx.settings["memories_shown"])
    _take_pins(choice, held, {one.key: one for one in scored})
    _take_best(ctx, choice, held, scored)
    lines = tuple(_line(record) for record in choice.taken)
    return Recalled(lines, tuple(choice.said), _query(ctx, question))


def _scored(ctx: PluginContext, question: Asked, total: int) -> list[Scored]:
    action, scene = (_question(ctx, text) for text in (question.action, question.scene))
    return ranked(action, scene, total, mix_of(ctx.settings))


def _question(ctx: PluginContext, text: str) -> Question:
    found = ctx.search.score("bank", [(text, 1.0)]) if text else ()
    return Question(ctx.search.terms(text), {one.key: one for one in found})


def _take_pins(choice: _Choice, held: Mapping[str, Record], scores: Mapping[str, Scored]) -> None:
    for record in held.values():
        if record.value.get("pinned", False):
            reason = f"{choice.most} pinned ones are taken" if choice.full else ""
            choice.said.append(_considered(record, scores.get(record.key), reason))
            if not choice.full:
                choice.taken.append(record)


def _take_best(ctx: PluginContext, choice: _Choice, held: Mapping[str, Record], scored: Sequence[Scored]) -> None:
    repeats = _Repeats(ctx)
    for one in scored:
        record = held.get(one.key)
        if record is None or record.value.get("pinned", False):
            continue
        if choice.full and len(choice.said) >= _TOLD:
            return
        reason = f"{choice.most} better ones are taken" if choice.full else ""
        repeated = "" if choice.full else repeats.of(record, choice.taken)
        if repeated:
            reason = "repeats one that is taken"
        choice.said.append(_considered(record, one, reason, repeated))
        if not reason:
            choice.taken.append(record)


class _Repeats:
    """Finds the taken memory that another repeats: the same in nearly all words or in meaning, different in nothing."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._near: dict[str, frozenset[str]] = {}
        self._known = known_names(ctx)

    def of(self, record: Record, taken: Sequence[Record]) -> str:
        """The key of the one repeated; empty when it is news."""
        text = str(record.value["text"])
        for other in taken:
            said = str(other.value["text"])
            same_authority = _authority(record) == _authority(other)
            if same_authority and record.key in self._nominated(other) and not differ(text, said, self._known):
                return other.key
        return ""

    def _nominated(self, taken: Record) -> frozenset[str]:
        """Memories near enough to a taken one to be read against it."""
        if taken.key not in self._near:
            self._near[taken.key] = frozenset(self._nearest(taken))
        return self._near[taken.key]

    def _nearest(self, taken: Record) -> Iterator[str]:
        scored = self._ctx.search.score("bank", [(str(taken.value["text"]), 1.0)])
        cosines = [one.semantic for one in scored if one.semantic is not None and one.key != taken.key]
        floor = floor_of(cosines)
        share = self._ctx.settings["repeat_share"]
        for one in scored:
            if one.key != taken.key and (one.share >= share or (one.semantic or 0.0) > floor):
                yield one.key


def _considered(record: Record, score: Scored | None, reason: str, repeats: str = "") -> Considered:
    scores: dict[str, float] = {}
    if score is not None:
        scores = {"lexical": round(score.lexical, 4), "final": round(score.final, 4)}
        if score.semantic is not None:
            scores["semantic"] = round(score.semantic, 4)
    if record.value.get("pinned", False):
        scores["pinned"] = 1.0
    return Considered(record.key, "bank", scores, reason, repeats)


def _line(record: Record) -> Line:
    return Line(
        str(record.value["text"]),
        id=record.key,
        turn=record.value.get("turn"),
        authority=_authority(record),
        source="bank",
    )


def _authority(record: Record) -> Authority:
    authority: Authority = record.value.get("authority", "story")
    return authority


def _query(ctx: PluginContext, question: Asked) -> dict[str, Json]:
    return {
        "action": question.action,
        "scene": question.scene,
        "terms": list(ctx.search.terms(f"{question.action}\n{question.scene}")),
    }
