"""Tells a new fact that repeats a recorded one from one that only sounds like it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from talekeeper.api import PluginContext

from talekeeper_memory.wording import differ

_LOOKED_AT = 20  # recorded facts that are near enough to be read; more are never needed


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact to be written; `repeats` is the key of a recorded one in nearly the same words."""

    text: str
    repeats: str = ""


def new_facts(ctx: PluginContext, texts: Sequence[str], share: float, known: Collection[str]) -> list[NewFact]:
    """Those of the texts that say something which no recorded fact of this lineage says, nor an earlier one of them."""
    kept: list[NewFact] = []
    for text in texts:
        ctx.check()
        if _said_before(ctx, text, [one.text for one in kept], share, known):
            continue
        near = _near(ctx, text, share)
        if all(differ(text, recorded, known) for _, recorded in near):
            kept.append(NewFact(text, near[0][0] if near else ""))
    return kept


def _near(ctx: PluginContext, text: str, share: float) -> list[tuple[str, str]]:
    """Keys and texts of recorded facts that hold at least `share` of the new one's terms, the likest first."""
    scored = [one for one in ctx.search.score("facts", [(text, 1.0)]) if one.share >= share]
    likest = sorted(scored, key=lambda one: (-one.share, -one.lexical, one.key))[:_LOOKED_AT]
    records = [ctx.data["facts"].get(one.key) for one in likest]
    return [(record.key, str(record.value["text"])) for record in records if record is not None]


def _said_before(ctx: PluginContext, text: str, kept: Sequence[str], share: float, known: Collection[str]) -> bool:
    near = [kept[one.index] for one in ctx.search.rank_texts(text, kept) if one.share >= share]
    return any(not differ(text, other, known) for other in near)
