"""The segments `recalled-facts` and `memories`: the records that this moment calls up, and why each is shown or not.

Search scores the records, `relevance` decides; this module asks, chooses, and reports on each candidate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from talekeeper.api import Authority, Considered, Line, PluginContext, Recalled, Record, ScoredRecord, TurnView

from talekeeper_memory.cards import Card, enabled_cards, known_names, name_in, name_terms, player_name
from talekeeper_memory.relevance import Question, Scored, Verdict, Weights, floor_of, judge, ranked
from talekeeper_memory.stopwords import load_stopwords
from talekeeper_memory.truncate import first_tokens, last_tokens, one_line
from talekeeper_memory.visibility import every, visible
from talekeeper_memory.wording import authority_of, differ, each_says_more

_JUDGED = 100
"""Facts that are judged, the best by BM25: a message may share a word with every fact there is, and reading them all
made a turn twice as long. Of 1,141 questions to 1,451 facts (LoCoMo's, in one story) none is answered otherwise."""

_REPORTED = 30
"""Candidates in the record of the decision; a message shares a word with hundreds of facts."""

_LOOK_BACK = 12  # messages to find the newest narration in


@dataclass(slots=True)
class _Choice:
    """The records taken, in order, at most `most`, and the report on each candidate."""

    most: int
    taken: list[Record] = field(default_factory=list[Record])
    report: list[Considered] = field(default_factory=list[Considered])

    @property
    def full(self) -> bool:
        return len(self.taken) >= self.most

    @property
    def done(self) -> bool:
        return self.full and len(self.report) >= _REPORTED

    def add(self, record: Record, considered: Considered) -> None:
        self.report.append(considered)
        if not considered.reason:
            self.taken.append(record)


def recalled_facts(ctx: PluginContext, turn: TurnView) -> Recalled:
    """Facts older than the latest turns that the player's message calls up, the best few in story order."""
    message = turn.player_message
    if message is None or not ctx.settings["auto_recall"]:
        return Recalled(())
    choice = _choose_facts(ctx, _judged_facts(ctx, message.text), turn.number)
    lines = [_fact_line(record) for record in sorted(choice.taken, key=_story_order)]
    return Recalled(tuple(lines), tuple(choice.report), {"terms": list(ctx.search.terms(message.text))})


def _judged_facts(ctx: PluginContext, text: str) -> Iterator[tuple[ScoredRecord, Verdict]]:
    """The facts that share a term, best first, judged one by one as the caller needs them."""
    sharing = [one for one in ctx.search.score("facts", [(text, 1.0)], limit=_JUDGED) if one.matched]
    if not sharing:
        return
    counted = ctx.search.holding("facts", text)
    weights = Weights(ctx.search.terms(text), counted.terms, counted.records)
    stopwords = load_stopwords(ctx.search.terms)
    names = name_terms(enabled_cards(ctx), player_name(ctx), ctx.search.terms)
    # The verdict depends on the shared terms alone, and hundreds of facts share the same ones.
    verdicts: dict[tuple[str, ...], Verdict] = {}
    for one in sharing:
        if one.matched not in verdicts:
            verdicts[one.matched] = judge(one, weights, names, stopwords, ctx.settings)
        yield one, verdicts[one.matched]


def _choose_facts(ctx: PluginContext, judged: Iterable[tuple[ScoredRecord, Verdict]], turn: int) -> _Choice:
    """The best that qualify and are old enough."""
    recent = ctx.settings["recall_skip_turns"]
    choice = _Choice(ctx.settings["recall_facts"])
    for scored, verdict in judged:
        if choice.done:
            break
        reason = verdict.reason
        if not reason and choice.full:
            reason = f"{choice.most} better ones are taken"
        record = None if reason else ctx.data["facts"].get(scored.key)
        if record is not None:
            own = record.value.get("turn")
            if own is None or turn - own > recent:
                choice.taken.append(record)
            else:
                reason = f"too recent: turn {own} is one of the latest {recent}"
        if not reason or len(choice.report) < _REPORTED:
            choice.report.append(_considered_fact(scored, verdict, reason))
    return choice


def _considered_fact(scored: ScoredRecord, verdict: Verdict, reason: str) -> Considered:
    scores = {"score": scored.lexical, "share": scored.share, "coverage": verdict.coverage}
    by_name = "by name, " if verdict.by == "name" else ""
    because = "" if reason else f"{by_name}shares {', '.join(scored.matched)}"
    rounded = {name: round(score, 4) for name, score in scores.items()}
    return Considered(scored.key, "facts", rounded, reason, because=because)


def _fact_line(record: Record) -> Line:
    text = str(record.value["text"])
    authority = record.value.get("authority") or authority_of(text)
    return Line(text, id=record.key, turn=record.value.get("turn"), authority=authority, source="facts")


def _story_order(record: Record) -> tuple[int, int, str]:
    turn = record.value.get("turn")
    return (record.coordinate.depth if turn is None else turn, record.coordinate.depth, record.key)


def memories(ctx: PluginContext, turn: TurnView) -> Recalled:
    """Pinned memories first, then the best for the action and the scene, without repeats; reported with every score."""
    if not ctx.settings["auto_memories"]:
        return Recalled(())
    held = {record.key: record for record in visible(ctx, "bank", every(ctx.data["bank"]))}
    if not held:
        return Recalled(())
    cards = enabled_cards(ctx)
    action, scene = _action(ctx, turn), _scene(ctx, turn, cards)
    scored = ranked(_answered(ctx, action, held), _answered(ctx, scene, held), len(held), ctx.settings)
    choice = _Choice(ctx.settings["memories_shown"])
    _take_pins(choice, held, {one.key: one for one in scored})
    by_meaning = any(one.semantic is not None for one in scored)
    _take_best(choice, held, scored, _Repeats(ctx, cards, held, by_meaning))
    lines = tuple(_memory_line(record) for record in choice.taken)
    terms = list(ctx.search.terms(f"{action}\n{scene}"))
    return Recalled(lines, tuple(choice.report), {"action": action, "scene": scene, "terms": terms})


def _action(ctx: PluginContext, turn: TurnView) -> str:
    """What the player does; empty in a turn that goes on by itself."""
    message = turn.player_message
    return first_tokens(one_line(message.text), ctx.settings["action_tokens"]) if message else ""


def _scene(ctx: PluginContext, turn: TurnView, cards: Sequence[Card]) -> str:
    """Where and with whom, then the end of the newest narration; empty before the story has begun."""
    recent = ctx.history.messages(last=_LOOK_BACK)
    narrations = [message for message in recent if message.role == "narrator" and message.turn < turn.number]
    end = last_tokens(one_line(narrations[-1].text), ctx.settings["narration_tokens"]) if narrations else ""
    here = first_tokens(_here(ctx, end, cards), ctx.settings["scene_tokens"])
    return "\n".join(part for part in (here, end) if part)


def _here(ctx: PluginContext, narration: str, cards: Sequence[Card]) -> str:
    """The places and the people of the scene by name, then the text of its block."""
    block = ctx.data["blocks"].get("scene")
    scene = one_line(str(block.value["text"])) if block else ""
    present = [card for card in cards if name_in(f"{scene}\n{narration}", card.names)]
    places = [card.name for card in present if card.kind == "place"]
    people = [card.name for card in present if card.kind == "character"][: ctx.settings["scene_people"]]
    return "; ".join(part for part in (", ".join([*places, *people]), scene) if part)


def _answered(ctx: PluginContext, text: str, held: Mapping[str, Record]) -> Question:
    found = ctx.search.score("bank", [(text, 1.0)]) if text else ()
    return Question(ctx.search.terms(text), {one.key: one for one in found if one.key in held})


def _take_pins(choice: _Choice, held: Mapping[str, Record], scores: Mapping[str, Scored]) -> None:
    for record in held.values():
        if record.value.get("pinned", False):
            reason = f"{choice.most} pinned ones are taken" if choice.full else ""
            choice.add(record, _considered_memory(record, scores.get(record.key), reason))


def _take_best(choice: _Choice, held: Mapping[str, Record], scored: Sequence[Scored], repeats: _Repeats) -> None:
    for one in scored:
        record = held.get(one.key)
        if record is None or record.value.get("pinned", False):
            continue
        if choice.done:
            return
        reason = f"{choice.most} better ones are taken" if choice.full else ""
        repeated = "" if choice.full else repeats.of(record, choice.taken)
        if repeated:
            reason = "repeats one that is taken"
        choice.add(record, _considered_memory(record, one, reason, repeated))


@dataclass(slots=True)
class _Repeats:
    """Finds the taken memory that another repeats: the same in nearly all words or in meaning, different in nothing."""

    ctx: PluginContext
    cards: Sequence[Card]
    held: Mapping[str, Record]
    by_meaning: bool
    similar: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def of(self, record: Record, taken: Sequence[Record]) -> str:
        """The key of the one repeated; empty when it is news."""
        text = str(record.value["text"])
        near = [other for other in self._near(record, taken) if _authority(other) == _authority(record)]
        names = known_names(self.ctx, self.cards) if near else ()
        return next((other.key for other in near if self._same(text, str(other.value["text"]), names)), "")

    def _same(self, text: str, other: str, names: Collection[str]) -> bool:
        terms = self.ctx.search.terms
        return not differ(text, other, names) and not each_says_more(terms(text), terms(other))

    def _near(self, record: Record, taken: Sequence[Record]) -> list[Record]:
        share = self.ctx.settings["repeat_share"]
        texts = [str(other.value["text"]) for other in taken]
        found = self.ctx.search.rank_texts(str(record.value["text"]), texts)
        near = {one.index for one in found if one.share >= share}
        if self.by_meaning:
            near |= {at for at, other in enumerate(taken) if record.key in self._like(other)}
        return [taken[at] for at in sorted(near)]

    def _like(self, taken: Record) -> frozenset[str]:
        """Memories whose likeness in meaning to a taken one is beyond what is usual here."""
        if taken.key not in self.similar:
            scored = self.ctx.search.score("bank", [(str(taken.value["text"]), 1.0)])
            others = (one for one in scored if one.key != taken.key and one.key in self.held)
            cosines = {one.key: one.semantic for one in others if one.semantic is not None}
            floor = floor_of(list(cosines.values()))
            self.similar[taken.key] = frozenset(key for key, cosine in cosines.items() if cosine > floor)
        return self.similar[taken.key]


def _considered_memory(record: Record, score: Scored | None, reason: str, repeats: str = "") -> Considered:
    scores: dict[str, float] = {}
    if score is not None:
        scores = {"lexical": round(score.lexical, 4), "final": round(score.final, 4)}
        if score.semantic is not None:
            scores["semantic"] = round(score.semantic, 4)
    if record.value.get("pinned", False):
        scores["pinned"] = 1.0
    return Considered(record.key, "bank", scores, reason, repeats)


def _memory_line(record: Record) -> Line:
    value = record.value
    return Line(str(value["text"]), record.key, value.get("turn"), _authority(record), "bank")


def _authority(record: Record) -> Authority:
    authority: Authority = record.value.get("authority", "story")
    return authority
