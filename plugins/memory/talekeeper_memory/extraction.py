"""The job `extract`: one structured call a turn rewrites the blocks that changed and gives the turn's facts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from talekeeper.api import (
    BadReply,
    JobResult,
    JobView,
    Json,
    MessageView,
    ModelError,
    NoModel,
    PluginContext,
    Record,
    Skip,
)

from talekeeper_memory.blocks import RESERVED, Block, block_value, current_blocks
from talekeeper_memory.cards import enabled_cards, known_names
from talekeeper_memory.prompts import BREAK, Prompts, data_text, digest, json_line, prompts_for, question, story_lines
from talekeeper_memory.truncate import cut_at_sentence, is_blank, one_line
from talekeeper_memory.wording import authority_of, differ

_LATEST_FACTS = 8
_COMPARED = 20  # recorded facts near enough to compare with; more are never needed
_FACT_ITEMS = 1000  # an answer with more is no list of a turn's facts
_ROOM = 4
"""A block may come back this many times its limit: it is shortened then, and an answer without end is refused."""


@dataclass(frozen=True, slots=True)
class Reply:
    """New texts by label and the usable facts; `ignored` are unknown labels, `dropped` counts unusable facts."""

    blocks: Mapping[str, str]
    facts: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    dropped: int = 0


def extract(ctx: PluginContext, job: JobView) -> JobResult:
    """Raises `Skip` where there is nothing to read, and a `ModelError` when two answers could not be used."""
    if not ctx.settings["auto_extract"]:
        raise Skip("extraction is switched off here")
    messages = tuple(message for message in job.messages() if message.text.strip())
    if not messages:
        raise Skip("the turn has no story text")
    blocks = current_blocks(ctx)  # as the model sees them, without the confirmed line
    prompts = prompts_for(ctx.session.locale)
    reply = _ask(ctx, messages, blocks.known, prompts)
    facts = _without_repeats(ctx, reply.facts, ctx.settings["repeat_share"], known_names(ctx, enabled_cards(ctx)))
    late = job.superseded
    kept: Mapping[str, str] = {} if late else reply.blocks
    texts = {label: _fitted(ctx, prompts, blocks.known[label], text) for label, text in kept.items()}
    _write(ctx, job.turn, messages, texts, facts)
    details: dict[str, Json] = {
        "blocks": sorted(texts),
        "facts": len(facts),
        "blocks_dropped_late": sorted(reply.blocks) if late else [],
        "facts_unusable": reply.dropped,
        "facts_known_already": len(reply.facts) - len(facts),
        "keys_ignored": list(reply.ignored[:20]),
        "blocks_refused": dict(blocks.refused),
    }
    return JobResult(
        did_work=bool(texts or facts),
        covered=job.range,
        details={name: value for name, value in details.items() if value},
    )


def _ask(ctx: PluginContext, messages: Sequence[MessageView], known: Mapping[str, Block], prompts: Prompts) -> Reply:
    """Asks, and once more when the answer has a fault the schema cannot name."""
    most, characters = ctx.settings["facts_a_turn"], ctx.settings["fact_characters"]
    latest = ctx.data["facts"].list(order="newest", limit=_LATEST_FACTS)
    line = prompts.texts["block_line"]
    blocks = (line.format(label=one.label, limit=one.limit, about=data_text(one.about)) for one in known.values())
    conversation = question(
        prompts.fill("extract", facts=most, fact_characters=characters, blocks="\n".join(blocks)),
        player=json_line(dict(ctx.session.player)),
        current_blocks="\n".join(json_line({"block": block.label, "text": block.text}) for block in known.values()),
        known_facts="\n".join(json_line({"fact": str(fact.value["text"])}) for fact in reversed(latest)),
        turn=story_lines(messages),
    )
    schema = reply_schema(known.values(), most, characters)
    fault = ""
    for _ in range(2):
        given = ctx.models.complete("extract", conversation, schema=schema)
        fault = reply_fault(given.value, known)
        if not fault:
            return parse_reply(given.value, known, most, characters)
        conversation.append(("assistant", given.text))
        conversation.append(("user", prompts.fill("again", fault=fault)))
    raise BadReply(f"no usable answer in two: {fault}", where="extract", cure="the turn is tried again later")


def _fitted(ctx: PluginContext, prompts: Prompts, block: Block, text: str) -> str:
    """The text within the block's limit: shortened by the model, and only if that fails cut."""
    if len(text) <= block.limit:
        return text
    conversation = question(prompts.fill("shorten", limit=block.limit), text=data_text(text))
    try:
        shorter = ctx.models.complete("extract", conversation).text.replace(BREAK, "\n").strip()
    except NoModel:
        raise
    except ModelError:
        shorter = ""
    return shorter if 0 < len(shorter) <= block.limit else cut_at_sentence(text, block.limit)


