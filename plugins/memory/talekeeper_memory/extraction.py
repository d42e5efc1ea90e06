"""The job `extract`: one structured call a turn rewrites the blocks that changed and gives the turn's facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from talekeeper.api import BadReply, JobResult, JobView, Json, MessageView, ModelError, NoModel, PluginContext, Skip

from talekeeper_memory import answer
from talekeeper_memory.authority import authority_of
from talekeeper_memory.blocks import PROFILE, Block, Blocks, collect, with_player, without_player
from talekeeper_memory.cards import Card, cards, player_line, player_name
from talekeeper_memory.material import BREAK, data_text, digest, json_line, story_lines
from talekeeper_memory.pages import every
from talekeeper_memory.prompts import Prompts, Said, player_labels, prompts_for, question
from talekeeper_memory.repeats import NewFact, new_facts
from talekeeper_memory.truncate import cut_at_sentence

_LATEST_FACTS = 8


@dataclass(frozen=True, slots=True)
class _Work:
    """What one extraction is about; `blocks` as the model sees them, without the confirmed line."""

    ctx: PluginContext
    job: JobView
    messages: tuple[MessageView, ...]
    blocks: Blocks
    prompts: Prompts


def extract(ctx: PluginContext, job: JobView) -> JobResult:
    """Raises `Skip` where there is nothing to read, and a `ModelError` when two answers could not be used."""
    if not ctx.settings["auto_extract"]:
        raise Skip("extraction is switched off here")
    messages = tuple(message for message in job.messages() if message.text.strip())
    if not messages:
        raise Skip("the turn has no story text")
    work = _Work(ctx, job, messages, current_blocks(ctx), prompts_for(ctx.session.locale))
    found = _asked(work)
    facts = new_facts(ctx, found.facts, ctx.settings["repeat_share"], known_names(ctx, cards(ctx)))
    late = job.superseded
    texts = {} if late else {label: _fitted(work, label, text) for label, text in found.blocks.items()}
    _write(work, texts, facts)
    return JobResult(
        did_work=bool(texts or facts),
        covered=job.range,
        details=_told(found, texts, facts, {**work.blocks.refused}, late=late),
    )


def current_blocks(ctx: PluginContext) -> Blocks:
    """The blocks as they stand, the profile without its confirmed line."""
    settings, about = ctx.settings, prompts_for(ctx.session.locale).blocks
    found = collect(every(ctx.data["blocks"]), about, settings["block_characters"], settings["blocks_most"])
    profile = found.known[PROFILE]
    bare = Block(PROFILE, profile.about, profile.limit, without_player(profile.text, player_labels()), profile.turn)
    return Blocks({**found.known, PROFILE: bare}, found.refused)


def block_value(ctx: PluginContext, label: str, text: str, turn: int) -> dict[str, Json]:
    """The record of a block with a new text; its definition stays, and the profile gets the confirmed line."""
    before = ctx.data["blocks"].get(label)
    if label == PROFILE:
        line = player_line(ctx.session.player, prompts_for(ctx.session.locale).word("player_label"))
        text = with_player(text, line, player_labels())
    return {**(before.value if before else {}), "text": text, "turn": turn}


def known_names(ctx: PluginContext, known: Iterable[Card]) -> frozenset[str]:
    """Names of the cards' characters and of who speaks, to tell facts apart by in any script."""
    found = {name for card in known if card.kind == "character" for name in card.names}
    return frozenset(name for name in {*found, *ctx.history.speakers(), player_name(ctx)} if name.strip())


def _asked(work: _Work) -> answer.Answer:
    """Asks, and once more when the answer has a fault the schema cannot name."""
    settings, known = work.ctx.settings, work.blocks.known
    most, characters = settings["facts_a_turn"], settings["fact_characters"]
    schema = answer.schema_of(known.values(), most, characters)
    asked = _question(work)
    given = work.ctx.models.complete("extract", asked, schema=schema)
    fault = answer.fault_of(given.value, known)
    if fault:
        again: Said = [("assistant", given.text), ("user", work.prompts.fill("again", fault=fault))]
        given = work.ctx.models.complete("extract", [*asked, *again], schema=schema)
        fault = answer.fault_of(given.value, known)
    if fault:
        raise BadReply(f"no usable answer in two: {fault}", where="extract", cure="the turn is tried again later")
    return answer.read(given.value, known, most, characters)


def _instruction(work: _Work) -> str:
    lines = [
        work.prompts.texts["block_line"].format(label=block.label, limit=block.limit, about=data_text(block.about))
        for block in work.blocks.known.values()
    ]
    settings = work.ctx.settings
    return work.prompts.fill(
        "extract", facts=settings["facts_a_turn"], fact_characters=settings["fact_characters"], blocks="\n".join(lines)
    )


def _question(work: _Work) -> Said:
    ctx = work.ctx
    latest = ctx.data["facts"].list(order="newest", limit=_LATEST_FACTS)
    return question(
        _instruction(work),
        player=json_line(dict(ctx.session.player)),
        current_blocks="\n".join(
            json_line({"block": block.label, "text": block.text}) for block in work.blocks.known.values()
        ),
        known_facts="\n".join(json_line({"fact": str(fact.value["text"])}) for fact in reversed(latest)),
        turn=story_lines(work.messages),
    )


def _fitted(work: _Work, label: str, text: str) -> str:
    """The text within the block's limit: shortened by the model, and only if that fails cut."""
    limit = work.blocks.known[label].limit
    if len(text) <= limit:
        return text
    asked = question(work.prompts.fill("shorten", limit=limit), text=data_text(text))
    try:
        shorter = work.ctx.models.complete("extract", asked).text.replace(BREAK, "\n").strip()
    except NoModel:
        raise
    except ModelError:
        shorter = ""
    return shorter if 0 < len(shorter) <= limit else cut_at_sentence(text, limit)


def _write(work: _Work, texts: Mapping[str, str], facts: list[NewFact]) -> None:
    """All of it in one batch.

    A block is no record of its range: it says what holds after everything before, so an edit of the turn corrects it
    by running the job again instead of taking it away.
    """
    ctx, turn = work.ctx, work.job.turn
    source = [work.messages[0].id, work.messages[-1].id]
    same = digest(work.messages)
    ctx.check()
    with ctx.data.batch() as batch:
        for label, text in texts.items():
            batch.put("blocks", label, block_value(ctx, label, text, turn), covers=None)
        for number, fact in enumerate(facts):
            value: dict[str, Json] = {"text": fact.text, "turn": turn, "authority": authority_of(fact.text)}
            value |= {"source": source} | ({"repeats": fact.repeats} if fact.repeats else {})
            # The same turn with the same text gives its facts once, whatever the model says the second time.
            batch.add("facts", value, dedupe=f"extract {same} {number}")


def _told(
    found: answer.Answer, texts: Mapping[str, str], facts: list[NewFact], refused: Mapping[str, str], *, late: bool
) -> dict[str, Json]:
    """What people read of the job: what was written and what was left out."""
    said: dict[str, Json] = {
        "blocks": sorted(texts),
        "facts": len(facts),
        "blocks_dropped_late": sorted(found.blocks) if late else [],
        "facts_unusable": found.dropped,
        "facts_known_already": len(found.facts) - len(facts),
        "keys_ignored": list(found.ignored[:20]),
        "blocks_refused": dict(refused),
    }
    return {name: value for name, value in said.items() if value}
