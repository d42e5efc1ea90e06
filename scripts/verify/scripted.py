"""A narrator on loopback that makes up every answer from what it was asked, the same whenever it is asked the same.

Story for the narrator, a call of a tool now and then, a value for whoever gives a JSON Schema, a few sentences of the
prompt for the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from talekeeper.testing import Recorded, Step, call_tool, say, say_json

NARRATOR = "narrator"
CAST = {
    "en": (
        ("Mara", "brass key", "mill"),
        ("Tobias", "salt map", "chapel"),
        ("Hesper", "moon bell", "lighthouse"),
        ("Corvin", "thorn ring", "quarry"),
        ("Edda", "ash flute", "orchard"),
    ),
    "zh": (
        ("阿宁", "铜钥匙", "磨坊"),
        ("老顾", "盐图", "钟楼"),
        ("沈青", "月铃", "灯塔"),
        ("阿棠", "荆环", "石场"),
        ("小满", "骨笛", "果园"),
    ),
}
ASKS = {
    "en": "I ask {0} about the {1} that was left at the {2}.",
    "zh": "我问{0}：留在{2}的{1}后来怎么样了？",
}
TELLS = {
    "en": (
        "{0} carried the {1} to the {2} on day {3} and wrapped it in cloth.",
        "The wind turns, and somebody shuts a door on the far side of the yard.",
        "“Nobody else knows where the {1} lies,” {0} says, and counts to {3} without a word more.",
        "A gull walks along the wall as if it had been asked to keep watch over the {2}.",
    ),
    "zh": (
        "第{3}天，{0}把{1}带到{2}，用布包了起来。",
        "风向变了，院子那头有人关上了门。",
        "“没有别人知道{1}在哪里。”{0}说完，默默数到{3}。",
        "一只鸟沿着墙慢慢走，好像有人请它看守{2}。",
    ),
}
_EVERY = 3  # a tool call in one of so many turns
_SENTENCE = re.compile(r"[^.!?。！？\n\"”{}\\ ][^.!?。！？\n\"{}\\]{5,}[.!?。！？]")
_NEWEST = 3  # sentences of the prompt's end that a value is made from: those of the newest turn
_WORDS = 40


def player_says(turn: int, locale: str) -> str:
    """What the player says in a turn, from 1: after five turns the same people and things are asked about again."""
    cast = CAST[locale]
    return ASKS[locale].format(*cast[(turn - 1) % len(cast)])


@dataclass
class Teller:
    """The script of a `ScriptedServer`; `tool` is what it calls, memory-search unless another is asked for."""

    locale: str
    tool: str
    turn: int = 0
    _called: set[int] = field(default_factory=set[int])

    def __call__(self, request: Recorded) -> Step:
        """Decides one answer."""
        body = request.body
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        if schema is not None:
            return say_json(value_of(schema, _material(request)[:_NEWEST]))
        if body.get("model") != NARRATOR:
            return say(_shortened(_material(request)))
        offered = {one["function"]["name"]: one["function"] for one in body.get("tools", ())}
        if self.tool in offered and self.turn % _EVERY == 1 and self.turn not in self._called:
            self._called.add(self.turn)
            words = self._cast()
            return call_tool(self.tool, value_of(offered[self.tool].get("parameters", {}), [" ".join(words)]))
        return say(" ".join(line.format(*self._cast(), self.turn) for line in TELLS[self.locale]), piece=24)

    def _cast(self) -> tuple[str, str, str]:
        cast = CAST[self.locale]
        return cast[(self.turn - 1) % len(cast)]


def value_of(schema: Mapping[str, Any], sentences: Sequence[str]) -> Any:
    """A value that fits a plain JSON Schema; its texts are `sentences`, cut to what is allowed."""
    if "const" in schema or schema.get("enum"):
        return schema.get("const", next(iter(schema.get("enum", ())), None))
    match _kind(schema):
        case "object":
            inner = schema.get("properties", {})
            wanted = [name for name in inner if name in schema.get("required", ()) or _is_text(inner[name])]
            return {name: value_of(inner[name], _from(sentences, place)) for place, name in enumerate(wanted)}
        case "array":
            most = min(int(schema.get("maxItems", 1)), max(1, int(schema.get("minItems", 1))))
            return [value_of(schema.get("items", {}), _from(sentences, place)) for place in range(most)]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return (sentences[0] if sentences else "…")[: int(schema.get("maxLength", 200))]


def _from(sentences: Sequence[str], place: int) -> Sequence[str]:
    """The same, beginning with another one."""
    start = place % max(1, len(sentences))
    return [*sentences[start:], *sentences[:start]]


def _kind(schema: Mapping[str, Any]) -> str:
    """The type, where it is not said by what is said instead."""
    said = "array" if {"items", "minItems", "maxItems"} & schema.keys() else "string"
    return str(schema.get("type", "object" if "properties" in schema else said))


def _is_text(schema: Mapping[str, Any]) -> bool:
    """Texts and lists of texts are given whether they are required or not: an answer is to say something."""
    kind = _kind(schema)
    return kind == "string" or (kind == "array" and _kind(schema.get("items", {})) == "string")


def _material(request: Recorded) -> list[str]:
    """The sentences of the last message, those that stand last first: what is new in a prompt stands at its end."""
    messages = request.body.get("messages", [])
    text = str(messages[-1].get("content") or "") if messages else ""
    found = [each.strip() for each in _SENTENCE.findall(text)]
    named = [each for each in found if any(name in each for cast in CAST.values() for name, _, _ in cast)]
    return list(reversed(named or found)) or [json.dumps(text[:40], ensure_ascii=False)]


def _shortened(sentences: Sequence[str]) -> str:
    kept: list[str] = []
    for sentence in sentences:
        if sum(len(each.split()) + len(each) // 12 for each in [*kept, sentence]) > _WORDS:
            break
        kept.append(sentence)
    return " ".join(kept or sentences[:1])
