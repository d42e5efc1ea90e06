"""The narrator's tools (read a block, rewrite it, note a fact) and people's commands (pin, unpin, source, blocks)."""

from __future__ import annotations

from collections.abc import Mapping

from talekeeper.api import Json, MessageView, NotFound, ParameterError, PluginContext, Record, UserError

from talekeeper_memory.blocks import PROFILE, Block, block_value, current_blocks, with_player
from talekeeper_memory.cards import confirmed_line
from talekeeper_memory.truncate import cut_at_sentence, is_blank, one_line
from talekeeper_memory.visibility import every
from talekeeper_memory.wording import authority_of


def get_block(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """A block's text; raises `ParameterError` naming the labels there are."""
    block = _block(ctx, str(arguments["label"]))
    text = with_player(block.text, confirmed_line(ctx)) if block.label == PROFILE else block.text
    return {"label": block.label, "text": text}


def update_block(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """Gives a block a whole new text; raises `ParameterError` for one that is blank or too long."""
    block, text = _block(ctx, str(arguments["label"])), str(arguments["text"]).strip()
    if is_blank(text):
        raise ParameterError("text", "it is blank", cure="give the whole new text of the block")
    if len(text) > block.limit:
        raise ParameterError("text", f"it has {len(text):,} characters, the block takes {block.limit:,}")
    turn = ctx.turn.number if ctx.turn else 0
    with ctx.data.batch() as batch:
        batch.put("blocks", block.label, block_value(ctx, block.label, text, turn), covers=None)
    return {"label": block.label, "characters": len(text)}


def remember(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """Notes one fact, the same one in the same turn once; as stated by the player only where the player has said it."""
    text = cut_at_sentence(one_line(str(arguments["text"])), ctx.settings["fact_characters"])
    if is_blank(text):
        raise ParameterError("text", "it is blank", cure="say what is to be remembered, in one sentence with names")
    turn = ctx.turn.number if ctx.turn else 0
    with ctx.data.batch() as batch:
        authority = "stated" if _is_said(ctx, text) else authority_of(text)
        value = {"text": text, "turn": turn, "authority": authority}
        batch.add("facts", value, dedupe=f"remember {turn} {text}")
    return {"remembered": text}


def pin(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """Pins a memory or fact: it is never forgotten to make room, and a memory is always shown first."""
    return _set_pinned(ctx, str(arguments["key"]), pinned=True)


def unpin(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """Takes a pin away."""
    return _set_pinned(ctx, str(arguments["key"]), pinned=False)


def source(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """The live messages a memory, fact or summary was made from; `messages` is empty for what a person wrote."""
    namespace, record = _record(ctx, str(arguments["key"]))
    value = record.value
    known: Json = {"namespace": namespace, "key": record.key, "text": value.get("text", ""), "turn": value.get("turn")}
    ends = tuple(value.get("source", ()))
    if not ends:
        return {**known, "made": "by hand", "messages": []}
    first, last = ctx.history.message(ends[0]), ctx.history.message(ends[-1])
    if first is None or last is None:
        left = [_message(message) for message in (first, last) if message is not None]
        return {**known, "made": "from messages of which some are not here any more", "messages": left}
    near = ctx.history.messages(turns=(first.turn, last.turn))
    within = [one for one in near if first.coordinate.depth <= one.coordinate.depth <= last.coordinate.depth]
    return {**known, "made": "from these messages", "messages": [_message(one) for one in within]}


def list_blocks(ctx: PluginContext, _arguments: Mapping[str, Json]) -> Json:
    """Every block with its text and limit, and the records that cannot be blocks with the reason."""
    found = current_blocks(ctx)
    known = [
        {"label": block.label, "about": block.about, "limit": block.limit, "text": block.text}
        for block in found.known.values()
    ]
    return {"blocks": known, "refused": dict(found.refused)}


def _block(ctx: PluginContext, label: str) -> Block:
    known = current_blocks(ctx).known
    if label not in known:
        raise ParameterError("label", f"there is no block {label!r}", cure=f"use one of {', '.join(known)}")
    return known[label]


def _is_said(ctx: PluginContext, text: str) -> bool:
    """Whether the player's typed message of this turn has half of the terms: any text of a prompt may ask for facts."""
    message = ctx.turn.player_message if ctx.turn else None
    if message is None or message.origin != "typed":
        return False
    terms = set(ctx.search.terms(text))
    return len(terms & set(ctx.search.terms(message.text))) * 2 >= max(1, len(terms))


def _set_pinned(ctx: PluginContext, key: str, *, pinned: bool) -> Json:
    namespace, record = _record(ctx, key)
    if namespace == "summaries":
        raise UserError("a summary cannot be pinned", cure="the newest one is always used")
    if bool(record.value.get("pinned", False)) == pinned:
        return {"namespace": namespace, "key": key, "pinned": pinned}
    value = {**record.value, "pinned": pinned}
    with ctx.data.batch() as batch:
        if namespace == "bank":
            batch.put("bank", key, value)
        else:
            # Facts are only ever added, so the pinned one takes the place of the other.
            batch.add("facts", value, dedupe=f"pinned {pinned} {key} {record.revision}")
            batch.withdraw("facts", key)
    new = key if namespace == "bank" else next(one.key for one in every(ctx.data["facts"]) if one.value == value)
    return {"namespace": namespace, "key": new, "pinned": pinned}


def _record(ctx: PluginContext, key: str) -> tuple[str, Record]:
    for namespace in ("bank", "facts", "summaries"):
        record = ctx.data[namespace].get(key)
        if record is not None:
            return namespace, record
    cure = "talekeeper data list memory/bank shows memories, memory/facts facts"
    raise NotFound(f"there is no memory, fact or summary {key!r} here", cure=cure)


def _message(message: MessageView) -> Json:
    return {"id": message.id, "turn": message.turn, "speaker": message.speaker or message.role, "text": message.text}
