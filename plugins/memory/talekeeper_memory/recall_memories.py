"""The segment `memories`: pinned ones first, then the best for the action and the scene, repeats set aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from talekeeper.api import Authority, Considered, Json, Line, PluginContext, Recalled, Record, TurnView

from talekeeper_memory.cards import Card, cards
from talekeeper_memory.extraction import known_names
from talekeeper_memory.pages import every
from talekeeper_memory.ranking import Question, Scored, floor_of, mix_of, ranked
from talekeeper_memory.recall_query import RecallQuery, recall_query
from talekeeper_memory.visibility import standing
from talekeeper_memory.wording import differ

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
    held = {record.key: record for record in standing(ctx, "bank", every(ctx.data["bank"]))}
    if not held:
        return Recalled(())
    known = cards(ctx)
    question = recall_query(ctx, turn, known)
    scored = _scored(ctx, question, held)
    choice = _Choice(ctx.settings["memories_shown"])
    _take_pins(choice, held, {one.key: one for one in scored})
    by_meaning = any(one.semantic is not None for one in scored)
    _take_best(choice, held, scored, _Repeats(ctx, known, held, by_meaning=by_meaning))
    lines = tuple(_line(record) for record in choice.taken)
    return Recalled(lines, tuple(choice.said), _query(ctx, question))


def _scored(ctx: PluginContext, question: RecallQuery, held: Mapping[str, Record]) -> list[Scored]:
    action, scene = (_question(ctx, text, held) for text in (question.action, question.scene))
    return ranked(action, scene, len(held), mix_of(ctx.settings))


def _question(ctx: PluginContext, text: str, held: Mapping[str, Record]) -> Question:
    found = ctx.search.score("bank", [(text, 1.0)]) if text else ()
    return Question(ctx.search.terms(text), {one.key: one for one in found if one.key in held})


def _take_pins(choice: _Choice, held: Mapping[str, Record], scores: Mapping[str, Scored]) -> None:
    for record in held.values():
        if record.value.get("pinned", False):
            reason = f"{choice.most} pinned ones are taken" if choice.full else ""
            choice.said.append(_considered(record, scores.get(record.key), reason))
            if not choice.full:
                choice.taken.append(record)


def _take_best(choice: _Choice, held: Mapping[str, Record], scored: Sequence[Scored], repeats: _Repeats) -> None:
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

    def __init__(
        self, ctx: PluginContext, known: Sequence[Card], held: Mapping[str, Record], *, by_meaning: bool
    ) -> None:
        self._ctx = ctx
        self._cards = known
        self._held = held
        self._by_meaning = by_meaning
        self._like: dict[str, frozenset[str]] = {}

    def of(self, record: Record, taken: Sequence[Record]) -> str:
        """The key of the one repeated; empty when it is news."""
        text = str(record.value["text"])
        near = [other for other in self._near(record, taken) if _authority(other) == _authority(record)]
        names = known_names(self._ctx, self._cards) if near else ()
        return next((other.key for other in near if not differ(text, str(other.value["text"]), names)), "")

    def _near(self, record: Record, taken: Sequence[Record]) -> list[Record]:
        """The taken ones that it is like enough to be read against."""
        share = self._ctx.settings["repeat_share"]
        said = [str(other.value["text"]) for other in taken]
        found = self._ctx.search.rank_texts(str(record.value["text"]), said)
        near = {one.index for one in found if one.share >= share}
        if self._by_meaning:
            near |= {at for at, other in enumerate(taken) if record.key in self._alike(other)}
        return [taken[at] for at in sorted(near)]

    def _alike(self, taken: Record) -> frozenset[str]:
        """Memories whose likeness in meaning to a taken one is beyond what is usual here."""
        if taken.key not in self._like:
            scored = self._ctx.search.score("bank", [(str(taken.value["text"]), 1.0)])
            others = (one for one in scored if one.key != taken.key and one.key in self._held)
            cosines = {one.key: one.semantic for one in others if one.semantic is not None}
            floor = floor_of(list(cosines.values()))
            self._like[taken.key] = frozenset(key for key, cosine in cosines.items() if cosine > floor)
        return self._like[taken.key]


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


def _query(ctx: PluginContext, question: RecallQuery) -> dict[str, Json]:
    return {
        "action": question.action,
        "scene": question.scene,
        "terms": list(ctx.search.terms(f"{question.action}\n{question.scene}")),
    }
