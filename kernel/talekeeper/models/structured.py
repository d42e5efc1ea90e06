"""Asks a model for one JSON object of a given form, and once more when the first answer is not it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from talekeeper.errors import BadReply, ModelError
from talekeeper.models.chat import Cancel, ChatMessage, ChatModel, Reply, Request, Usage
from talekeeper.models.find import find_objects
from talekeeper.models.schema import Form, check_bounded

_SHOWN = 2000
_TRIED = 20  # objects of an answer that are held against the schema; a sane one has one or two


@dataclass(frozen=True, slots=True)
class Structured:
    """An object that holds its schema, the answer it stood in, and the tokens of both questions together."""

    value: dict[str, Any]
    reply: Reply
    asked: int
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
    form = Form(schema)
    asking = replace(request, schema=schema, schema_name=name)
    usage: Usage | None = None
    misfit = ""
    for asked in (1, 2):
        try:
            reply = model.complete(asking, cancel=cancel)
        except ModelError as error:
            # The first question was answered, and is paid for.
            error.data.setdefault("usage", usage)
            raise
        usage = usage + reply.usage if usage and reply.usage else usage or reply.usage
        value, misfit = fitting(reply, form)
        if value is not None:
            return Structured(value, reply, asked, usage)
        asking = replace(asking, messages=[*request.messages, *_again(reply, misfit)])
    raise BadReply(
        f"no usable answer in two: {misfit}",
        where=f"structured answer {name}",
        cure="try again later, or use a model that can answer in JSON",
        usage=usage,
    )


def fitting(reply: Reply, form: Form) -> tuple[dict[str, Any] | None, str]:
    """The object in an answer that has the form, the longest of several; else None and why, in words for the model."""
    misfit = ""
    longest_first = sorted(find_objects(reply.text), key=lambda found: -found.size)
    for found in longest_first[:_TRIED]:
        wrong = f"its JSON is broken ({found.fault})" if found.fault else form.wrong(found.value)
        if not wrong:
            return found.value, ""
        misfit = misfit or wrong
    misfit = misfit or "it holds no JSON object"
    return None, f"it was cut off at its length limit; {misfit}" if reply.finish == "length" else misfit


def _again(reply: Reply, misfit: str) -> list[ChatMessage]:
    shown = reply.text if len(reply.text) <= _SHOWN else f"{reply.text[:_SHOWN]} …"
    correction = (
        f"That answer cannot be used: {misfit}. Answer again with one JSON object of the form asked for, and with"
        " nothing before or after it."
    )
    return [ChatMessage("assistant", shown or "(nothing)"), ChatMessage("user", correction)]
