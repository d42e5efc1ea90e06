"""What people may run beside the kernel's `data` commands: pin, unpin, blocks, and where a record comes from."""

from __future__ import annotations

from collections.abc import Mapping

from talekeeper.api import Json, MessageView, NotFound, PluginContext, Record, UserError

from talekeeper_memory.extraction import current_blocks
from talekeeper_memory.pages import every


def pin(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """Pins a memory or fact: it is never forgotten to make room, and a memory is always shown first."""
    return _set_pinned(ctx, str(arguments["key"]), pinned=True)


def unpin(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """Takes a pin away."""
    return _set_pinned(ctx, str(arguments["key"]), pinned=False)


def source(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """The live messages a memory, fact or summary was made from; `messages` is empty for what a person wrote."""
    namespace, record = _found(ctx, str(arguments["key"]))
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


def blocks(ctx: PluginContext, _arguments: Mapping[str, Json]) -> Json:
    """Every block with its text and limit, and the records that cannot be blocks with the reason."""
    found = current_blocks(ctx)
    known = [
        {"label": block.label, "about": block.about, "limit": block.limit, "text": block.text}
        for block in found.known.values()
    ]
    return {"blocks": known, "refused": dict(found.refused)}


def _set_pinned(ctx: PluginContext, key: str, *, pinned: bool) -> Json:
    namespace, record = _found(ctx, key)
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


def _found(ctx: PluginContext, key: str) -> tuple[str, Record]:
    for namespace in ("bank", "facts", "summaries"):
        record = ctx.data[namespace].get(key)
        if record is not None:
            return namespace, record
    cure = "talekeeper data list memory/bank shows memories, memory/facts facts"
    raise NotFound(f"there is no memory, fact or summary {key!r} here", cure=cure)


def _message(message: MessageView) -> Json:
    return {"id": message.id, "turn": message.turn, "speaker": message.speaker or message.role, "text": message.text}
