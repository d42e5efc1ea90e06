"""Asks a model for one JSON object of a given form, and once more when the first answer is not it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from talekeeper.errors import BadReply, ModelError, ParameterError
from talekeeper.json_schema import InvalidSchema, Validator
from talekeeper.models.chat import Cancel, ChatMessage, ChatModel, Reply, Request, Usage
from talekeeper.models.lenient_json import read_json_at
from talekeeper.models.reasoning import without_thoughts
from talekeeper.text import NotJson

_SHOWN = 2000
_TRIED = 20  # objects of an answer that are held against the schema; a sane one has one or two
# Parts of a schema that hold data and no schemas.
_DATA = frozenset({"enum", "const", "default", "examples", "required"})
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
# `{"`, `{}` or `{` at the end; a brace in prose, `{travel}`, does not begin like that.
_BEGINS = re.compile(r'\{\s*(?:"|\}|\Z)')


@dataclass(frozen=True, slots=True)
class Structured:
    """An object that holds its schema, the answer that held it, and the tokens of both questions together."""

    value: dict[str, Any]
    reply: Reply
    attempts: int
    usage: Usage | None


def ask_structured(
    model: ChatModel,
    request: Request,
    schema: Mapping[str, Any],
    *,
    name: str = "reply",
    bounded: bool = True,
    cancel: Cancel | None = None,
) -> Structured:
    """One JSON object that holds `schema`; prose, fences and thoughts around it are passed over.

    The schema is of an object and bounds every string with `maxLength` (or names its values) and every array with
    `maxItems`, else `ParameterError`; not so without `bounded`, for what may be as long as any reply. A second question
    shows the model its first answer and what was wrong with it; then `BadReply`. Other errors of the model pass
    through; all have under `usage` the tokens of what was answered. The caller makes sure that no write transaction is
    open.
    """
    if bounded:
        check_bounded(schema)
    try:
        validator = Validator(json.loads(json.dumps(schema, default=dict)))  # it may come frozen
    except InvalidSchema as error:
        raise ParameterError("schema", f"cannot be used: {error}") from None
    asking = replace(request, schema=schema, schema_name=name)
    usage: Usage | None = None
    misfit = ""
    for attempt in (1, 2):
        try:
            reply = model.complete(asking, cancel=cancel)
        except ModelError as error:
            # The first question was answered, and is paid for.
            error.data.setdefault("usage", usage)
            raise
        usage = usage + reply.usage if usage and reply.usage else usage or reply.usage
        value, misfit = fitting(reply, validator)
        if value is not None:
            return Structured(value, reply, attempt, usage)
        asking = replace(asking, messages=[*request.messages, *_again(reply, misfit)])
    raise BadReply(
        f"no usable answer in two: {misfit}",
        where=f"structured answer {name}",
        cure="try again later, or use a model that can answer in JSON",
        usage=usage,
    )


def fitting(reply: Reply, validator: Validator) -> tuple[dict[str, Any] | None, str]:
    """The object in an answer that fits the schema, or the longest of several; else None and why, for the model."""
    misfit = ""
    longest_first = sorted(find_objects(reply.text), key=lambda found: -found.size)
    for found in longest_first[:_TRIED]:
        if found.fault:
            misfit = misfit or f"its JSON is broken ({found.fault})"
        elif fault := validator.fault(found.value):
            misfit = misfit or ": ".join(filter(None, fault))
        else:
            return found.value, ""
    misfit = misfit or "it holds no JSON object"
    return None, f"it was cut off at its length limit; {misfit}" if reply.finish == "length" else misfit


def _again(reply: Reply, misfit: str) -> list[ChatMessage]:
    shown = reply.text if len(reply.text) <= _SHOWN else f"{reply.text[:_SHOWN]} …"
    correction = (
        f"That answer cannot be used: {misfit}. Answer again with one JSON object of the form asked for, and with"
        " nothing before or after it."
    )
    return [ChatMessage("assistant", shown or "(nothing)"), ChatMessage("user", correction)]


def check_bounded(schema: Mapping[str, Any]) -> None:
    """Raises `ParameterError` naming the first part of a schema that would let an answer grow without limit."""
    if schema.get("type") != "object":
        raise ParameterError("schema", 'is not of type "object"', cure='add "type": "object"')
    for place, part in _parts(schema, ""):
        types = part.get("type")
        kinds = cast("Iterable[object]", types) if isinstance(types, list | tuple) else (types,)
        for kind in kinds:
            if kind == "string" and not {"maxLength", "enum", "const"} & part.keys():
                raise ParameterError(f"schema{place}", "is a string without an end", cure="add maxLength")
            if kind == "array" and "maxItems" not in part:
                raise ParameterError(f"schema{place}", "is an array without an end", cure="add maxItems")


def _parts(value: object, place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every table in a schema with its pointer; what is under `_DATA` is none."""
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        yield place, table
        for key, item in table.items():
            if key not in _DATA:
                yield from _parts(item, f"{place}/{key}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(cast("Iterable[object]", value)):
            yield from _parts(item, f"{place}/{number}")


@dataclass(frozen=True, slots=True)
class Found:
    """An object, or why something that begins like one is none; `size` is its length in characters."""

    value: dict[str, Any]
    size: int
    fault: str = ""


def find_objects(text: str) -> list[Found]:
    """The outermost objects of an answer, those in fences alone when there are any; a broken one ends the list.

    What follows or is inside a broken object is not looked at: `{}` may be a valid answer, and the rest of a broken
    one must not pass for "nothing changed". Takes time in proportion to the text.
    """
    text = without_thoughts(text)
    fenced = [found for block in _FENCE.finditer(text) for found in _scan(block[1])]
    return fenced or list(_scan(text))


def _scan(text: str) -> Iterator[Found]:
    at = text.find("{")
    while at >= 0:
        end = at + 1
        # Asked first, because an error of the parser counts the lines before it, every time.
        if _BEGINS.match(text, at):
            try:
                value, end = read_json_at(text, at)
            except NotJson as error:
                yield Found({}, 0, str(error))
                return
            yield Found(value, end - at)
        at = text.find("{", end)