def _write(
    ctx: PluginContext, turn: int, messages: Sequence[MessageView], texts: Mapping[str, str], facts: Mapping[str, str]
) -> None:
    """Writes blocks and facts in one batch.

    A block is no record of its range: it says what holds after everything before, so an edit of the turn corrects it
    by running the job again instead of taking it away.
    """
    source = [messages[0].id, messages[-1].id]
    ctx.check()
    with ctx.data.batch() as batch:
        for label, text in texts.items():
            batch.put("blocks", label, block_value(ctx, label, text, turn), covers=None)
        for number, (fact, near) in enumerate(facts.items()):
            value: dict[str, Json] = {"text": fact, "turn": turn, "authority": authority_of(fact), "source": source}
            value |= {"repeats": near} if near else {}
            # The same turn with the same text gives its facts once, whatever the model says the second time.
            batch.add("facts", value, dedupe=f"extract {digest(messages)} {number}")


def reply_schema(blocks: Iterable[Block], facts: int, characters: int) -> dict[str, Json]:
    """The JSON Schema that the model answers by.

    It bounds what the kernel checks and leaves the facts open: one that cannot be used is dropped and must not cost the
    blocks, so the prompt's words say how many and how long they may be.
    """
    properties: dict[str, Json] = {
        block.label: {"type": "string", "minLength": 1, "maxLength": block.limit * _ROOM} for block in blocks
    }
    bounds = f"At most {facts} sentences, each a string of at most {characters} characters."
    properties[RESERVED] = {"description": bounds, "maxItems": _FACT_ITEMS}
    return {"type": "object", "properties": properties}


def reply_fault(value: Mapping[str, Json], blocks: Mapping[str, Block]) -> str:
    """What is wrong with an answer, in words for the model; empty when it can be used."""
    for label in blocks:
        text = value.get(label, "…")
        if not isinstance(text, str):
            return f"{label} is no text"
        if is_blank(text):
            return f"{label} is blank"
    return ""


def parse_reply(value: Mapping[str, Json], blocks: Mapping[str, Block], facts: int, characters: int) -> Reply:
    """An answer without fault, in parts: blocks whose text is new, and the first facts that are sentences."""
    known = {label: value[label].strip() for label in blocks if label in value}
    changed = {label: text for label, text in known.items() if text != blocks[label].text.strip()}
    given = value.get(RESERVED, ())
    single = [] if given is None else [given]
    listed = cast("Sequence[Json]", given if isinstance(given, (list, tuple)) else single)
    usable = [
        cut_at_sentence(one_line(item), characters) for item in listed if isinstance(item, str) and not is_blank(item)
    ]
    kept = tuple(dict.fromkeys(filter(None, usable)))[:facts]
    ignored = tuple(sorted(key for key in value if key not in blocks and key != RESERVED))
    return Reply(changed, kept, ignored, len(listed) - len(kept))


def _without_repeats(ctx: PluginContext, texts: Sequence[str], share: float, names: Collection[str]) -> dict[str, str]:
    """Those of the texts that neither a recorded fact of this lineage nor an earlier one of them says.

    Each has the key of a recorded fact in nearly the same words, or an empty string. Of the recorded facts about
    the same, half as near, the newest decides: a door that was open, then locked, and is open again is news.
    """

    def repeats(text: str, other: str) -> bool:
        return not differ(text, other, names) and set(ctx.search.terms(text)) <= set(ctx.search.terms(other))

    kept: dict[str, str] = {}
    for text in texts:
        ctx.check()
        earlier = list(kept)
        near = [earlier[one.index] for one in ctx.search.rank_texts(text, earlier) if one.share >= share]
        recorded = _near_facts(ctx, text, share)
        alike = [one for one in _near_facts(ctx, text, share / 2) if differ(text, _text(one), names) != "names"]
        newest = max(alike, key=lambda one: one.coordinate.depth, default=None)
        if (newest is not None and repeats(text, _text(newest))) or any(repeats(text, other) for other in near):
            continue
        kept[text] = recorded[0].key if recorded else ""
    return kept


def _near_facts(ctx: PluginContext, text: str, share: float) -> list[Record]:
    """Recorded facts that hold at least `share` of the new one's terms, the nearest first."""
    scored = [one for one in ctx.search.score("facts", [(text, 1.0)]) if one.share >= share]
    nearest = sorted(scored, key=lambda one: (-one.share, -one.lexical, one.key))[:_COMPARED]
    return [record for one in nearest if (record := ctx.data["facts"].get(one.key)) is not None]


def _text(fact: Record) -> str:
    return str(fact.value["text"])
