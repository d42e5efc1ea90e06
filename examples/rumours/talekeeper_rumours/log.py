"""The three commands: note a rumour, tell those about a subject, say what one turned out to be."""

from collections.abc import Mapping
from typing import Any

from talekeeper.api import Json, PluginContext, UserError

NAMESPACE = "heard"


def hear(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """Notes what somebody says; the same words of the same person are noted once."""
    rumour = record_value(arguments["text"], arguments.get("says", ""))
    before = ctx.data[NAMESPACE].count()
    with ctx.data.batch() as batch:
        batch.add(NAMESPACE, rumour, dedupe=f"{rumour.get('says', '')}\n{rumour['text'].casefold()}")
    return {"noted": ctx.data[NAMESPACE].count() > before}


def about(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """The rumours that share a word with the subject, best first, without those known to be false unless wished."""
    told: list[dict[str, Any]] = []
    for found in ctx.search.score(NAMESPACE, [(arguments["subject"], 1.0)]):
        record = ctx.data[NAMESPACE].get(found.key)
        if record is not None and (ctx.settings["tell_false"] or record.value["truth"] != "false"):
            told.append({"key": found.key, **record.value})
    return told[: ctx.settings["most"]]


def settle(ctx: PluginContext, arguments: Mapping[str, Json]) -> Json:
    """Writes down whether a rumour turned out true."""
    record = ctx.data[NAMESPACE].get(arguments["key"])
    if record is None:
        raise UserError(f"there is no rumour {arguments['key']!r}; rumours/about shows the keys")
    value = {**record.value, "truth": arguments["truth"]}
    with ctx.data.batch() as batch:
        batch.put(NAMESPACE, record.key, value)
    return value


def record_value(text: str, says: str) -> dict[str, Any]:
    """A new rumour; who says it is left out when nobody is named."""
    value = {"text": text.strip(), "truth": "unknown"}
    return {**value, "says": says.strip()} if says.strip() else value
